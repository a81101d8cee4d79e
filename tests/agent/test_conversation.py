import os
import signal
import subprocess
import sys

import pytest

from headgate import Gate, Policy, tokens
from headgate.agent import Conversation, WentOnElsewhere
from headgate.check import check
from headgate.events import LedgerFailed, LedgerRepaired
from headgate.testing import ScriptedClient, lines, result
from tests.agent.talking import agent_of, answers
from tests.histories import calls, results, said, user


@pytest.fixture
def opened(state):
    def open_gate(**more):
        return Gate(more.pop("policy", Policy()), state=state, session="s", **more)

    return open_gate


def test_a_conversation_in_memory_is_what_was_added(opened):
    conversation = Conversation(user("anthropic", "Hello"))

    conversation.add(said("anthropic", "Hi"))

    assert conversation.messages == user("anthropic", "Hello") + said("anthropic", "Hi")
    assert len(conversation) == 2


def test_what_is_kept_is_there_for_the_next_process(opened):
    first = Conversation.kept(opened())
    first.add(user("anthropic", "Hello \ud83d"))
    first.add(said("anthropic", "Hi"))

    assert Conversation.kept(opened()).messages == first.messages


def test_a_session_can_keep_several(opened):
    Conversation.kept(opened(), "one").add(user("anthropic", "1"))

    assert Conversation.kept(opened(), "two").messages == []


def test_a_list_that_was_given_out_is_not_the_conversation(opened):
    conversation = Conversation(user("anthropic", "Hello"))

    conversation.messages.clear()

    assert len(conversation) == 1


@pytest.mark.proves("G2")
@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses"])
def test_calls_under_way_when_a_process_ended_are_told_to_be_unknown(dialect, opened):
    gate = opened()
    asked = calls(dialect, ("c1", "bash", {}), ("c2", "bash", {}))
    Conversation.kept(gate).add(user(dialect, "Go.") + asked)

    conversation = Conversation.kept(gate)
    conversation.mend(gate, dialect)

    told = answers(conversation.messages, dialect)
    assert [call_id for call_id, _ in told] == ["c1", "c2"]
    assert all("unknown" in text for _, text in told)
    assert Conversation.kept(gate).messages == conversation.messages


def test_a_result_that_was_let_in_before_the_end_is_the_real_one(opened):
    gate = opened(policy=Policy(result=tokens(300)))
    [shown] = gate.admit([result("bash", lines(1_000), call_id="c1")])
    Conversation.kept(gate).add(user("anthropic", "Go.") + calls("anthropic", ("c1", "bash", {})))

    conversation = Conversation.kept(gate)
    conversation.mend(gate, "anthropic")

    assert answers(conversation.messages) == [("c1", shown.text)]


@pytest.mark.parametrize(
    "history",
    [
        [],
        user("anthropic", "Hello") + said("anthropic", "Hi"),
        user("anthropic", "Hello"),
        user("anthropic", "Go")
        + calls("anthropic", ("c1", "ls", {}))
        + results("anthropic", ("c1", "ls", "a")),
    ],
)
def test_a_history_that_is_whole_is_left_alone(history, opened):
    conversation = Conversation(history)

    conversation.mend(opened(), "anthropic")

    assert conversation.messages == history


def test_a_torn_end_costs_the_last_message_and_is_reported(opened, state):
    first = Conversation.kept(opened())
    first.add(user("anthropic", "Hello"))
    first.add(said("anthropic", "Hi"))
    [journal] = state.rglob("conversation")
    os.truncate(journal, journal.stat().st_size - 3)
    events = []

    again = Conversation.kept(opened(hooks=[events.append]))

    assert again.messages == user("anthropic", "Hello")
    assert [type(event) for event in events] == [LedgerRepaired]


def test_a_disk_that_fails_stops_nothing_and_is_written_later(opened, state):
    events = []
    state.write_text("a file where a folder should be")
    conversation = Conversation.kept(opened(hooks=[events.append]))
    conversation.add(user("anthropic", "Hello"))
    conversation.add(said("anthropic", "Hi"))
    assert LedgerFailed in {type(event) for event in events}

    state.unlink()
    conversation.add(user("anthropic", "Still there?"))

    assert Conversation.kept(opened()).messages == conversation.messages


def test_who_comes_second_does_not_undo_what_the_first_said(opened):
    first, second = Conversation.kept(opened()), Conversation.kept(opened())
    first.add(user("anthropic", "Hello"))

    for _ in range(2):
        with pytest.raises(WentOnElsewhere, match=r"open it again with Conversation\.kept"):
            second.add(user("anthropic", "Hi"))
    first.add(said("anthropic", "Hi"))

    assert second.messages == []
    assert Conversation.kept(opened()).messages == first.messages
    assert first.messages == user("anthropic", "Hello") + said("anthropic", "Hi")


def test_what_was_written_here_is_known_when_it_is_read_again(opened, state):
    Conversation.kept(opened()).add(user("anthropic", "Hello"))
    conversation = Conversation.kept(opened())
    conversation.add(said("anthropic", "Hi"))
    [journal] = state.rglob("conversation")
    copy = journal.read_bytes()
    journal.unlink()
    journal.write_bytes(copy)

    conversation.add(user("anthropic", "Bye"))

    assert Conversation.kept(opened()).messages == conversation.messages
    assert len(conversation) == 3


@pytest.mark.proves("G2")
def test_a_killed_agent_goes_on_with_every_call_answered(opened, state):
    killed = """
import os, signal, sys
from pathlib import Path
from headgate import Gate
from headgate.agent import Conversation
from headgate.events import Progress
from headgate.testing import Call, ScriptedClient
from tests.agent.talking import agent_of

gate = Gate(state=Path(sys.argv[1]), session="s")
client = ScriptedClient([Call("wait", id="c1"), Call("echo", {"text": "x"}, "c2")])
with agent_of(None, client, gate=gate, conversation=Conversation.kept(gate)) as agent:
    def listen(event):
        if isinstance(event, Progress):
            os.kill(os.getpid(), signal.SIGKILL)
    agent.run("Go.", listen=listen)
"""
    ran = subprocess.run([sys.executable, "-c", killed, str(state)], timeout=60, cwd=os.getcwd())
    assert ran.returncode == -signal.SIGKILL

    gate = opened()
    client = ScriptedClient("Things stand as they do.")
    with agent_of(state, client, gate=gate, conversation=Conversation.kept(gate)) as agent:
        turn = agent.run()

    assert turn.text == "Things stand as they do."
    assert [call_id for call_id, _ in answers(agent.conversation.messages)] == ["c1", "c2"]
    assert check(client.requests[0].body, "anthropic") == []
