import json

import pytest

from headgate import Gate, Policy, chars, tokens, utf8_bytes
from headgate.ageing import Ageing
from headgate.check import check
from headgate.errors import HistoryError
from headgate.events import HistoryPrepared, HistoryRepaired
from headgate.marker import Excerpt
from headgate.testing import BadStore, lines, result
from tests.histories import DIALECTS, KEYS, body, calls, results, round_of, said, user

SMALL = Policy(
    result=tokens(400), batch=tokens(700), batch_window_share=1.0, classes={}, repeats=False
)
MODEL = "gpt-4o"

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def prepared(gate, dialect, messages, **more):
    return gate.prepare(body(dialect, messages), dialect=dialect, model=MODEL, **more)


def texts(sent: bytes) -> str:
    return json.dumps(json.loads(sent), ensure_ascii=False)


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


@pytest.mark.proves("H1", "H5", "P6")
@every_dialect
def test_a_broken_history_is_repaired_and_that_is_told(dialect, gate_with):
    events = []
    gate = gate_with(SMALL, hooks=[events.append])
    messages = user(dialect, "x") + calls(dialect, ("call_1", "grep", {})) + user(dialect, "and?")

    outcome = prepared(gate, dialect, messages)

    assert check(outcome.body, dialect) == []
    assert [fix.kind for fix in outcome.fixes][:1] == ["missing"]
    assert any(isinstance(event, HistoryRepaired) and event.fixes for event in events)


@pytest.mark.proves("H2")
@every_dialect
def test_calls_that_wait_for_their_results_are_left_alone_if_the_caller_says_so(dialect, gate_with):
    messages = user(dialect, "x") + calls(dialect, ("call_1", "grep", {}))

    outcome = prepared(gate_with(SMALL), dialect, messages, pending=True)

    assert outcome.body == body(dialect, messages)


@pytest.mark.proves("P22", "H1")
@every_dialect
def test_a_synthetic_result_that_was_sent_stays_though_the_real_one_comes(dialect, gate_with):
    gate = gate_with(SMALL)
    broken = user(dialect, "x") + calls(dialect, ("call_1", "grep", {})) + user(dialect, "and?")
    first = prepared(gate, dialect, broken)
    gate.admit([result("grep", lines(300), call_id="call_1")])

    assert prepared(gate, dialect, broken).body == first.body


@pytest.mark.proves("H1")
def test_a_missing_result_that_the_store_has_is_the_real_one(gate_with):
    gate = gate_with(SMALL)
    shown = gate.admit([result("grep", lines(300), call_id="call_1")])[0]
    broken = user("anthropic", "x") + calls("anthropic", ("call_1", "grep", {}))

    outcome = prepared(gate, "anthropic", broken + user("anthropic", "and?"))

    assert json.loads(outcome.body)["messages"][2]["content"][0]["content"] == shown.text


@pytest.mark.proves("H1", "0.2")
@every_dialect
def test_a_missing_result_that_an_earlier_request_had_is_the_real_one(dialect, gate_with):
    gate = gate_with(SMALL)
    turn = user(dialect, "x") + round_of(dialect, 1, lines(300))
    [shown] = prepared(gate, dialect, turn).verdicts

    outcome = prepared(gate, dialect, turn[:2] + user(dialect, "and?"))

    assert [(fix.kind, fix.call_id) for fix in outcome.fixes] == [("restored", "call_1_0")]
    assert [verdict.text or "" for verdict in outcome.verdicts] == [""]
    assert outcome.verdicts[0].ref == shown.ref


@pytest.mark.proves("H1", "0.2")
@every_dialect
def test_so_is_one_between_two_steps_and_behind_another_repair(dialect, gate_with):
    gate = gate_with(SMALL)
    turns = [user(dialect, "x"), *(round_of(dialect, n, lines(300 + n)) for n in range(3))]
    prepared(gate, dialect, [message for turn in turns for message in turn])

    lost = [*turns[0], *turns[1], *turns[2][:1], *turns[3], *user(dialect, "and?")]
    outcome = prepared(gate, dialect, lost)

    kinds = [(fix.kind, fix.call_id) for fix in outcome.fixes]
    assert ("restored", "call_1_0") in kinds
    assert prepared(gate_with(SMALL), dialect, lost).body == outcome.body


