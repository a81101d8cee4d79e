import asyncio
import contextvars
import functools
import logging
import subprocess
import sys
import threading
from threading import Barrier, Event

import pytest

from headgate import Call, Context, Gate, Policy, Registry, Text, ToolResult, tokens
from headgate.events import Admitted, CallEnded, CallLeft, Progress
from headgate.testing import lines

WAIT_S = 5

UNKNOWN = (
    "Its outcome is unknown: it may or may not have taken effect. "
    "Do not repeat it blindly; first find out how things stand."
)


def texts(results):
    return [result.text for result in results]


def ended(events):
    return {event.call_id: event.end for event in events if isinstance(event, CallEnded)}


@pytest.mark.proves("G1")
def test_calls_run_together_and_answer_in_call_order(run):
    tools, together = Registry(), Barrier(3)

    @tools.tool
    def thread(name: str) -> str:
        together.wait(WAIT_S)
        return f"thread {name}"

    @tools.tool
    async def task(name: str) -> str:
        await asyncio.to_thread(together.wait, WAIT_S)
        return f"task {name}"

    calls = [
        Call("call_1", "thread", {"name": "a"}),
        Call("call_2", "task", '{"name": "b"}'),
        Call("call_3", "thread", {"name": "c"}),
    ]
    results = run(tools, calls)
    tools.close()

    assert texts(results) == ["thread a", "task b", "thread c"]
    assert [result.call_id for result in results] == ["call_1", "call_2", "call_3"]


@pytest.mark.proves("G1")
def test_the_results_are_let_in_as_one_batch(run, state):
    tools, events = Registry(), []
    gate = Gate(tools.policy(Policy(batch=tokens(3_000))), state=state, hooks=[events.append])

    @tools.tool
    def log(name: str) -> str:
        return lines(500, n7=f"the odd line of {name}")

    results = run(tools, [Call(f"call_{name}", "log", {"name": name}) for name in "abc"], gate=gate)

    [admitted] = [event for event in events if isinstance(event, Admitted)]
    assert [verdict.call_id for verdict in admitted.verdicts] == ["call_a", "call_b", "call_c"]
    assert admitted.spent <= 3_000
    assert [result.verdict.limit for result in results] == [tokens(1_000)] * 3


@pytest.mark.proves("G1")
def test_an_empty_batch_is_nothing(run):
    assert run(Registry(), []) == []


@pytest.mark.proves("G1", "G2")
def test_every_way_to_fail_is_answered_in_words(run, state):
    tools = Registry(grace_s=0.5)
    events, never = [], Event()

    @tools.tool
    def broken(name: str) -> str:
        raise ValueError(f"no {name}")

    @tools.tool
    async def broken_too() -> str:
        raise KeyError("name")

    @tools.tool
    def leaves() -> str:
        raise SystemExit(3)

    @tools.tool(timeout_s=0.05)
    async def hangs() -> str:
        await asyncio.Event().wait()

    @tools.tool(timeout_s=0.05)
    def hangs_too() -> str:
        never.wait()

    gate = Gate(tools.policy(), state=state, hooks=[events.append])
    results = run(
        tools,
        [
            Call("call_1", "broken", {"name": "luck"}),
            Call("call_2", "broken_too"),
            Call("call_3", "leaves"),
            Call("call_4", "hangs"),
            Call("call_5", "hangs_too"),
            Call("call_6", "brokn"),
            Call("call_7", "broken", {"nam": "luck"}),
            Call("call_8", "broken", '{"name": '),
        ],
        gate=gate,
    )
    never.set()
    tools.close()

    assert texts(results) == [
        "broken failed: ValueError: no luck",
        "broken_too failed: KeyError: 'name'",
        "leaves failed: SystemExit: 3",
        f"hangs did not finish within 0.05 s. {UNKNOWN}",
        f"hangs_too did not finish within 0.05 s. {UNKNOWN}",
        "there is no tool 'brokn'; did you mean 'broken'? "
        "There are: broken, broken_too, hangs, hangs_too, leaves, read_result",
        "broken was not run: Object contains unknown field `nam`. It takes name",
        "broken was not run: the arguments are not JSON: Input data was truncated",
    ]
    assert all(result.is_error for result in results)
    assert ended(events) == {
        "call_1": "failed",
        "call_2": "failed",
        "call_3": "failed",
        "call_4": "timed_out",
        "call_5": "timed_out",
        "call_6": "refused",
        "call_7": "refused",
        "call_8": "refused",
    }
    # The one that can be stopped is; the one that cannot is reported.
    assert [event for event in events if isinstance(event, CallLeft)] == [
        CallLeft("call_5", "hangs_too")
    ]


