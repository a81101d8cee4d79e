import asyncio
from contextlib import suppress

import pytest

from headgate import Gate
from headgate.agent import (
    AsyncAgent,
    Called,
    Turn,
)
from headgate.events import CallEnded, Progress
from headgate.testing import (
    Call,
    ScriptedClient,
)
from tests.agent.talking import (
    agent_of,
    answers,
    every_dialect,
    model_of,
    tools,
    violations,
)


@pytest.mark.proves("G2")
@every_dialect
def test_cancelling_in_the_middle_of_a_batch_answers_every_call(dialect, state):
    batch = [Call("echo", {"text": "quick"}, "c0"), Call("wait", id="c1"), Call("wait", id="c2")]
    client = ScriptedClient(batch, "On we go.")
    with agent_of(state, client, dialect=dialect) as agent:

        def listen(event):
            if isinstance(event, CallEnded) and event.call_id == "c0":
                agent.cancel()

        turn = agent.run("Go.", listen=listen)

        assert turn.reason == "cancelled"
        told = dict(answers(agent.conversation.messages, dialect))
        assert told.keys() == {"c0", "c1", "c2"}
        assert told["c0"] == "quick"
        assert "cancelled" in told["c1"]
        assert violations(agent, dialect) == []
        assert agent.run("Go on.").text == "On we go."


@pytest.mark.proves("G2")
def test_a_cancelled_task_ends_cancelled_with_a_valid_history(state):
    client = ScriptedClient([Call("wait", id="c1")], "Not reached.")

    async def main():
        gate = Gate(state=state, session="s")
        agent = AsyncAgent(model_of("anthropic", client), tools(), gate)
        started = asyncio.Event()
        heard = lambda event: started.set() if isinstance(event, Progress) else None  # noqa: E731
        task = asyncio.ensure_future(agent.run("Go.", listen=heard))
        await asyncio.wait_for(started.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return agent

    agent = asyncio.run(main())

    assert [call_id for call_id, _ in answers(agent.conversation.messages)] == ["c1"]
    assert violations(agent) == []


def test_cancelling_twice_does_not_wait_for_what_does_not_stop(state):
    registry = tools()
    stopped = asyncio.Event()

    @registry.tool
    async def stubborn() -> str:
        """Goes on when it is told to stop."""
        while not stopped.is_set():
            with suppress(asyncio.CancelledError):
                await stopped.wait()
        return "late"

    registry.grace_s = 5.0
    client = ScriptedClient([Call("stubborn", id="c1")], "On.")

    async def main():
        agent = AsyncAgent(model_of("anthropic", client), registry, Gate(state=state, session="s"))

        def listen(event):
            if isinstance(event, Called | CallEnded):
                agent.cancel()

        turn = await agent.run("Go.", listen=listen)
        stopped.set()
        return turn, asyncio.current_task().cancelling(), agent

    turn, cancelling, agent = asyncio.run(main())

    assert (turn.reason, cancelling) == ("cancelled", 0)
    assert [call_id for call_id, _ in answers(agent.conversation.messages)] == ["c1"]


def test_cancelling_a_turn_that_has_ended_changes_nothing(state):
    client = ScriptedClient("One.", "Two.")

    async def main():
        agent = AsyncAgent(model_of("anthropic", client), tools(), Gate(state=state, session="s"))

        def listen(event):
            if isinstance(event, Turn):
                agent.cancel()

        first = await agent.run("Go.", listen=listen)
        await asyncio.sleep(0)
        return first.reason, (await agent.run("Go on.")).text

    assert asyncio.run(main()) == ("end", "Two.")


def test_leaving_a_stream_early_cancels_the_turn(state):
    client = ScriptedClient([Call("wait", id="c1")], "Not reached.")
    with agent_of(state, client) as agent:
        events = agent.stream("Go.")
        while not isinstance(next(events), Progress):
            pass
        events.close()

        assert [call_id for call_id, _ in answers(agent.conversation.messages)] == ["c1"]
        assert len(client.requests) == 1