@pytest.mark.proves("H1", "0.2")
@every_dialect
def test_a_missing_result_is_never_that_of_another_call_under_the_same_id(dialect, gate_with):
    gate = gate_with(SMALL)
    asked = [*user(dialect, "one"), *calls(dialect, ("c", "grep", {"pattern": "a"}))]
    one = [*asked, *results(dialect, ("c", "grep", lines(300)))]
    prepared(gate, dialect, one)
    again = calls(dialect, ("c", "grep", {"pattern": "b"}))

    elsewhere = prepared(gate, dialect, user(dialect, "two") + again + user(dialect, "and?"))
    more = one + said(dialect, "ok") + user(dialect, "more")
    later = prepared(gate, dialect, more + again + user(dialect, "and?"))

    assert [fix.kind for fix in elsewhere.fixes] == ["missing"]
    assert [fix.kind for fix in later.fixes if fix.kind != "renamed"] == ["missing"]


@pytest.mark.proves("H1", "P4")
@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])
def test_a_second_call_under_one_id_is_not_given_the_result_of_the_first(dialect, gate_with):
    gate = gate_with(SMALL)
    two = calls(dialect, ("c", "grep", {"pattern": "a"}), ("c", "ls", {"path": "b"}))
    messages = user(dialect, "x") + two + results(dialect, ("c", "grep", lines(300)))

    first = prepared(gate, dialect, messages)

    assert [fix.kind for fix in first.fixes].count("missing") == 1
    assert prepared(gate_with(SMALL), dialect, messages).body == first.body


@pytest.mark.proves("H1", "R11")
def test_a_missing_result_that_was_an_error_is_still_one(gate_with):
    gate = gate_with(SMALL)
    gate.admit([result("grep", lines(900), call_id="call_1", is_error=True)])
    broken = user("anthropic", "x") + calls("anthropic", ("call_1", "grep", {}))

    outcome = prepared(gate, "anthropic", broken + user("anthropic", "and?"))

    assert [fix.kind for fix in outcome.fixes] == ["restored"]
    assert json.loads(outcome.body)["messages"][2]["content"][0]["is_error"] is True


@pytest.mark.proves("P22", "P4")
@pytest.mark.parametrize(
    ("dialect", "asks"),
    [*((name, True) for name in DIALECTS), ("openai-chat", False), ("openai-responses", False)],
)
def test_what_was_sent_stays_when_the_real_result_comes_late(dialect, asks, gate_with):
    sent = user(dialect, "x") + calls(dialect, ("c", "grep", {}))
    sent += user(dialect, "and?") if asks else []
    first = prepared(gate_with(SMALL), dialect, sent)
    late = results(dialect, ("c", "grep", "late"))

    grown = [*sent, *said(dialect, "well"), *late, *user(dialect, "so?")]
    second = prepared(gate_with(SMALL), dialect, grown)

    before, after = (json.loads(outcome.body)[KEYS[dialect]] for outcome in (first, second))
    assert after[: len(before)] == before
    assert "late" in [fix.kind for fix in second.fixes]
    assert check(second.body, dialect) == []


@pytest.mark.proves("P22", "P4")
@every_dialect
def test_so_it_stays_when_that_happens_twice(dialect, gate_with):
    messages: list[dict] = user(dialect, "x")
    before: list[dict] = []
    for name in ("a", "b"):
        messages += calls(dialect, (name, "grep", {}), (f"{name}2", "ls", {}))
        messages += results(dialect, (f"{name}2", "ls", "ok")) + said(dialect, "hm")
        messages += user(dialect, "and?")
        first = prepared(gate_with(SMALL), dialect, messages)
        messages += said(dialect, "well") + results(dialect, (name, "grep", "late"))
        messages += said(dialect, "oh") + user(dialect, "so?")
        second = prepared(gate_with(SMALL), dialect, messages)
        for outcome in (first, second):
            now = json.loads(outcome.body)[KEYS[dialect]]
            assert now[: len(before)] == before
            before = now


@pytest.mark.proves("P22", "P4")
def test_a_result_without_an_id_finds_the_same_call_again(gate_with):
    asked = calls("openai-chat", ("a", "ls", {}), ("b", "grep", {}))
    stray = {"role": "tool", "name": "other", "content": "found"}
    early = results("openai-chat", ("b", "grep", "early"))
    messages = [*early, *user("openai-chat", "x"), *asked, *said("openai-chat", "hm"), stray]

    first = prepared(gate_with(SMALL), "openai-chat", messages)

    assert prepared(gate_with(SMALL), "openai-chat", messages).body == first.body


@pytest.mark.proves("P22", "P4")
def test_of_calls_without_ids_none_is_taken_for_another(gate_with):
    call = {"functionCall": {"name": "grep", "args": {}}}
    told = {"functionResponse": {"name": "grep", "response": {"result": "found"}}}
    messages = [
        *user("gemini", "x"),
        *({"role": "model", "parts": [call]} for _ in range(2)),
        {"role": "model", "parts": [{"text": "hm"}]},
        {"role": "user", "parts": [told]},
    ]

    first = prepared(gate_with(SMALL), "gemini", messages)

    assert "found" in texts(first.body)
    assert prepared(gate_with(SMALL), "gemini", messages).body == first.body


