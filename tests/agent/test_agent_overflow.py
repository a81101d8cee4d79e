from itertools import pairwise

import pytest

from headgate import Policy, tokens
from headgate.agent import (
    Overflowed,
    WindowExceeded,
)
from headgate.registry import Registry
from headgate.testing import (
    Call,
    Failure,
    ScriptedClient,
    lines,
)
from tests.agent.talking import agent_of, every_dialect, violations


def long_talk(client, state, **more):
    """An agent that has read fourteen results of about 1,500 tokens."""
    registry = Registry()
    registry.tool(lambda n: lines(90, n3=f"{n}"), name="read_log", description="Read a log.")
    policy = Policy(result=tokens(4_000), batch=tokens(8_000), repeats=False)
    return agent_of(state, client, registry=registry, policy=policy, **more)


NEARLY_ALL = {"anthropic": 18_000, "openai-chat": 11_000, "openai-responses": 11_000}
"""A window that the results of a long talk fit nearly, in the tokens of the model."""

READS = [Call("read_log", {"n": n}) for n in range(14)]


@pytest.mark.proves("G6")
@every_dialect
def test_an_overflow_is_met_by_tightening_and_one_retry(dialect, state):
    client = ScriptedClient(*READS, "Enough.", window_tokens=NEARLY_ALL[dialect])
    with long_talk(client, state, dialect=dialect, window_tokens=200_000) as agent:
        events = list(agent.stream("Read all."))

    statuses = [request.status for request in client.requests]
    overflows = [event for event in events if isinstance(event, Overflowed)]
    assert events[-1].text == "Enough."
    assert statuses.count(400) == len(overflows) >= 1
    assert {event.step for event in overflows} == {"tighten"}
    for first, then in pairwise(statuses):
        assert (first, then) != (400, 400)
    assert violations(agent, dialect) == []


@pytest.mark.proves("G6")
@every_dialect
def test_where_tightening_is_not_enough_all_that_may_is_compacted(dialect, state):
    client = ScriptedClient(*READS, "Enough.", window_tokens=200_000)
    with long_talk(client, state, dialect=dialect, window_tokens=200_000) as agent:
        agent.run("Read all.")
        client = ScriptedClient("Short now.", window_tokens=NEARLY_ALL[dialect] // 3)
    with long_talk(
        client, state, dialect=dialect, window_tokens=200_000, conversation=agent.conversation
    ) as agent:
        events = list(agent.stream("And?"))

    overflows = [event for event in events if isinstance(event, Overflowed)]
    assert [event.step for event in overflows] == ["tighten", "compact"]
    assert events[-1].text == "Short now."


@pytest.mark.proves("G6")
@every_dialect
def test_where_nothing_is_left_to_shorten_the_error_says_so(dialect, state):
    client = ScriptedClient("Not reached.", window_tokens=900)
    heard = []
    with agent_of(state, client, dialect=dialect) as agent:
        with pytest.raises(WindowExceeded, match="refuses the history as too long: about") as error:
            agent.run(lines(200), listen=heard.append)

        assert error.value.__cause__.status_code == 400
        assert [event.step for event in heard if isinstance(event, Overflowed)] == [None]
        assert [request.status for request in client.requests] == [400]
        assert violations(agent, dialect) == []


def test_after_an_overflow_the_window_is_known_to_be_smaller(state):
    client = ScriptedClient(*READS * 2, "Enough.", window_tokens=NEARLY_ALL["anthropic"])
    with long_talk(client, state, window_tokens=200_000) as agent:
        agent.run("Read all.")

    # Only the first request that was too long is refused: later ones are shortened in time.
    assert [request.status for request in client.requests].count(400) == 1


def test_a_request_with_too_many_bytes_says_nothing_about_the_window(state):
    client = ScriptedClient(*READS, "Enough.", Failure(413), "Fine.")
    with long_talk(client, state, window_tokens=200_000) as agent:
        agent.run("Read all.")
        events = list(agent.stream("And?"))

    assert [event.step for event in events if isinstance(event, Overflowed)] == ["tighten"]
    assert len(client.requests[-1].body) < 0.7 * len(client.requests[-2].body)
    assert agent._agent.window_tokens == 200_000


def test_other_refusals_are_not_taken_for_an_overflow(state):
    client = ScriptedClient(Failure(400, "temperature: Extra inputs are not permitted"))
    with agent_of(state, client) as agent, pytest.raises(Exception, match="temperature"):
        agent.run("Go.")

    assert len(client.requests) == 1
