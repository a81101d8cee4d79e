import asyncio
import json
from itertools import pairwise

import pytest

from headgate import Gate, Policy, tokens
from headgate.agent import (
    Answered,
    AsyncAgent,
    Called,
    ModelError,
    Said,
    Turn,
)
from headgate.agent.agent import CUT_OFF, REFUSED
from headgate.events import CallEnded, HistoryRepaired
from headgate.registry import Context
from headgate.testing import (
    Call,
    Cut,
    Failure,
    Reply,
    Reset,
    Say,
    ScriptedClient,
    Think,
    Wire,
    lines,
)
from tests.agent.talking import (
    agent_of,
    answers,
    called,
    every_dialect,
    model_of,
    tools,
    violations,
)


@pytest.mark.proves("G5")
@every_dialect
def test_the_model_speaks_its_calls_run_and_it_answers(dialect, state):
    client = ScriptedClient(
        [
            Say("I try."),
            Call("echo", {"text": "one"}, id="c1"),
            Call("echo", {"text": "two"}, "c2"),
        ],
        "Both said.",
    )
    with agent_of(state, client, dialect=dialect) as agent:
        turn = agent.run("Say one and two.")

    assert (turn.text, turn.reason, turn.requests, turn.calls) == ("Both said.", "end", 2, 2)
    assert answers(agent.conversation.messages, dialect) == [("c1", "one"), ("c2", "two")]
    assert [request.status for request in client.requests] == [200, 200]
    assert turn.usage.output_tokens > 0
    assert turn.usage.prompt == sum(usage.input_tokens for usage in client.provider.usages)


@pytest.mark.proves("G5")
@every_dialect
def test_a_second_turn_goes_on_from_the_first(dialect, state):
    client = ScriptedClient(Call("echo", {"text": "one"}), "Done.", "You said one.")
    with agent_of(state, client, dialect=dialect) as agent:
        agent.run("Say one.")
        turn = agent.run("What did I say?")

    assert (turn.text, turn.requests, turn.calls) == ("You said one.", 1, 0)
    assert violations(agent, dialect) == []


@pytest.mark.proves("G5")
@every_dialect
def test_what_happens_comes_as_events_in_order(dialect, state):
    client = ScriptedClient([Say("I try."), Call("echo", {"text": "one"}, "c1")], "Done.")
    with agent_of(state, client, dialect=dialect) as agent:
        events = list(agent.stream("Say one."))

    kinds = [type(event) for event in events]
    assert kinds == [Said, Called, CallEnded, Answered, Said, Turn]
    assert [event.text for event in events if isinstance(event, Said)] == ["I try.", "Done."]
    assert events[3].results[0].text == "one"
    assert events[-1].text == "Done."


def test_the_same_bytes_are_sent_again_in_every_later_request(state):
    client = ScriptedClient(
        *[Call("echo", {"text": lines(2_000 + n)}) for n in range(3)], "Enough."
    )
    with agent_of(state, client, policy=Policy(result=tokens(500))) as agent:
        agent.run("Look.")

    sent = [request.json["messages"] for request in client.requests]
    for shorter, longer in pairwise(sent):
        assert longer[: len(shorter)] == shorter
    assert client.provider.usages[-1].cache_read_tokens > 0


def test_a_big_result_is_shortened_and_read_back(state):
    log = lines(3_000, n1500="the needle 4711")

    def reply(request):
        shown = json.dumps(request.json["messages"][-1])
        ref = shown.partition('read_result(ref=\\\\\\"')[2][:14]
        done = len(request.json["messages"]) > 4
        return "Line 1500." if done else Call("read_result", {"ref": ref, "search": "needle"})

    registry = tools()
    registry.tool(lambda: log, name="log", description="The log.")
    client = ScriptedClient(Call("log"), answer=reply)
    with agent_of(state, client, registry=registry, policy=Policy(result=tokens(400))) as agent:
        agent.run("Where does it hurt?")

    read = answers(agent.conversation.messages)[1][1]
    assert "1500: the needle 4711" in read


