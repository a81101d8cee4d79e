"""What the first of the documents says about loops; each test quotes the words it stands for."""

import json

import pytest

from headgate import Gate, Policy, chars
from headgate.agent import Agent, AnthropicModel, Called
from headgate.check import check
from headgate.events import GuardTripped, Progress
from headgate.guard_rules import GuardRule, Guards
from headgate.registry import Context, Registry
from headgate.testing import Call, ScriptedClient, lines
from tests.agent.talking import answers

POLICY = Policy(
    result=chars(80_000),
    batch=chars(80_000),
    sharing="even",
    classes={},
    repeats=False,
    block_overhead=0,
    guards=Guards(calls=GuardRule(halt=20), same_tool=GuardRule(halt=5)),
)
LOOSE = POLICY.replace(guards=Guards(calls=GuardRule(halt=20)))


def tools(names=("read",), count=20):
    registry = Registry()
    for name in names:
        registry.tool(lambda n: lines(count, n3=f"{n}"), name=name, description="Reads.")
    return registry


def turn_of(state, client, policy=POLICY, registry=None):
    gate = Gate(policy, state=state, session="s")
    with Agent(
        AnthropicModel(client, "claude-opus-5-5"), registry or tools(), gate, window_tokens=10**9
    ) as agent:
        events = list(agent.stream("Go."))
    return events, agent.conversation.messages


def drifting(count, tool="read"):
    """One call after another, each slightly different."""
    return [Call(tool, {"n": n}) for n in range(count)]


@pytest.mark.proves("G3")
def test_twenty_sequential_iterations_are_fine(state):
    """A turn with 20 sequential single-tool iterations is fine."""
    client = ScriptedClient(*drifting(20), "Found it.")

    events, _ = turn_of(state, client, LOOSE)

    assert (events[-1].text, events[-1].reason, events[-1].calls) == ("Found it.", "end", 20)


@pytest.mark.proves("G3")
def test_the_twenty_first_trips_and_exits_cleanly_with_a_visible_warning(state):
    """21 sequential ... trips ... exits cleanly with a user-visible ... warning."""
    client = ScriptedClient(*drifting(21), "Not reached.")

    events, messages = turn_of(state, client, LOOSE)

    [warning] = [event for event in events if isinstance(event, GuardTripped)]
    assert (warning.rule, warning.action, warning.count, warning.most) == ("calls", "halt", 21, 20)
    assert events[-1].reason == "halted"
    assert len(answers(messages)) == 21
    assert check(json.dumps(messages).encode(), "anthropic") == []


@pytest.mark.proves("G3")
def test_the_cap_is_across_all_iterations_not_per_iteration(state):
    """Not "20 tools per iteration"."""
    seven = [[Call("read", {"n": 7 * batch + n}) for n in range(7)] for batch in range(3)]
    client = ScriptedClient(*seven, "Not reached.")

    events, messages = turn_of(state, client, LOOSE)

    told = [text for _, text in answers(messages)]
    assert events[-1].reason == "halted"
    assert [text.startswith("Not run") for text in told] == [False] * 20 + [True]


@pytest.mark.proves("G3")
def test_more_than_five_of_the_same_tool_trip_a_separate_guard(state):
    """The same tool name invoked more than five times in one turn trips a separate guard."""
    client = ScriptedClient(*drifting(6, "tts"), "Not reached.")

    events, _ = turn_of(state, client, registry=tools(["tts"]))

    [warning] = [event for event in events if isinstance(event, GuardTripped)]
    assert (warning.rule, warning.tool, warning.count) == ("same_tool", "tts", 6)


@pytest.mark.proves("G3")
def test_the_guard_of_one_tool_catches_it_before_that_of_all_calls(state):
    """Catches it before the per-turn cap does."""
    client = ScriptedClient(*drifting(30, "tts"), "Not reached.")

    events, _ = turn_of(state, client, registry=tools(["tts"]))

    assert events[-1].calls == 6


@pytest.mark.proves("G3")
def test_the_two_caps_are_independent(state):
    """Independent of maxIdenticalToolCalls: five of each of four tools are twenty calls."""
    names = ["a", "b", "c", "d"]
    client = ScriptedClient(*[call for name in names for call in drifting(5, name)], "Done.")

    events, _ = turn_of(state, client, registry=tools(names))

    assert (events[-1].reason, events[-1].calls) == ("end", 20)
    assert not [event for event in events if isinstance(event, GuardTripped)]


