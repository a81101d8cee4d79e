import logging
from threading import Event

import pytest

from headgate import Call, Context, Gate, Policy, Registry, tokens
from headgate.events import Admitted, Progress
from headgate.testing import lines
from tests.registry.running import WAIT_S


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
