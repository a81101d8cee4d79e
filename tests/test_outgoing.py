import json

import pytest

from headgate import Gate, Policy, tokens
from headgate.errors import HistoryError
from headgate.events import HistoryPrepared
from headgate.outgoing import REMEMBERED, SENT_REMEMBERED
from headgate.testing import lines

REPORTED = {"input_tokens": 50_000, "output_tokens": 7}


def chat(text, *more):
    call = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text}
    messages = [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        *more,
    ]
    return json.dumps({"model": "claude-opus-4-6", "messages": messages}).encode()


SAID = ({"role": "assistant", "content": "Full."}, {"role": "user", "content": "And?"})


def counted_after(state, text):
    """What the next request counts when the provider reported 50,000 tokens for this one."""
    gate = Gate(Policy(result=tokens(400)), state=state)
    first = gate.prepare(chat(text), dialect="anthropic")
    assert first.count.tokens < 5_000
    gate.observe(first.body, REPORTED, dialect="anthropic")
    return gate.prepare(chat(text, *SAID), dialect="anthropic").count.tokens


def test_the_next_request_is_counted_from_what_was_reported(state):
    assert counted_after(state, "short") >= 50_000


def test_so_it_is_where_the_client_still_has_what_was_shortened(state):
    assert counted_after(state, lines(3_000)) >= 50_000


def test_what_is_remembered_is_bounded(state):
    gate = Gate(Policy(result=tokens(400)), state=state)
    outgoing = gate._outgoing
    for number in range(3):
        gate.observe(chat(str(number)), REPORTED, dialect="anthropic")
    assert len(outgoing.reports) == 3
    for number in range(REMEMBERED):
        outgoing.reports[number.to_bytes(4)] = outgoing.reports[next(iter(outgoing.reports))]
    gate.observe(chat("last"), REPORTED, dialect="anthropic")
    assert len(outgoing.reports) == REMEMBERED


def test_each_window_has_one_policy_that_is_checked_once(state):
    gate = Gate(state=state)
    for _ in range(3):
        gate.prepare(chat("short"), dialect="anthropic")
        gate.prepare(chat("short"), dialect="anthropic", window_tokens=32_000)

    outgoing = gate._outgoing
    assert len(outgoing.policies) == 2
    assert all(not policy.normalise for policy in outgoing.policies.values())


@pytest.mark.parametrize("others", [0, SENT_REMEMBERED], ids=["at once", "after many others"])
def test_what_is_learnt_does_not_depend_on_when_the_answer_comes(state, others):
    gate = Gate(Policy(result=tokens(400)), state=state)
    first = gate.prepare(chat(lines(3_000)), dialect="anthropic")
    gate.observe(first.body, REPORTED, dialect="anthropic")
    second = gate.prepare(chat(lines(3_000), *SAID), dialect="anthropic")
    for number in range(others):
        gate.prepare(chat(f"{number}"), dialect="anthropic")
    gate.observe(second.body, {**REPORTED, "input_tokens": 50_100}, dialect="anthropic")

    outgoing = gate._outgoing
    assert len(outgoing.sent) == others
    assert len(outgoing.reports) == 4
    later = gate.prepare(chat(lines(3_000), *SAID, *SAID), dialect="anthropic")
    assert later.count.reported == 50_107


@pytest.mark.proves("H1", "H3")
def test_repair_alone_mends_a_history_and_leaves_a_valid_one(state):
    gate, valid = Gate(state=state), chat("short")
    broken = json.dumps({"messages": json.loads(valid)["messages"][:2]}).encode()

    assert gate.repair(valid) == (valid, ())
    mended, fixes = gate.repair(broken, dialect="anthropic")
    assert [fix.kind for fix in fixes] == ["missing"]
    assert len(json.loads(mended)["messages"]) == 3
    assert gate.repair(broken, dialect="anthropic", pending=True) == (broken, ())


@pytest.mark.parametrize("call", ["prepare", "repair"])
def test_plain_messages_fit_two_dialects_until_one_is_named(state, call):
    plain, ask = b'[{"role": "user", "content": "hi"}]', getattr(Gate(state=state), call)

    with pytest.raises(HistoryError, match="fits anthropic and openai-chat"):
        ask(plain)
    ask(plain, dialect="anthropic")


def test_nothing_is_told_of_a_history_that_needed_no_repair(state):
    events = []
    Gate(state=state, hooks=[events.append]).prepare(chat("short"))

    assert [type(event) for event in events] == [HistoryPrepared]


@pytest.mark.parametrize("call", ["prepare", "repair"])
def test_a_result_that_is_taken_out_of_a_history_stays_readable(state, call):
    gate, stray = Gate(state=state), {"type": "tool_result", "tool_use_id": "no", "content": "lost"}
    history = json.loads(chat("short"))
    history["messages"][2]["content"].append(stray)

    getattr(gate, call)(json.dumps(history).encode(), dialect="anthropic")

    [about] = gate.store.all()
    assert (gate.original(about.ref), about.call_id) == (b"lost", "no")


def test_what_is_learnt_is_learnt_of_the_model_that_is_named(state):
    gate, more = (
        Gate(state=state),
        ({"role": "assistant", "content": "And?"}, {"role": "user", "content": lines(300)}),
    )
    for body, reported in ((chat("short"), 50_000), (chat("short", *more), 55_000)):
        sent = json.dumps(json.loads(body)["messages"]).encode()
        usage = {"input_tokens": reported, "output_tokens": 7}
        gate.observe(sent, usage, dialect="anthropic", model="claude-opus-4-6")

    learnt = gate._outgoing.calibrations.of
    assert (learnt("claude-opus-4-6").observations, learnt("").observations) == (1, 0)


@pytest.mark.proves("A1")
def test_a_request_that_is_one_text_is_counted_and_goes_out_as_it_came(state):
    text, half = b'{"input": "hello there"}', b'{"input": "half a pair: \\ud83d"}'
    message = json.dumps({"input": [{"role": "user", "content": "hello there"}]}).encode()
    gate = Gate(state=state)

    outcome = gate.prepare(text)

    assert outcome.body is text
    assert outcome.count.tokens == gate.prepare(message).count.tokens > 2
    assert gate.prepare(half).body == b'{"input": "half a pair: \\ufffd"}'
