import asyncio
import contextvars
import functools
import logging
import threading
from threading import Barrier, Event

import pytest

from headgate import Call, Context, Gate, Policy, Registry, Text, ToolResult, tokens
from headgate.events import Admitted, CallLeft
from headgate.testing import lines
from tests.registry.running import UNKNOWN, WAIT_S, ended, texts


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
