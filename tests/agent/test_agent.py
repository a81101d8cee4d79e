import asyncio
import json
from contextlib import suppress
from itertools import pairwise

import pytest

from headgate import Gate, Policy, tokens
from headgate.agent import (
    Answered,
    AsyncAgent,
    Called,
    ModelError,
    Overflowed,
    Said,
    Turn,
    WindowExceeded,
)
from headgate.agent.agent import CUT_OFF, REFUSED
from headgate.events import CallEnded, GuardTripped, HistoryRepaired, Progress
from headgate.guard_rules import GuardRule, Guards
from headgate.registry import Context, Registry
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
from tests.agent.talking import agent_of, answers, called, model_of, tools, violations

every_dialect = pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])


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


@pytest.mark.proves("G3")
@every_dialect
def test_a_warning_stands_above_the_result_the_model_gets(dialect, state):
    guards = Guards(identical=GuardRule(warn=1))
    same = Call("echo", {"text": "again"})
    client = ScriptedClient(same, same, "I see.")
    with agent_of(state, client, dialect=dialect, policy=Policy(guards=guards)) as agent:
        agent.run("Go.")

    first, second = answers(agent.conversation.messages, dialect)
    assert first[1] == "again"
    assert second[1] == (
        "[guard: this is call 2 of echo with the same arguments, and its result has not changed. "
        "The earlier result still holds: use it, change the arguments, or stop.]\nagain"
    )


@pytest.mark.proves("G3")
@every_dialect
def test_a_call_that_is_blocked_is_not_run_and_the_model_goes_on(dialect, state):
    guards = Guards(same_error=GuardRule(block=2))
    client = ScriptedClient(*[Call("fail", {"path": f"/srv/{n}.py"}) for n in "abc"], "I give up.")
    with agent_of(state, client, dialect=dialect, policy=Policy(guards=guards)) as agent:
        turn = agent.run("Go.")

    assert turn.text == "I give up."
    told = [text for _, text in answers(agent.conversation.messages, dialect)]
    assert "No such file: /srv/b.py" in told[1]
    assert told[2].startswith("Not run: the last 2 calls of fail failed with the same error")


@pytest.mark.proves("G3")
@every_dialect
def test_a_turn_that_is_halted_ends_cleanly_with_a_visible_event(dialect, state):
    guards = Guards(calls=GuardRule(halt=3))
    batch = [Call("echo", {"text": f"{n}"}, f"c{n}") for n in range(5)]
    client = ScriptedClient(batch, "Next turn.")
    with agent_of(state, client, dialect=dialect, policy=Policy(guards=guards)) as agent:
        events = list(agent.stream("Go."))

        turn = events[-1]
        assert (turn.reason, turn.requests) == ("halted", 1)
        assert turn.text == (
            "Not run: this is call 4 of the turn; 3 are allowed. "
            "The turn ends here; the user is told."
        )
        tripped = [event for event in events if isinstance(event, GuardTripped)]
        assert [(event.action, event.call_id) for event in tripped] == [("halt", "c3")]
        told = dict(answers(agent.conversation.messages, dialect))
        assert [told[f"c{n}"] for n in range(3)] == ["0", "1", "2"]
        assert told["c3"] == turn.text
        assert told["c4"] == (
            "Not run: a call before it in the batch went too far. "
            "The turn ends here; the user is told."
        )
        assert agent.run("Go on.").text == "Next turn."
    assert violations(agent, dialect) == []


@pytest.mark.proves("G3")
def test_polling_is_let_through_where_repeating_is_blocked(state):
    guards = Guards(identical=GuardRule(block=2), in_a_row=GuardRule(block=2))
    client = ScriptedClient(*[Call("poll")] * 5, *[Call("echo", {"text": "x"})] * 3, "Enough.")
    with agent_of(state, client, policy=Policy(guards=guards)) as agent:
        agent.run("Go.")

    told = [text.partition(":")[0] for _, text in answers(agent.conversation.messages)]
    assert told == ["1 %", "2 %", "3 %", "4 %", "5 %", "x", "x", "Not run"]


@pytest.mark.proves("G4")
def test_guards_go_on_counting_in_a_turn_that_another_process_goes_on_with(state):
    guards = Guards(calls=GuardRule(halt=2))
    policy = Policy(guards=guards)
    with agent_of(state, ScriptedClient(*[Call("poll")] * 2, Reset()), policy=policy) as agent:
        with pytest.raises(ConnectionResetError):
            agent.run("Go.")
        conversation = agent.conversation

    client = ScriptedClient(Call("poll"), "Not reached.")
    with agent_of(state, client, policy=policy, conversation=conversation) as agent:
        assert agent.run().reason == "halted"


@pytest.mark.proves("G4")
def test_compaction_makes_no_guard_forget(state):
    policy = Policy(guards=Guards(same_tool=GuardRule(halt=12)), result=tokens(4_000))
    client = ScriptedClient(
        answer=lambda request: Call("echo", {"text": lines(100, n7=f"{len(request.body)}")})
    )
    gate = Gate(policy, state=state, session="s")
    with agent_of(state, client, gate=gate, window_tokens=12_000) as agent:
        turn = agent.run("Go.")

    assert gate.ledger.epochs() != []
    assert (turn.reason, turn.calls) == ("halted", 13)


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
        for event in agent.stream("Go."):
            if isinstance(event, Progress):
                break

    assert [call_id for call_id, _ in answers(agent.conversation.messages)] == ["c1"]
    assert len(client.requests) == 1


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
    with agent_of(state, client, dialect=dialect) as agent:
        with pytest.raises(WindowExceeded, match="refuses the history as too long: about") as error:
            agent.run(lines(200))

        assert error.value.__cause__.status_code == 400
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