@pytest.mark.proves("H3", "P22")
def test_what_stands_for_a_missing_result_is_not_late_itself(gate_with):
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    broken = user("anthropic", "x") + calls("anthropic", ("call_1", "grep", {}))
    broken += [{"role": "assistant", "content": [thought]}, *user("anthropic", "and?")]
    sent = prepared(gate_with(SMALL), "anthropic", broken).body

    again = gate_with(SMALL).prepare(sent, dialect="anthropic", model=MODEL)

    assert (again.body is sent, again.fixes) == (True, ())


AGEING = SMALL.replace(
    result=tokens(4_000),
    batch=tokens(8_000),
    ageing=Ageing(high=0.75, low=0.4, keep_last=1, least=tokens(300)),
)


def long_story(dialect: str, rounds: int) -> list[dict]:
    messages = user(dialect, "look")
    for number in range(rounds):
        messages += round_of(dialect, number, lines(60 + number))
    return messages


@pytest.mark.proves("H9", "H10", "H11")
@every_dialect
def test_pressure_opens_an_epoch_and_what_aged_can_still_be_read(dialect, gate_with):
    gate = gate_with(AGEING)

    outcome = prepared(gate, dialect, long_story(dialect, 8), window_tokens=7_000)

    assert outcome.epoch.why == "the window is filling up"
    aged = [verdict for verdict in outcome.verdicts if verdict.age]
    assert aged
    assert outcome.verdicts[-1].age == 0
    for verdict in aged:
        assert gate.original(verdict.ref).startswith(b"10:00:01 INFO worker 1 is fine")
    assert check(outcome.body, dialect) == []


@pytest.mark.proves("H9", "H10")
@pytest.mark.parametrize("unit", [tokens, chars, utf8_bytes])
def test_an_epoch_goes_down_to_the_low_mark_whatever_a_policy_counts(unit, gate_with):
    policy = Policy(
        result=unit(30_000),
        ageing=Ageing(low=0.4, keep_last=1, least=unit(600), head=unit(300), tail=unit(300)),
        classes={},
        repeats=False,
    )
    story = user("anthropic", "look")
    for number in range(16):
        story += round_of("anthropic", number, lines(200 + number))

    outcome = prepared(gate_with(policy), "anthropic", story, window_tokens=50_000)

    assert outcome.epoch is not None
    assert 0.3 * 50_000 < outcome.count.tokens <= 0.45 * 50_000


@pytest.mark.proves("H9")
@pytest.mark.parametrize("form", [None, Excerpt(head=tokens(400), tail=tokens(90))])
def test_no_result_grows_as_it_ages(form, gate_with):
    ageing = Ageing(high=None, turns=(1, 9), keep_last=0, least=tokens(128), spared=(), weigh=False)
    gate = gate_with(Policy(ageing=ageing, aged=form, classes={}))
    texts = [lines(count) for count in (13, 25, 40, 44, 48, 300)] + ["ab \u4e2d " * 120]
    story = user("anthropic", "look") + round_of("anthropic", 1, *texts)
    story += said("anthropic", "so") + user("anthropic", "go on")

    outcome = prepared(gate, "anthropic", story)

    assert all(verdict.age == 1 for verdict in outcome.verdicts)
    sizes = [
        (verdict.after.tokens, gate.meter.count(t))
        for verdict, t in zip(outcome.verdicts, texts, strict=True)
    ]
    assert all(after <= before for after, before in sizes)
    assert sizes[-2][0] < 600 < sizes[-2][1]


@pytest.mark.proves("H10", "P4", "H8")
@every_dialect
def test_an_epoch_is_opened_once_and_holds_in_later_requests(dialect, gate_with):
    story = long_story(dialect, 8)
    first = prepared(gate_with(AGEING), dialect, story, window_tokens=7_000)
    assert first.epoch is not None

    later = prepared(
        gate_with(AGEING),
        dialect,
        story + said(dialect, "so") + user(dialect, "go on"),
        window_tokens=7_000,
    )

    assert later.epoch is None
    before, after = (json.loads(o.body) for o in (first, later))
    key = next(iter(before.keys() & {"messages", "input", "contents"}))
    assert after[key][: len(story)] == before[key]


