import json

import pytest

from headgate import Gate, Policy, tokens
from headgate.errors import HistoryError
from headgate.events import HistoryPrepared
from headgate.policy import Scale
from headgate.testing import BadStore, lines, result
from tests.histories import body, round_of, said, user
from tests.preparing import MODEL, SMALL, every_dialect, long_story, prepared, texts


@pytest.mark.proves("P5", "H3")
@every_dialect
def test_a_history_with_nothing_to_change_goes_out_as_the_very_same_bytes(dialect, gate_with):
    messages = user(dialect, "hi") + round_of(dialect, 1, "a few lines", "of output")
    sent = body(dialect, messages + said(dialect, "done") + user(dialect, "thanks"))

    assert gate_with(SMALL).prepare(sent, dialect=dialect, model=MODEL).body is sent


@pytest.mark.proves("H7", "H8", "P4")
@every_dialect
def test_what_was_decided_stands_in_every_later_request_and_process(dialect, gate_with):
    turn = user(dialect, "look") + round_of(dialect, 1, lines(300), lines(200))
    first = prepared(gate_with(SMALL), dialect, turn)
    longer = turn + said(dialect, "more") + user(dialect, "go on")

    other_policy = SMALL.replace(result=tokens(200), batch=tokens(256))
    later = prepared(gate_with(other_policy), dialect, longer)

    before, after = (json.loads(o.body) for o in (first, later))
    key = next(iter(before.keys() & {"messages", "input", "contents"}))
    assert after[key][: len(turn)] == before[key]
    assert (first.fresh, later.fresh) == (2, 0)


@pytest.mark.proves("H6", "R7", "P3")
@every_dialect
def test_each_group_is_budgeted_on_its_own(dialect, gate_with):
    messages = user(dialect, "look")
    for number in range(3):
        messages += round_of(dialect, number, lines(300 + number), lines(200 + number))

    outcome = prepared(gate_with(SMALL), dialect, messages)

    for group in (outcome.verdicts[:2], outcome.verdicts[2:4], outcome.verdicts[4:]):
        assert 500 < sum(verdict.after.tokens for verdict in group) <= 700


@pytest.mark.proves("R8")
def test_a_turn_has_a_budget_of_its_own_beside_the_batches(gate_with):
    policy = SMALL.replace(turn=tokens(1_000))
    messages = user("anthropic", "look")
    for number in range(3):
        messages += round_of("anthropic", number, lines(300 + number))
    messages += said("anthropic", "ok") + user("anthropic", "again")
    messages += round_of("anthropic", 9, lines(310))

    outcome = prepared(gate_with(policy), "anthropic", messages)

    *turn, fresh_turn = [verdict.after.tokens for verdict in outcome.verdicts]
    assert sum(turn) <= 1_000 + 128
    assert fresh_turn > 350


@pytest.mark.proves("R8")
def test_what_a_turn_has_left_is_what_its_results_did_not_take(gate_with):
    policy = SMALL.replace(result=tokens(4_000), batch=tokens(8_000), turn=tokens(4_000))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}}
    first = round_of("anthropic", 1, "")
    first[1]["content"][0]["content"] = [{"type": "text", "text": lines(20)}, image]
    messages = user("anthropic", "look") + first + round_of("anthropic", 2, lines(300))

    [seen, late] = prepared(gate_with(policy), "anthropic", messages).verdicts

    assert seen.fate == "whole"
    overhead, image_tokens = 4, 2_000
    assert late.limit == tokens(4_000 - seen.after.tokens - overhead - image_tokens)


@pytest.mark.proves("R8")
@pytest.mark.parametrize(("before", "most"), [(1, 560), (900, 400), (1_500, 240)])
def test_a_limit_follows_how_full_the_window_is_before_the_result(before, most, gate_with):
    policy = SMALL.replace(scale=Scale(), batch=tokens(8_000))
    messages = user("anthropic", lines(before)) + round_of("anthropic", 1, lines(3_000))

    outcome = prepared(gate_with(policy), "anthropic", messages, window_tokens=20_000)

    assert outcome.verdicts[0].limit == tokens(most)


@pytest.mark.proves("R8", "0.1")
@pytest.mark.parametrize(
    ("model", "window", "most"),
    [
        ("gpt-4", None, 819),
        ("claude-opus-4-8", 6_800, 400),
        ("gpt-4", 128_000, 12_800),
        ("nobody-heard-of-it", None, 20_000),
    ],
)
def test_a_batch_takes_at_most_a_tenth_of_a_window_that_is_known(model, window, most, gate_with):
    policy = Policy(result=tokens(40_000), repeats=False)
    messages = user("anthropic", "look") + round_of("anthropic", 1, lines(1_500), lines(1_600))

    outcome = gate_with(policy).prepare(
        body("anthropic", messages), model=model, window_tokens=window
    )

    shown = sum(verdict.after.tokens + policy.block_overhead for verdict in outcome.verdicts)
    assert most * 0.9 < shown <= most


