import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from headgate.agent import Conversation, blocking
from headgate.testing import ScriptedClient
from tests.agent.talking import agent_of, answers, violations
from tests.faults import at_most


def test_an_agent_has_one_loop_for_all_of_its_turns(state):
    loops = []
    client = ScriptedClient("One.", "Two.")
    with agent_of(state, client) as agent:
        for _ in range(2):
            agent.run("Go.", listen=lambda event: loops.append(asyncio.get_running_loop()))

    assert len(set(map(id, loops))) == 1
    assert loops[0].is_closed()


def test_an_agent_that_was_closed_can_be_used_again(state):
    agent = agent_of(state, ScriptedClient("One.", "Two."))
    agent.run("Go.")
    agent.close()

    assert agent.run("Go on.").text == "Two."
    agent.close()


def test_inside_of_a_loop_the_way_out_is_named(state):
    with agent_of(state, ScriptedClient("One.")) as agent:

        async def main():
            with pytest.raises(RuntimeError, match="use AsyncAgent on it"):
                agent.run("Go.")

        asyncio.run(main())


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(
    "child_does",
    [
        lambda agents: agents[0].close(),
        list.clear,
        lambda agents: agents[0]._runner.get_loop().close(),
        lambda agents: agents[0].run("Go on."),
    ],
    ids=["close", "drop", "end", "run"],
)
def test_an_agent_goes_on_whatever_a_forked_child_does_with_it(child_does, state):
    agents = [agent_of(state, ScriptedClient("One.", "Two."))]
    agents[0].run("Go.")
    child = os.fork()
    if not child:
        status = 1
        try:
            with at_most(5):
                child_does(agents)
                gc.collect()
            status = 0
        finally:
            os._exit(status)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with at_most(5), agents[0] as agent:
        assert agent.run("Go on.").text == "Two."


@pytest.mark.parametrize("lets_go", [lambda agents: agents[0].close(), list.clear])
def test_an_agent_that_is_let_go_of_inside_of_a_loop_closes_its_own(lets_go, state, recwarn):
    loops = []
    agents = [agent_of(state, ScriptedClient("One."))]
    agents[0].run("Go.", listen=lambda event: loops.append(asyncio.get_running_loop()))

    async def main():
        lets_go(agents)
        gc.collect()

    asyncio.run(main())

    for thread in threading.enumerate():
        if thread.name == "headgate-agent-close":
            thread.join()
    assert loops[0].is_closed()
    assert [str(warning.message) for warning in recwarn] == []


def test_an_agent_may_be_let_go_of_in_a_thread_that_its_loop_waits_for(state):
    agents = [agent_of(state, ScriptedClient("One."))]
    agents[0].run("Go.")
    loop = agents[0]._runner.get_loop()
    done = threading.Event()

    def let_go():
        agents.clear()
        gc.collect()
        done.set()

    loop.run_in_executor(None, let_go)

    assert done.wait(5)
    for thread in threading.enumerate():
        if thread.name == "headgate-agent-close":
            thread.join()
    assert loop.is_closed()


def test_cancelling_when_nothing_runs_changes_nothing(state):
    with agent_of(state, ScriptedClient("One.")) as agent:
        agent.cancel()

        assert agent.run("Go.").reason == "end"


def test_an_error_comes_out_of_a_stream(state):
    client = ScriptedClient(answer=lambda request: 1 / 0)
    with agent_of(state, client) as agent, pytest.raises(ZeroDivisionError):
        list(agent.stream("Go."))


@pytest.mark.proves("G2")
def test_ctrl_c_in_the_middle_of_a_batch_answers_every_call(state):
    interrupted = """
import os, signal, sys
from pathlib import Path
from headgate import Gate
from headgate.agent import Conversation
from headgate.events import Progress
from headgate.testing import Call, ScriptedClient
from tests.agent.talking import agent_of

gate = Gate(state=Path(sys.argv[1]), session="s")
client = ScriptedClient([Call("wait", id="c1"), Call("wait", id="c2")])
with agent_of(None, client, gate=gate, conversation=Conversation.kept(gate)) as agent:
    def listen(event):
        if isinstance(event, Progress):
            os.kill(os.getpid(), signal.SIGINT)
    try:
        agent.run("Go.", listen=listen)
    except KeyboardInterrupt:
        print("interrupted")
"""
    ran = subprocess.run(
        [sys.executable, "-c", interrupted, str(state)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=os.getcwd(),
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("interrupted\n", "", 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    client = ScriptedClient("On.")
    with agent_of(state, client) as agent:
        kept = Conversation.kept(agent._agent.gate)
    assert [call_id for call_id, _ in answers(kept.messages)] == ["c1", "c2"]
    with agent_of(state, client, conversation=kept) as agent:
        agent.run("Go on.")
    assert violations(agent) == []


@pytest.mark.proves("G2")
def test_what_does_not_clean_up_keeps_no_interpreter_from_ending(monkeypatch):
    monkeypatch.setattr(blocking, "CLOSING_S", 0.01)

    async def stays():
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()

    async def begin():
        task = asyncio.create_task(stays())
        await asyncio.sleep(0)
        return task, asyncio.get_running_loop()

    over = asyncio.Event()
    runner = asyncio.Runner()
    task, loop = runner.run(begin())
    blocking._close_soon(runner)

    assert loop.is_closed()
    assert not task.done()
    task._log_destroy_pending = False