@pytest.mark.proves("R12")
def test_a_rate_limit_is_a_result_to_reason_about(run):
    class TooMany(Exception):
        statusCode = 429  # noqa: N815  # as clients spell it
        headers = {"Retry-After": "30"}  # noqa: RUF012  # as clients have it

    tools = Registry()

    @tools.tool
    async def my_api_tool():
        raise TooMany("Too Many Requests")

    [result] = run(tools, [Call("call_1", "my_api_tool")])

    assert result.text == (
        '{"type":"rate_limited","retryAfterSeconds":30,'
        '"upstream":"my_api_tool","message":"Too Many Requests"}'
    )
    assert result.is_error


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


def lines_of(count: int) -> str:
    return lines(count)


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


def test_a_batch_runs_once(finish, state):
    batch = Registry().batch(Gate(state=state), [])
    finish(batch)

    with pytest.raises(RuntimeError, match="this batch was run already"):
        finish(batch)


@pytest.mark.proves("G1")
def test_what_writes_runs_alone_in_call_order(run):
    tools, order = Registry(), []

    @tools.tool
    def write_file(text: str) -> str:
        order.append(f"begin {text}")
        order.append(f"end {text}")
        return "ok"

    @tools.tool
    async def apply(text: str) -> str:
        order.append(f"begin {text}")
        await asyncio.sleep(0)
        order.append(f"end {text}")
        return "ok"

    run(
        tools,
        [
            Call("call_1", "write_file", {"text": "a"}),
            Call("call_2", "write_file", {"text": "b"}),
            Call("call_3", "apply", {"text": "c"}),
            Call("call_4", "write_file", {"text": "d"}),
        ],
    )
    tools.close()

    assert order == [f"{step} {text}" for text in "abcd" for step in ("begin", "end")]


@pytest.mark.proves("R13")
def test_progress_reaches_who_listens_and_costs_nothing(run, state):
    tools, at_gate, at_batch = Registry(), [], []

    @tools.tool
    def build(context: Context) -> str:
        for step in range(20):
            context.progress(f"step {step} " + "x" * 10_000)
        context.progress("cache is warm", audience="internal")
        return "built"

    gate = Gate(tools.policy(), state=state, hooks=[at_gate.append])
    [result] = run(tools, [Call("call_1", "build")], gate=gate, hooks=[at_batch.append])

    told = [event for event in at_gate if isinstance(event, Progress)]
    assert [event for event in at_batch if isinstance(event, Progress)] == told
    assert len(told) == 21
    assert told[-1] == Progress("call_1", "build", "cache is warm", "internal")
    assert {event.audience for event in told[:-1]} == {"user"}
    [admitted] = [event for event in at_gate if isinstance(event, Admitted)]
    assert (result.text, admitted.spent) == ("built", result.verdict.after.tokens + 4)


@pytest.mark.proves("R13")
def test_a_hook_that_raises_fails_no_call(run, state, caplog):
    tools = Registry()

    @tools.tool
    def build(context: Context) -> str:
        context.progress("half")
        return "built"

    def bad(event):
        raise ZeroDivisionError

    with caplog.at_level(logging.ERROR, "headgate.registry"):
        [result] = run(tools, [Call("call_1", "build")], hooks=[bad])

    assert result.text == "built"
    assert "a hook raised on Progress" in caplog.text