@pytest.mark.parametrize("fault", [Reset(2), Cut(3), Failure(529)])
@every_dialect
def test_a_reply_that_breaks_off_leaves_the_history_as_it_was(fault, dialect, state):
    client = ScriptedClient(fault, "Now.")
    with agent_of(state, client, dialect=dialect) as agent:
        with pytest.raises(Exception, match=r"reset|complete|Overloaded"):
            agent.run("Go.")

        assert len(agent.conversation) == 1
        assert agent.run().text == "Now."
    assert len(agent.conversation) == 2


def test_a_stream_that_ends_early_but_in_good_order_is_no_reply(state):
    with agent_of(state, ScriptedClient(Cut(4))) as agent, pytest.raises(ModelError):
        agent.run("Go.")


@every_dialect
def test_a_call_in_a_reply_that_was_cut_off_is_not_run(dialect, state):
    cut = Reply((Call("echo", {"text": "x"}, "c1"),), stop="length")
    client = ScriptedClient(cut, "Shorter now.")
    with agent_of(state, client, dialect=dialect) as agent:
        turn = agent.run("Go.")

    assert turn.text == "Shorter now."
    assert answers(agent.conversation.messages, dialect) == [("c1", CUT_OFF)]


@pytest.mark.parametrize("stop", ["length", "refusal"])
@every_dialect
def test_a_turn_says_that_the_model_was_cut_off_or_refused(stop, dialect, state):
    client = ScriptedClient(Reply((Say("No more."),), stop=stop))
    with agent_of(state, client, dialect=dialect) as agent:
        assert agent.run("Go.").reason == stop


def test_a_model_that_pauses_goes_on_where_it_is(state):
    search = Wire(
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    )
    client = ScriptedClient(Reply((Say("Searching."), search), stop="pause"), "Found.")
    with agent_of(state, client) as agent:
        turn = agent.run("Go.")

    assert (turn.text, turn.requests) == ("Found.", 2)
    assert client.requests[1].json["messages"][-1]["content"][-1] == search.block


def test_thinking_comes_back_as_it_was(state):
    client = ScriptedClient(
        [Think("hm"), Call("echo", {"text": "x"})], [Think("so"), Say("Done.")], "And again."
    )
    with agent_of(state, client) as agent:
        agent.run("Go.")
        agent.run("Go on.")

    assert [request.status for request in client.requests] == [200, 200, 200]
    thoughts = [
        block
        for message in agent.conversation.messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "thinking"
    ]
    assert [block["thinking"] for block in thoughts] == ["hm", "so"]


def test_sealed_reasoning_comes_back_as_it_was(state):
    client = ScriptedClient([Think("hm"), Call("echo", {"text": "x"})], "Done.")
    with agent_of(state, client, dialect="openai-responses") as agent:
        agent.run("Go.")

    assert [request.status for request in client.requests] == [200, 200]
    assert "encrypted_content" in agent.conversation.messages[1]


@pytest.mark.parametrize("ids", [("x", "x"), ("a b", "c" * 70)])
@every_dialect
def test_ids_that_come_twice_or_are_refused_do_not_end_a_conversation(ids, dialect, state):
    calls = [Call("echo", {"text": text}, id_) for text, id_ in zip("ab", ids, strict=True)]
    client = ScriptedClient(calls, Call("echo", {"text": "c"}, ids[0]), "Done.", "More.")
    with agent_of(state, client, dialect=dialect) as agent:
        assert (agent.run("Go.").text, agent.run("Go on.").text) == ("Done.", "More.")

    assert [request.status for request in client.requests] == [200] * 4
    assert [text for _, text in answers(agent.conversation.messages, dialect)] == ["a", "b", "c"]


def test_without_a_prompt_there_must_be_something_to_go_on_with(state):
    client = ScriptedClient("Not reached.")
    with agent_of(state, client) as agent, pytest.raises(ValueError, match="begin with a prompt"):
        agent.run()

    assert client.requests == []


def test_an_agent_is_in_one_turn_at_a_time(state):
    client = ScriptedClient("One.", "Two.")

    async def main():
        agent = AsyncAgent(model_of("anthropic", client), tools(), Gate(state=state, session="s"))
        first = asyncio.ensure_future(agent.run("Go."))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="in the middle of a turn"):
            await agent.run("And go.")
        return await first

    assert asyncio.run(main()).text == "One."