@pytest.mark.proves("H7")
def test_each_result_is_told_to_be_fresh_frozen_or_replaced(gate_with):
    turn = user("anthropic", "look") + round_of("anthropic", 1, lines(300), "short")
    first = prepared(gate_with(SMALL), "anthropic", turn)
    longer = turn + round_of("anthropic", 2, "new")

    later = prepared(gate_with(SMALL), "anthropic", longer)

    assert first.states == ("fresh", "fresh")
    assert later.states == ("replaced", "frozen", "fresh")


@pytest.mark.proves("R14", "0.4")
@every_dialect
def test_what_was_admitted_is_not_decided_again(dialect, gate_with):
    gate = gate_with(SMALL)
    shown = gate.admit([result("grep", lines(300), call_id="call_1_0")])[0]

    outcome = prepared(gate, dialect, user(dialect, "x") + round_of(dialect, 1, shown.text))

    assert outcome.fresh == 0
    assert outcome.body == body(dialect, user(dialect, "x") + round_of(dialect, 1, shown.text))


@pytest.mark.proves("0.4")
@every_dialect
def test_prepare_never_normalises(dialect, gate_with):
    messages = user(dialect, "x") + round_of(dialect, 1, "\x1b[31mred\x1b[0m\r\n")

    assert prepared(gate_with(SMALL), dialect, messages).body == body(dialect, messages)


@pytest.mark.proves("K1", "H11")
@every_dialect
def test_every_byte_of_a_shortened_result_comes_back(dialect, gate_with):
    gate = gate_with(SMALL)

    [verdict] = prepared(
        gate, dialect, user(dialect, "x") + round_of(dialect, 1, lines(300))
    ).verdicts

    assert gate.original(verdict.ref) == lines(300).encode()


@pytest.mark.proves("0.2")
def test_the_same_call_in_another_conversation_is_decided_anew(gate_with):
    gate = gate_with(SMALL)
    one = user("anthropic", "one") + round_of("anthropic", 1, lines(300))
    two = user("anthropic", "two") + round_of("anthropic", 1, lines(300))

    assert prepared(gate, "anthropic", one).fresh == 1
    assert prepared(gate, "anthropic", two).fresh == 1
    assert prepared(gate, "anthropic", one).fresh == 0


@pytest.mark.proves("0.2", "P4")
def test_moving_cache_marks_changes_nothing(gate_with):
    gate = gate_with(SMALL)
    marked = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
        }
    ]
    rest = round_of("anthropic", 1, lines(300))
    prepared(gate, "anthropic", marked + rest)

    assert prepared(gate, "anthropic", user("anthropic", "x") + rest).fresh == 0


@pytest.mark.proves("P8", "K5")
@every_dialect
def test_a_store_that_fails_does_not_stop_a_history(dialect, gate_with):
    gate = gate_with(SMALL, store=BadStore())

    outcome = prepared(gate, dialect, user(dialect, "x") + round_of(dialect, 1, lines(300)))

    assert outcome.verdicts[0].after.tokens <= 400
    assert "not kept on disk" in texts(outcome.body)


@pytest.mark.proves("A3", "A6")
def test_a_history_is_counted_and_reported(gate_with):
    events = []
    gate = gate_with(SMALL, hooks=[events.append])

    outcome = prepared(gate, "anthropic", long_story("anthropic", 3), window_tokens=1_500)

    assert outcome.count.tokens > 1_000
    assert len(outcome.count.warnings) >= 1
    assert events[-1] == HistoryPrepared(3, 3, "", outcome.count.tokens)


@pytest.mark.proves("A3", "A4")
def test_reported_usage_is_the_baseline_of_the_next_count(gate_with):
    gate = gate_with(SMALL)
    story = long_story("anthropic", 2)
    gate.observe(
        body("anthropic", story), {"input_tokens": 5_000, "output_tokens": 100}, model=MODEL
    )

    more = story + said("anthropic", "ok") + user("anthropic", "short")
    outcome = prepared(gate, "anthropic", more)

    assert outcome.count.reported == 5_100


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"not json", "JSON"),
        (b"", ""),
        (b"[]", ""),
        (b'{"model": "x"}', ""),
    ],
)
def test_what_is_no_history_is_told_in_one_line(sent, message, gate_with):
    with pytest.raises(HistoryError) as caught:
        gate_with(SMALL).prepare(sent)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.proves("P13")
def test_two_gates_on_one_session_send_the_same(state):
    one, two = Gate(SMALL, state=state), Gate(SMALL.replace(result=tokens(300)), state=state)
    story = body("anthropic", user("anthropic", "x") + round_of("anthropic", 1, lines(300)))

    assert one.prepare(story).body == two.prepare(story).body