@pytest.mark.proves("R13")
def test_nobody_hears_a_tool_whose_call_was_answered(run, state):
    tools, events, told = Registry(grace_s=0.01), [], Event()

    @tools.tool(timeout_s=0.01)
    def late(context: Context) -> str:
        context.wait(WAIT_S)
        context.progress("still here")
        told.set()

    gate = Gate(tools.policy(), state=state, hooks=[events.append])
    run(tools, [Call("call_1", "late")], gate=gate)

    assert told.wait(WAIT_S)
    assert not [event for event in events if isinstance(event, Progress)]


@pytest.mark.proves("R13")
def test_nobody_hears_what_a_tool_left_behind_when_it_returned(run, state):
    tools, events, kept = Registry(), [], []

    @tools.tool
    def returns(context: Context) -> str:
        kept.append(context)
        return "done"

    gate = Gate(tools.policy(), state=state, hooks=[events.append])
    run(tools, [Call("call_1", "returns")], gate=gate)
    kept[0].progress("still here")

    assert not [event for event in events if isinstance(event, Progress)]
    assert not kept[0].cancelled


@pytest.mark.proves("R9")
def test_a_tool_sees_its_share_and_is_left_alone_under_it(run, state):
    tools, seen = Registry(), {}

    @tools.tool
    def fills(name: str, context: Context) -> str:
        seen[name] = context.share
        words = ["word"] * context.share.count
        return " ".join(words)

    @tools.tool(exempt=True)
    def pours() -> str:
        return lines(3_000)

    gate = Gate(tools.policy(Policy(batch=tokens(1_000))), state=state)
    calls = [Call(f"call_{name}", "fills", {"name": name}) for name in "abc"]
    results = run(tools, [*calls, Call("call_d", "pours")], gate=gate)

    # A quarter of the batch each, less what the wire adds around a result.
    assert seen == {"a": tokens(246), "b": tokens(246), "c": tokens(246)}
    assert [result.verdict.fate for result in results] == ["whole"] * 4
    assert [result.verdict.before.tokens for result in results[:3]] == [246] * 3


@pytest.mark.proves("R9")
def test_a_tools_own_limit_lowers_its_share(run, state):
    tools, seen = Registry(), []

    @tools.tool(limit=tokens(500))
    def small(context: Context) -> str:
        seen.append(context.share)

    @tools.tool(exempt=True)
    def any_size(context: Context) -> str:
        seen.append(context.share)

    run(tools, [Call("call_1", "small")])
    run(tools, [Call("call_2", "any_size")])

    assert seen == [tokens(496), None]


@pytest.mark.proves("G1")
def test_limit_exemption_and_class_of_a_tool_hold_at_the_gate(run):
    tools = Registry()
    text = lines(3_000, n3="\x1b[31mred\x1b[0m")

    for name, options in {
        "limited": {"limit": tokens(300)},
        "exempt": {"exempt": True},
        "slurp": {"tool_class": "read"},
    }.items():
        tools.tool(name=name, **options)(lambda: text)

    results = run(tools, [Call(f"call_{name}", name) for name in ("limited", "exempt")])
    results += run(tools, [Call("call_slurp", "slurp")])

    assert [result.verdict.limit_by for result in results] == [
        "the tool declares 300",
        "exempt: the tool limits itself",
        "exempt: the tool limits itself",
    ]
    assert [result.verdict.limit for result in results] == [tokens(300), None, tokens(25_000)]


def test_variables_of_the_caller_are_seen_by_its_tools(run):
    tools, who = Registry(), contextvars.ContextVar("who", default="nobody")

    @tools.tool
    def thread() -> str:
        return who.get()

    @tools.tool
    async def task() -> str:
        return who.get()

    token = who.set("ada")
    results = run(tools, [Call("call_1", "thread"), Call("call_2", "task")])
    who.reset(token)
    tools.close()

    assert texts(results) == ["ada", "ada"]


