import json

import pytest

from headgate.check import check
from headgate.events import HistoryRepaired
from headgate.testing import lines, result
from tests.histories import DIALECTS, KEYS, body, calls, results, round_of, said, user
from tests.preparing import MODEL, SMALL, every_dialect, prepared, texts


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
@pytest.mark.parametrize("stray", [[], [("z", "ls", "stray")]], ids=["", "with a stray"])
@every_dialect
def test_so_it_stays_when_no_call_of_a_step_was_answered_and_the_model_spoke_on(
    dialect, stray, gate_with
):
    sent = user(dialect, "x") + calls(dialect, ("a", "ls", {}), ("b", "grep", {}))
    sent += said(dialect, "hm") + (results(dialect, *stray) if stray else [])
    sent += user(dialect, "and?")
    first = prepared(gate_with(SMALL), dialect, sent)
    late = results(dialect, ("a", "ls", "late"), ("b", "grep", "late"))

    second = prepared(gate_with(SMALL), dialect, [*sent, *said(dialect, "well"), *late])

    before, after = (json.loads(outcome.body)[KEYS[dialect]] for outcome in (first, second))
    assert after[: len(before)] == before


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


def test_a_history_that_cannot_be_repaired_goes_out_as_it_came(gate_with):
    story = user("anthropic", "x") + calls("anthropic", ("c1", "grep", {}))
    story[1]["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    story[1]["content"].append({"type": "tool_use", "id": "c1", "name": "grep", "input": {}})
    sent = body("anthropic", story + user("anthropic", "and?"))

    events = []
    outcome = gate_with(SMALL, hooks=[events.append]).prepare(sent, model=MODEL)

    why = "an assistant message with thinking would have to be changed"
    assert (outcome.body is sent, outcome.gave_up, outcome.fixes) == (True, why, ())
    assert outcome.model == MODEL
    assert events == [HistoryRepaired((), why)]
