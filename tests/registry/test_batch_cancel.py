import asyncio
import subprocess
import sys
from threading import Event

import pytest

from headgate import Call, Context, Gate, Registry
from headgate.events import CallEnded, CallLeft
from headgate.testing import lines
from tests.registry.running import UNKNOWN, WAIT_S, texts


def lines_of(count: int) -> str:
    return lines(count)


@pytest.mark.proves("G2")
def test_cancelling_a_batch_answers_what_ran_and_what_did_not(finish, state):
    tools, events = Registry(grace_s=WAIT_S), []
    over, running = Event(), Event()

    @tools.tool
    def quick() -> str:
        return "done"

    @tools.tool
    def notices(context: Context) -> str:
        assert over.wait(WAIT_S)
        assert running.wait(WAIT_S)
        batch.cancel("the user left")
        assert context.wait(WAIT_S)
        assert context.cancelled
        return "too late"

    @tools.tool
    async def cleans_up() -> str:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            events.append("cleaned up")

    @tools.tool(alone=True)
    def never_starts() -> str:
        events.append("started")

    def watch(event):
        events.append(event)
        if isinstance(event, CallEnded) and event.tool == "quick":
            over.set()

    names = ("quick", "cleans_up", "notices", "never_starts")
    gate = Gate(tools.policy(), state=state, hooks=[watch])
    batch = tools.batch(gate, [Call(f"call_{name}", name) for name in names])
    results = finish(batch)
    tools.close()

    assert texts(results) == [
        "done",
        f"cleans_up was cancelled (the user left) while it ran. {UNKNOWN}",
        f"notices was cancelled (the user left) while it ran. {UNKNOWN}",
        "never_starts was not run: the batch was cancelled (the user left).",
    ]
    assert results == batch.results
    assert "cleaned up" in events
    assert "started" not in events
    assert not [event for event in events if isinstance(event, CallLeft)]


@pytest.mark.proves("G2")
def test_a_batch_cancelled_before_it_runs_runs_nothing(finish, state):
    tools = Registry([lines_of])
    batch = tools.batch(Gate(state=state), [Call("call_1", "lines_of", {"count": 3})])
    batch.cancel()

    assert texts(finish(batch)) == ["lines_of was not run: the batch was cancelled."]


@pytest.mark.proves("G2")
def test_an_async_tool_that_is_cancelled_before_its_first_step_is_not_left(state):
    tools, events, release = Registry(grace_s=WAIT_S), [], Event()

    @tools.tool
    async def behind() -> str:
        events.append("begun")

    @tools.tool
    def cancels(context: Context) -> str:
        batch.cancel("enough")
        assert context.wait(WAIT_S)
        release.set()

    gate = Gate(state=state, hooks=[events.append])
    batch = tools.batch(gate, [Call("call_1", "behind"), Call("call_2", "cancels")])
    # Until it is released, the loop begins nothing.
    tools._loop.loop().call_soon_threadsafe(release.wait, WAIT_S)
    results = batch.run()
    tools.close()

    assert texts(results)[0] == f"behind was cancelled (enough) while it ran. {UNKNOWN}"
    assert "begun" not in events
    assert not [event for event in events if isinstance(event, CallLeft)]


@pytest.mark.proves("G2", "S7")
def test_a_task_cancelled_while_it_looks_for_a_page_answers_every_call(state):
    tools, looking, go_on = Registry([lines_of]), Event(), Event()

    class Slow(Gate):
        def read(self, *arguments, **options):
            looking.set()
            go_on.wait(WAIT_S)
            return super().read(*arguments, **options)

    async def main():
        task = asyncio.create_task(batch.arun())
        assert await asyncio.to_thread(looking.wait, WAIT_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    gate = Slow(state=state)
    tools.run_batch(gate, [Call("call_1", "lines_of", {"count": 3_000})])
    batch = tools.batch(gate, [Call("call_2", "lines_of", {"count": 3_000, "page": 2})])
    asyncio.run(main())

    assert texts(batch.results) == ["lines_of was not run: the batch was cancelled."]


@pytest.mark.proves("G2")
def test_a_cancelled_task_ends_cancelled_with_every_call_answered(state):
    tools, begun = Registry(), []

    @tools.tool
    async def waits() -> str:
        begun.append(asyncio.current_task())
        running.set()
        await asyncio.Event().wait()

    @tools.tool
    def quick() -> str:
        return "done"

    async def main():
        nonlocal running
        running = asyncio.Event()
        task = asyncio.create_task(batch.arun())
        await asyncio.wait_for(running.wait(), WAIT_S)
        while not over:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return begun[0].done()

    running, over = None, []
    calls = [Call("call_1", "waits"), Call("call_2", "quick")]
    gate = Gate(state=state, hooks=[lambda event: over.append(event)])
    batch = tools.batch(gate, calls)

    assert asyncio.run(main())
    assert texts(batch.results) == [
        f"waits was cancelled (cancelled) while it ran. {UNKNOWN}",
        "done",
    ]


@pytest.mark.proves("G2")
def test_a_time_limit_of_the_caller_is_kept_and_every_call_answered(state):
    tools = Registry()

    @tools.tool
    async def waits() -> str:
        await asyncio.Event().wait()

    async def main():
        async with asyncio.timeout(0.01):
            await batch.arun()

    batch = tools.batch(Gate(state=state), [Call("call_1", "waits")])
    with pytest.raises(TimeoutError):
        asyncio.run(main())

    assert texts(batch.results) == [f"waits was cancelled (cancelled) while it ran. {UNKNOWN}"]


@pytest.mark.proves("G2")
def test_a_task_cancelled_twice_waits_for_nobody(state):
    tools, events = Registry(grace_s=WAIT_S), []

    @tools.tool
    async def stubborn() -> str:
        for _ in range(2):
            try:
                running.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                refused.set()
        return "at last"

    async def main():
        nonlocal running, refused
        running, refused = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(batch.arun())
        await asyncio.wait_for(running.wait(), WAIT_S)
        task.cancel()
        await asyncio.wait_for(refused.wait(), WAIT_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    running = refused = None
    gate = Gate(state=state, hooks=[events.append])
    batch = tools.batch(gate, [Call("call_1", "stubborn")])
    asyncio.run(main())

    assert texts(batch.results) == [f"stubborn was cancelled (cancelled) while it ran. {UNKNOWN}"]
    assert CallLeft("call_1", "stubborn") in events


INTERRUPTED = """
import os, signal, sys, threading
from headgate import Call, Gate, Registry

signal.signal(signal.SIGINT, signal.default_int_handler)
tools = Registry()

@tools.tool
def quick() -> str:
    return "done"

@tools.tool
def slow() -> str:
    assert over.wait(5)
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()

over = threading.Event()

def watch(event):
    if getattr(event, "tool", "") == "quick":
        over.set()

gate = Gate(state=sys.argv[1], hooks=[watch])
batch = tools.batch(gate, [Call("call_1", "quick"), Call("call_2", "slow")])
try:
    batch.run()
except KeyboardInterrupt:
    print("\\n".join(result.text for result in batch.results))
"""


@pytest.mark.proves("G2")
def test_an_interrupted_program_has_every_call_answered_and_can_end(state):
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(state)],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"done\nslow was cancelled (interrupted) while it ran. {UNKNOWN}\n"
