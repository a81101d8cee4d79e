"""Lines of "Why is there an 80k tool result budget?" that speak of running tools, one by one."""

import asyncio
from threading import Barrier

import pytest

from headgate import Call, Context, Gate, Policy, Registry, chars
from headgate.events import Progress
from headgate.presets import ETHOS

WAIT_S = 5


def batch_of(tool, count, **arguments):
    return [Call(f"call_{n}", tool, arguments) for n in range(count)]


def gate_for(tools, state, policy=ETHOS, **options):
    return Gate(tools.policy(policy), state=state, **options)


@pytest.mark.proves("G1")
def test_three_files_are_read_at_the_same_time(run, state):
    # "read these three files in parallel" — executeParallel "runs them concurrently"
    tools, together = Registry(), Barrier(3)

    @tools.tool
    def read(path: str) -> str:
        together.wait(WAIT_S)
        return path

    calls = [Call(f"call_{name}", "read", {"path": name}) for name in "abc"]
    results = run(tools, calls, gate=gate_for(tools, state))

    assert [result.text for result in results] == ["a", "b", "c"]


@pytest.mark.proves("G1", "R9")
@pytest.mark.parametrize(("calls", "share"), [(1, 80_000), (3, 26_666), (5, 16_000)])
def test_the_budget_is_split_over_the_calls_of_a_batch(run, state, calls, share):
    # "Three parallel calls get 80_000 / 3 = 26,666 characters each. Five ... 16,000 each."
    # "a single tool call in one turn gets the full 80k"
    tools, told = Registry(), []

    @tools.tool
    def terminal(context: Context) -> str:
        told.append(context.share)
        return "x" * 100_000

    results = run(tools, batch_of("terminal", calls), gate=gate_for(tools, state))

    assert told == [chars(share)] * calls
    assert [len(result.text) for result in results] == [share] * calls


@pytest.mark.proves("G1")
def test_a_tool_may_declare_a_lower_limit_but_no_higher_one(run, state):
    # "Tools can declare a lower maxResultChars to opt into stricter limits per call."
    # "The per-call budget is a ceiling."
    tools = Registry()
    tools.tool(name="small", limit=chars(10_000))(lambda: "x" * 50_000)
    tools.tool(name="greedy", limit=chars(70_000))(lambda: "x" * 75_000)

    calls = [Call("call_1", "small"), Call("call_2", "greedy")]
    results = run(tools, calls, gate=gate_for(tools, state))

    assert [len(result.text) for result in results] == [10_000, 40_000]


@pytest.mark.proves("G1")
def test_tools_return_raw_strings_and_all_get_the_same_marker(run, state):
    # "Tools return raw strings; the registry applies the same trim and the same marker shape."
    tools = Registry()
    tools.tool(name="terminal")(lambda: "x" * 45_231)

    @tools.tool
    async def web_extract() -> str:
        return "x" * 45_231

    calls = [Call("call_1", "terminal"), Call("call_2", "web_extract")]
    results = run(tools, calls, gate=gate_for(tools, state))
    tools.close()

    marker = "\n[truncated — 45,231 chars total]"
    assert [result.text for result in results] == ["x" * (40_000 - len(marker)) + marker] * 2


@pytest.mark.proves("R9")
def test_a_tool_that_trims_to_its_share_is_left_alone(run, state):
    # "if a tool's pre-trim brings the output under the budget, the framework leaves it alone"
    tools = Registry()

    @tools.tool
    def web_extract(context: Context) -> str:
        article = "a paragraph\n" * 20_000
        return article[: context.share.count].rpartition("\n")[0]

    results = run(tools, batch_of("web_extract", 3), gate=gate_for(tools, state))

    assert [result.verdict.fate for result in results] == ["whole"] * 3
    assert {result.text[-11:] for result in results} == {"a paragraph"}


@pytest.mark.proves("R9")
def test_a_tool_that_ignores_its_share_is_trimmed(run, state):
    # "If the tool ignores the budget or produces output that still exceeds it, the post-trim runs."
    tools = Registry()
    tools.tool(name="terminal")(lambda: "x" * 30_000)

    results = run(tools, batch_of("terminal", 4), gate=gate_for(tools, state))

    # "Four parallel reads of 30k files each — every result truncates at 20k."
    assert [len(result.text) for result in results] == [20_000] * 4


@pytest.mark.proves("R12")
def test_a_failure_is_not_trimmed(run, state):
    # "if (result.ok && result.value.length > budget)"
    tools = Registry()

    @tools.tool
    def terminal() -> str:
        raise RuntimeError("x" * 90_000)

    [result] = run(tools, [Call("call_1", "terminal")], gate=gate_for(tools, state))

    assert result.is_error
    assert result.text == "terminal failed: RuntimeError: " + "x" * 90_000


@pytest.mark.proves("G1")
def test_each_batch_has_a_fresh_budget(run, state):
    # "Each iteration's executeParallel is a fresh budget"
    tools = Registry()
    tools.tool(name="terminal")(lambda number: "x" * (90_000 + number))
    gate = gate_for(tools, state)

    lengths = [
        len(result.text)
        for batch in (range(3), range(3, 5))
        for result in run(
            tools, [Call(f"call_{n}", "terminal", {"number": n}) for n in batch], gate=gate
        )
    ]

    assert lengths == [26_666] * 3 + [40_000] * 2


@pytest.mark.proves("R13")
def test_twenty_chips_of_progress_leave_the_whole_budget_to_the_result(run, state):
    # "A long-running bash command emits twenty progress chips during execution; the final
    # tool_result is one bounded string." "The chips inform the user (or stay internal)"
    tools, heard = Registry(), []

    @tools.tool
    async def bash(context: Context) -> str:
        for number in range(20):
            context.progress(f"chip {number}", audience="internal" if number % 2 else "user")
            await asyncio.sleep(0)
        return "x" * 80_000

    gate = gate_for(tools, state, hooks=[heard.append])
    results = run(tools, [Call("call_1", "bash")], gate=gate)
    tools.close()

    chips = [event for event in heard if isinstance(event, Progress)]
    assert [chip.message for chip in chips] == [f"chip {number}" for number in range(20)]
    assert {(chip.tool, chip.audience) for chip in chips} == {
        ("bash", "user"),
        ("bash", "internal"),
    }
    assert [result.text for result in results] == ["x" * 80_000]


@pytest.mark.proves("G1")
def test_another_budget_is_one_argument(run, state):
    # "The override is one constructor argument."
    tools, told = Registry(), []

    @tools.tool
    def terminal(context: Context) -> str:
        told.append(context.share)

    small: Policy = ETHOS.replace(batch=chars(8_000))
    run(tools, batch_of("terminal", 2), gate=gate_for(tools, state, small))

    assert told == [chars(4_000)] * 2


@pytest.mark.proves("G1")
def test_one_call_has_one_result(run, state):
    # "a single tool_use block expects a single tool_result block"
    tools = Registry()
    tools.tool(name="terminal")(lambda: "ok")
    calls = [Call("call_1", "terminal"), Call("call_2", "gone"), Call("call_3", "terminal", "{")]

    results = run(tools, calls, gate=gate_for(tools, state))

    assert [result.call_id for result in results] == ["call_1", "call_2", "call_3"]