@pytest.mark.proves("G3")
def test_the_next_turn_of_the_user_begins_anew(state):
    """Across all LLM iterations in one user turn."""
    client = ScriptedClient(*drifting(5), "One.", *drifting(5), "Two.")
    gate = Gate(POLICY, state=state, session="s")
    with Agent(AnthropicModel(client, "claude-opus-5-5"), tools(), gate) as agent:
        assert agent.run("Go.").text == "One."
        assert agent.run("Again.").text == "Two."


@pytest.mark.proves("R7")
def test_each_iteration_has_a_fresh_budget(state):
    """80k + 80k = 160k characters of tool output across two iterations."""
    three = [Call("read", {"n": n}) for n in range(3)]
    two = [Call("read", {"n": n}) for n in range(3, 5)]
    client = ScriptedClient(three, two, "Done.")

    _, messages = turn_of(state, client, LOOSE, tools(count=6_000))

    sizes = [len(text) for _, text in answers(messages)]
    assert [size > 0.9 * 26_666 and size <= 26_666 for size in sizes[:3]] == [True] * 3
    assert [size > 0.9 * 40_000 and size <= 40_000 for size in sizes[3:]] == [True] * 2


@pytest.mark.proves("R7")
def test_twenty_full_batches_are_a_million_and_a_half_characters(state):
    """Each gets a fresh 80k budget; total is 1.6MB across the turn."""
    client = ScriptedClient(*drifting(20), "Done.", window_tokens=10**9)

    _, messages = turn_of(state, client, LOOSE, tools(count=3_000))

    sizes = [len(text) for _, text in answers(messages)]
    assert max(sizes) <= 80_000
    assert 0.9 * 1_600_000 < sum(sizes) <= 1_600_000


@pytest.mark.proves("R13")
def test_progress_is_streamed_and_no_part_of_the_result(state):
    """Twenty progress chips during execution; the final tool_result is one bounded string."""
    registry = Registry()

    @registry.tool
    def bash(context: Context) -> str:
        """Run."""
        for number in range(20):
            context.progress(f"chip {number}", audience="user" if number % 2 else "internal")
        return "built"

    events, messages = turn_of(state, ScriptedClient(Call("bash"), "Done."), registry=registry)

    chips = [event for event in events if isinstance(event, Progress)]
    assert [chip.message for chip in chips] == [f"chip {number}" for number in range(20)]
    assert {chip.audience for chip in chips} == {"user", "internal"}
    assert [text for _, text in answers(messages)] == ["built"]


def test_the_model_need_not_know_the_number(state):
    """It produces tool calls and the framework allocates the budget."""
    client = ScriptedClient([Call("read", {"n": n}) for n in range(3)], "Done.")

    events, _ = turn_of(state, client)

    [called] = [event for event in events if isinstance(event, Called)]
    assert len(called.calls) == 3
    assert "26" not in json.dumps(client.requests[0].json["tools"])


@pytest.mark.proves("R5", "G5")
def test_a_sub_agent_costs_its_parent_no_more_than_the_cap(state):
    """A sub-agent's final text. A 20k cap keeps coordination costs bounded."""
    registry = Registry()
    inner = ScriptedClient(*drifting(3), lines(900), seed="inner")

    @registry.tool(limit=chars(20_000))
    def delegate_task(task: str) -> str:
        """Let another agent do it."""
        gate = Gate(LOOSE, state=state, session="inner")
        with Agent(AnthropicModel(inner, "claude-opus-5-5"), tools(), gate) as agent:
            return agent.run(task).text

    outer = ScriptedClient(Call("delegate_task", {"task": "Read all."}), "It is fine.")
    policy = registry.policy(POLICY)
    gate = Gate(policy, state=state, session="outer")
    with Agent(AnthropicModel(outer, "claude-opus-5-5"), registry, gate) as agent:
        turn = agent.run("Go.")

    [(_, told)] = answers(agent.conversation.messages)
    assert (turn.text, turn.calls) == ("It is fine.", 1)
    assert len(lines(900)) > 29_000
    assert 0.9 * 20_000 < len(told) <= 20_000
    assert len(inner.requests) == 4
