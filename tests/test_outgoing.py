import json

import pytest

from headgate import Gate, Policy, tokens
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


@pytest.mark.proves("A1")
def test_a_request_that_is_one_text_is_counted_and_goes_out_as_it_came(state):
    text, half = b'{"input": "hello there"}', b'{"input": "half a pair: \\ud83d"}'
    message = json.dumps({"input": [{"role": "user", "content": "hello there"}]}).encode()
    gate = Gate(state=state)

    outcome = gate.prepare(text)

    assert outcome.body is text
    assert outcome.count.tokens == gate.prepare(message).count.tokens > 2
    assert gate.prepare(half).body == b'{"input": "half a pair: \\ufffd"}'