def test_a_message_of_the_users_can_be_given_as_the_provider_has_it(state):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    client = ScriptedClient("A cat.")
    with agent_of(state, client) as agent:
        agent.run({"role": "user", "content": [image, {"type": "text", "text": "What is it?"}]})

    assert client.requests[0].json["messages"][0]["content"][0] == image


def test_async_tools_and_sync_tools_run_in_one_batch(state):
    registry = tools()

    @registry.tool
    async def later(text: str, context: Context) -> str:
        """Say it after a while."""
        await asyncio.sleep(0)
        return text.upper()

    client = ScriptedClient([Call("later", {"text": "a"}), Call("echo", {"text": "b"})], "Done.")
    with agent_of(state, client, registry=registry) as agent:
        agent.run("Go.")

    assert [text for _, text in answers(agent.conversation.messages)] == ["A", "b"]


def test_a_history_that_is_sent_needs_no_repair(state):
    events = []
    gate = Gate(state=state, session="s", hooks=[events.append])
    client = ScriptedClient([Call("echo", {"text": "x"})], "One.", "Two.")
    with agent_of(state, client, gate=gate) as agent:
        agent.run("Go.")
        agent.run("Go on.")

    assert not [event for event in events if isinstance(event, HistoryRepaired)]
    assert called(agent.conversation.messages) == [
        call_id for call_id, _ in answers(agent.conversation.messages)
    ]


@pytest.mark.parametrize("prompt", [{"role": "user", "content": object()}, 5, ["Go."]])
def test_a_prompt_that_no_message_can_hold_is_not_said(prompt, state):
    with agent_of(state, ScriptedClient("Fine.")) as agent:
        with pytest.raises(TypeError):
            agent.run(prompt)

        assert len(agent.conversation) == 0
        assert agent.run("Go.").text == "Fine."


def test_what_was_said_stays_as_it_was_whatever_becomes_of_the_prompt(state):
    client = ScriptedClient("One.", "Two.")
    prompt = {"role": "user", "content": "Go."}
    with agent_of(state, client) as agent:
        agent.run(prompt)
        prompt["content"] = "Stop."
        agent.run("Again.")

    assert client.requests[1].json["messages"][0] == {"role": "user", "content": "Go."}


@every_dialect
def test_the_calls_of_a_reply_that_ends_in_a_refusal_are_not_run(dialect, state):
    client = ScriptedClient(Reply((Call("echo", {"text": "x"}, "c1"),), "refusal"), "Fine.")
    agent = agent_of(state, client, dialect=dialect)

    turn = agent.run("Go.")

    assert (turn.reason, turn.requests) == ("refusal", 1)
    assert answers(agent.conversation.messages, dialect) == [("c1", REFUSED)]
    assert agent.run("Something else, then.").text == "Fine."
    assert violations(agent, dialect) == []


@pytest.mark.parametrize("name", ["functions.echo", "echo ", "エコー", "", "e" * 200])
@every_dialect
def test_a_name_that_no_tool_can_have_does_not_end_a_conversation(name, dialect, state):
    client = ScriptedClient(Call(name, {"text": "x"}, "c1"), "I see.", "Yes.")
    agent = agent_of(state, client, dialect=dialect)

    assert agent.run("Go.").text == "I see."
    assert agent.run("Again?").text == "Yes."
    [(_, text)] = answers(agent.conversation.messages, dialect)
    assert text.startswith(f"there is no tool {name!r}")
    assert violations(agent, dialect) == []


@every_dialect
def test_half_a_surrogate_pair_does_not_end_a_conversation(dialect, state):
    call = Call("echo", {"text": "x\ud83d"}, "c1")
    client = ScriptedClient([Say("Well\ud83d"), call], "Done.", "Yes.")
    with agent_of(state, client, dialect=dialect) as agent:
        assert agent.run("Go\udc00.").text == "Done."
        assert agent.run("Again?").text == "Yes."

    assert [request.status for request in client.requests] == [200, 200, 200]
