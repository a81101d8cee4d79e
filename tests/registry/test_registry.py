import asyncio
import gc
import weakref

import pytest

from headgate import (
    Call,
    DeclarationError,
    Gate,
    Policy,
    PolicyError,
    Registry,
    Tool,
    ToolRule,
    chars,
    tokens,
)
from headgate.testing import lines


def grep(pattern: str) -> str:
    """Finds lines."""
    return f"{pattern}: here"


def log() -> str:
    return lines(2_000)


@pytest.mark.proves("G1")
def test_a_declared_function_stays_what_it_is():
    tools = Registry()

    bare = tools.tool(grep)
    decorated = tools.tool(name="log_file", limit=tokens(500))(log)

    assert (bare, decorated) == (grep, log)
    assert {name: tool.function for name, tool in tools.tools.items()} == {
        "grep": grep,
        "log_file": log,
    }
    assert tools.tools["log_file"].limit == tokens(500)


def test_a_registry_can_be_made_from_functions_and_tools():
    assert list(Registry([grep, Tool.of(log, name="journal")]).tools) == ["grep", "journal"]


def test_the_tools_cannot_be_changed_from_outside():
    with pytest.raises(TypeError):
        Registry().tools["grep"] = Tool.of(grep)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("grep", "there is a tool 'grep' already"),
        ("read_result", "the name 'read_result' is taken"),
    ],
)
def test_a_name_stands_once(name, why):
    with pytest.raises(DeclarationError, match=why):
        Registry([grep]).add(Tool.of(log, name=name))


@pytest.mark.proves("G1")
def test_a_policy_learns_what_tools_declare_and_has_the_last_word():
    tools = Registry()
    tools.tool(exempt=True)(log)
    tools.tool(tool_class="search")(grep)
    start = Policy(tools={"grep": ToolRule(limit=tokens(300)), "other": ToolRule(exempt=True)})

    assert dict(tools.policy().tools) == {
        "log": ToolRule(exempt=True),
        "grep": ToolRule(tool_class="search"),
    }
    assert dict(tools.policy(start).tools) == {
        "log": ToolRule(exempt=True),
        "grep": ToolRule(limit=tokens(300)),
        "other": ToolRule(exempt=True),
    }


@pytest.mark.proves("R5")
def test_a_limit_of_the_policy_holds_over_that_of_the_tool(state):
    tools = Registry([Tool.of(log, limit=tokens(2_000))])
    start = Policy(tools={"log": ToolRule(limit=tokens(300))})

    [result] = tools.run_batch(Gate(tools.policy(start), state=state), [Call("call_1", "log")])

    assert result.verdict.limit == tokens(300)


@pytest.mark.parametrize("options", [{"timeout_s": 0}, {"timeout_s": -1.0}, {"grace_s": -1.0}])
def test_a_registry_without_time_is_refused(options):
    with pytest.raises(DeclarationError, match="tools need time to run"):
        Registry(**options)


def test_a_limit_in_another_unit_than_the_policys_is_refused():
    tools = Registry([Tool.of(log, exempt=True, limit=chars(5_000))])

    with pytest.raises(PolicyError, match="this policy counts in tokens"):
        tools.policy()


def test_a_gate_that_does_not_know_a_tool_is_refused(state):
    tools = Registry([Tool.of(log, exempt=True)])

    with pytest.raises(DeclarationError, match="does not know what 'log' declares"):
        tools.run_batch(Gate(state=state), [])


def test_a_tool_declared_later_must_be_known_to_the_gates_in_use(state):
    tools = Registry([grep])
    gate = Gate(state=state)
    tools.run_batch(gate, [])

    with pytest.raises(DeclarationError, match="does not know what 'log' declares"):
        tools.add(Tool.of(log, exempt=True))
    assert list(tools.tools) == ["grep"]


@pytest.mark.proves("G1")
def test_run_batch_and_arun_batch_do_the_same(state):
    tools = Registry([grep, log])
    calls = [Call("call_1", "grep", {"pattern": "x"}), Call("call_2", "log")]

    sync = tools.run_batch(Gate(state=state, session="a"), calls, question="worker 77")
    on_loop = asyncio.run(
        tools.arun_batch(Gate(state=state, session="b"), calls, question="worker 77")
    )

    assert [result.verdict.sha256 for result in sync] == [
        result.verdict.sha256 for result in on_loop
    ]
    assert sync[0].text == on_loop[0].text == "x: here"
    # What the user asked for is kept in sight.
    assert "worker 77 is fine" in sync[1].text
    assert "worker 77 is fine" in on_loop[1].text


@pytest.mark.proves("K6")
def test_read_result_is_answered_by_the_gate(state):
    tools = Registry([log])
    gate = Gate(state=state)
    [kept] = tools.run_batch(gate, [Call("call_1", "log")])

    asked = {"ref": kept.verdict.ref, "lines": "1500-1501"}
    [read, missing] = tools.run_batch(
        gate, [Call("call_2", "read_result", asked), Call("call_3", "read_result", {"ref": "r_x"})]
    )

    assert read.text.splitlines()[:2] == lines(2_000).splitlines()[1_499:1_501]
    assert (missing.text, missing.is_error) == (
        "no result 'r_x' in this session; it may have expired",
        True,
    )


def test_one_registry_serves_many_sessions(state):
    tools = Registry([log])
    gates = [Gate(state=state, session=name) for name in ("a", "b")]
    [[first], [second]] = [tools.run_batch(gate, [Call("call_1", "log")]) for gate in gates]

    [foreign] = tools.run_batch(
        gates[1], [Call("call_2", "read_result", {"ref": first.verdict.ref})]
    )

    assert first.verdict.ref != second.verdict.ref
    assert foreign.is_error


def test_a_registry_keeps_no_gate_alive(state):
    tools = Registry([grep])
    gate = Gate(state=state)
    tools.run_batch(gate, [Call("call_1", "grep", {"pattern": "x"})])
    watched = weakref.ref(gate)

    del gate
    gc.collect()

    assert watched() is None


def test_a_closed_registry_can_be_used_again(state):
    gate = Gate(state=state)

    async def fetch() -> str:
        return "page"

    with Registry([fetch]) as tools:
        tools.run_batch(gate, [Call("call_1", "fetch")])
    [result] = tools.run_batch(gate, [Call("call_2", "fetch")])
    tools.close()

    assert result.text == "page"


def test_async_tools_of_a_sync_program_share_one_loop(state):
    loops = []

    async def fetch() -> str:
        loops.append(asyncio.get_running_loop())

    gate = Gate(state=state)
    with Registry([fetch]) as tools:
        for number in range(3):
            tools.run_batch(gate, [Call(f"call_{number}", "fetch")])

    assert len(set(loops)) == 1