@pytest.mark.proves("G6", "P4", "H10")
@every_dialect
def test_a_request_that_was_refused_as_too_long_can_age_further_and_that_holds(dialect, gate_with):
    story = long_story(dialect, 8)
    gentle = Ageing(high=0.0, low=0.4, keep_last=1, least=tokens(300))
    harsh = Ageing(high=0.0, low=0.0, keep_last=1, least=tokens(300))
    gate = gate_with(AGEING)

    sizes = [
        prepared(gate, dialect, story, window_tokens=12_000, ageing=ageing).count.tokens
        for ageing in (None, gentle, harsh)
    ]
    later = prepared(gate_with(AGEING), dialect, story + said(dialect, "so") + user(dialect, "on"))

    assert sizes[0] > sizes[1] > sizes[2]
    assert [verdict.age for verdict in later.verdicts] == [2] * 7 + [0]


@pytest.mark.proves("0.2", "H10")
def test_a_fork_that_left_before_an_epoch_keeps_its_bytes(gate_with):
    gate = gate_with(AGEING)
    story = long_story("anthropic", 6)
    before = prepared(gate, "anthropic", story).body
    grown = story + round_of("anthropic", 8, lines(80)) + round_of("anthropic", 9, lines(90))
    assert prepared(gate, "anthropic", grown, window_tokens=9_000).epoch is not None

    assert prepared(gate, "anthropic", story).body == before


@pytest.mark.proves("H10")
def test_nothing_ages_before_a_bound_thinking_block(gate_with):
    story = long_story("anthropic", 8)
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    story[-2]["content"].insert(0, thinking)
    sent = body("anthropic", story, model="claude-fable-5-1")

    outcome = gate_with(AGEING).prepare(sent, window_tokens=7_000)

    assert outcome.epoch is None


@pytest.mark.proves("H13")
@every_dialect
def test_an_identical_result_becomes_a_reference_to_the_first(dialect, gate_with):
    gate = gate_with(AGEING.replace(repeats=True))
    messages = (
        user(dialect, "x") + round_of(dialect, 1, lines(60)) + round_of(dialect, 2, lines(60))
    )

    outcome = prepared(gate, dialect, messages)

    assert outcome.verdicts[1].text == (
        "[the same as the result of call_1_0 above (grep), unchanged]"
    )
    assert gate.original(outcome.verdicts[1].ref) == lines(60).encode()


@pytest.mark.proves("H13")
def test_a_file_read_again_becomes_the_difference(gate_with):
    gate = gate_with(AGEING.replace(repeats=True))
    read = {"file_path": "a.py"}
    first = [
        *calls("anthropic", ("c1", "Read", read)),
        *results("anthropic", ("c1", "Read", lines(80))),
    ]
    again = [
        *calls("anthropic", ("c2", "Read", read)),
        *results("anthropic", ("c2", "Read", lines(80, n40="changed"))),
    ]

    outcome = prepared(gate, "anthropic", user("anthropic", "x") + first + again)

    text = outcome.verdicts[1].text
    assert text.startswith("[the same as the result of c1 above (Read a.py) but for:]\n@@ ")
    assert "\n-10:00:40 INFO worker 40 is fine\n+changed\n" in text


@pytest.mark.proves("H13")
def test_a_reference_moves_down_with_its_base(gate_with):
    policy = AGEING.replace(repeats=True)
    story = (
        user("anthropic", "x")
        + round_of("anthropic", 1, lines(100))
        + round_of("anthropic", 2, lines(100))
    )
    story += [m for n in range(3, 9) for m in round_of("anthropic", n, lines(60 + n))]

    outcome = prepared(gate_with(policy), "anthropic", story, window_tokens=6_000)

    base, reference = outcome.verdicts[:2]
    assert base.age > 0
    assert reference.age == 2


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


def test_a_history_that_cannot_be_repaired_goes_out_as_it_came(gate_with):
    story = user("anthropic", "x") + calls("anthropic", ("c1", "grep", {}))
    story[1]["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    story[1]["content"].append({"type": "tool_use", "id": "c1", "name": "grep", "input": {}})
    sent = body("anthropic", story + user("anthropic", "and?"))

    outcome = gate_with(SMALL).prepare(sent)

    if outcome.gave_up:
        assert outcome.body is sent
    else:
        assert check(outcome.body, "anthropic") == []


@pytest.mark.proves("P13")
def test_two_gates_on_one_session_send_the_same(state):
    one, two = Gate(SMALL, state=state), Gate(SMALL.replace(result=tokens(300)), state=state)
    story = body("anthropic", user("anthropic", "x") + round_of("anthropic", 1, lines(300)))

    assert one.prepare(story).body == two.prepare(story).body