def test_what_a_partial_fixes_reaches_the_function(run):
    def search(query: str, key: str) -> str:
        return f"{query} with {key}"

    tools = Registry([functools.partial(search, key="sk-1")])
    calls = [
        Call("call_1", "search", {"query": "x"}),
        Call("call_2", "search", {"query": "x", "key": "sk-2"}),
    ]

    assert texts(run(tools, calls)) == [
        "x with sk-1",
        "search was not run: Object contains unknown field `key`. It takes query",
    ]


def test_a_tool_may_run_a_batch_of_its_own(run, state):
    tools = Registry()

    @tools.tool
    def inner(number: int) -> str:
        return f"inner {number}"

    @tools.tool
    def delegate() -> str:
        calls = [Call(f"inner_{n}", "inner", {"number": n}) for n in range(3)]
        return ", ".join(texts(tools.run_batch(gate, calls)))

    @tools.tool
    async def delegate_too() -> str:
        return ", ".join(texts(await tools.arun_batch(gate, [Call("i", "inner", {"number": 9})])))

    gate = Gate(state=state)
    results = run(tools, [Call("call_1", "delegate"), Call("call_2", "delegate_too")], gate=gate)
    tools.close()

    assert texts(results) == ["inner 0, inner 1, inner 2", "inner 9"]


def test_calls_answered_beforehand_are_not_run_and_notes_stand_above(run):
    tools, ran = Registry(), []

    @tools.tool
    def look(name: str) -> str:
        ran.append(name)
        return f"saw {name}"

    blocked = ToolResult("", "", (Text("Not run: enough."),), is_error=True)
    results = run(
        tools,
        [Call("call_1", "look", {"name": "a"}), Call("call_2", "look", {"name": "b"})],
        answered={"call_1": blocked},
        notes={"call_2": "[guard: again]"},
    )

    assert ran == ["b"]
    assert texts(results) == ["Not run: enough.", "[guard: again]\nsaw b"]
    assert [result.is_error for result in results] == [True, False]
    assert [result.tool for result in results] == ["look", "look"]


def test_a_result_that_cannot_be_read_is_a_failure(run):
    tools = Registry()

    class Odd:
        def model_dump(self, mode):
            raise OSError("gone")

    @tools.tool
    def odd() -> Odd:
        return Odd()

    [result] = run(tools, [Call("call_1", "odd")])

    assert result.text == "odd failed: its result cannot be read: OSError: gone"
    assert result.is_error


@pytest.mark.proves("G2")
def test_a_gate_that_breaks_leaves_no_tool_running(finish, state):
    tools, begun = Registry(), []

    @tools.tool
    async def waits(context: Context) -> str:
        begun.append(context)
        return "done"

    def bad(event):
        if isinstance(event, Admitted):
            raise ZeroDivisionError

    batch = tools.batch(Gate(state=state, hooks=[bad]), [Call("call_1", "waits")])
    with pytest.raises(ZeroDivisionError):
        finish(batch)
    tools.close()

    assert len(begun) == 1


def test_a_failure_can_be_looked_up_with_its_traceback(run, caplog):
    tools = Registry()

    @tools.tool
    def broken() -> str:
        return 1 / 0

    with caplog.at_level(logging.INFO, "headgate.registry"):
        run(tools, [Call("call_1", "broken")])

    assert "broken failed (call_1)" in caplog.text
    assert "return 1 / 0" in caplog.text


@pytest.mark.proves("G2")
def test_nothing_is_left_behind_by_a_batch_but_what_was_reported(run):
    tools = Registry(grace_s=WAIT_S)
    tools._workers._idle_s = 0.01

    @tools.tool(timeout_s=0.01)
    def notices(context: Context) -> str:
        context.wait(WAIT_S)

    @tools.tool(timeout_s=0.01)
    async def is_cancelled() -> str:
        await asyncio.Event().wait()

    before = set(threading.enumerate())
    run(tools, [Call("call_1", "notices"), Call("call_2", "is_cancelled")])
    tools.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(WAIT_S)

    left = set(threading.enumerate()) - before
    assert not [thread.name for thread in left if thread.name.startswith("headgate")]
