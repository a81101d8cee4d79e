import pytest

from headgate import Gate
from headgate.agent import Agent, AnthropicModel
from headgate.check import check
from headgate.events import GuardTripped
from headgate.guard_rules import NO_GUARDS
from headgate.presets import ETHOS
from headgate.registry import Registry, Tool
from headgate.testing import Call as Asks
from headgate.testing import ScriptedClient
from headgate.types import Call
from headgate.watch import Watch
from tests.histories import body

pytestmark = pytest.mark.proves("PRE-ethos")

# "Budget interacts with the per-turn tool-call cap"


def watched(state, tools):
    """What each of these calls of one turn is met with, and what people see."""
    heard = []
    watch = Watch(Gate(ETHOS, state=state, session="s", hooks=[heard.append]))
    watch.begin_turn()
    trips = [watch.ask([Call(f"c{n}", tool, {"n": n})])[0] for n, tool in enumerate(tools, start=1)]
    return [trip and (trip.rule, trip.action) for trip in trips], [
        event for event in heard if isinstance(event, GuardTripped)
    ]


def test_twenty_calls_of_a_turn_are_fine_and_the_21st_trips(state):
    # "A turn with 21 sequential single-tool iterations trips maxToolCallsPerTurn."
    trips, seen = watched(state, [f"tool{n % 5}" for n in range(20)] + ["tool9"])

    assert trips[:20] == [None] * 20
    assert trips[20] == ("calls", "halt")
    # "exits cleanly with a user-visible tool_progress warning"
    assert [(event.rule, event.most) for event in seen] == [("calls", 20)]


def test_a_runaway_loop_ends_cleanly(state):
    # "The framework exits cleanly with a user-visible tool_progress warning."
    tools, heard = Registry(), []
    for number in range(5):

        def look(number: int) -> str:
            return f"file {number}"

        tools.add(Tool.of(look, name=f"look_{number}"))
    script = [Asks(f"look_{n % 5}", {"number": n}) for n in range(21)]
    model = AnthropicModel(ScriptedClient(*script), "claude-opus-5")
    gate = Gate(tools.policy(ETHOS), state=state, session="s", hooks=[heard.append])

    with Agent(model, tools, gate) as agent:
        turn = agent.run("Look at all files.")

    assert (turn.reason, turn.requests) == ("halted", 21)
    assert [event.rule for event in heard if isinstance(event, GuardTripped)] == ["calls"]
    assert not check(body("anthropic", agent.conversation.messages), dialect="anthropic")


def test_more_than_five_calls_of_one_tool_trip_before(state):
    # "the same tool name invoked more than five times in one turn trips a separate guard"
    trips, seen = watched(state, ["tts"] * 6)

    assert trips == [None] * 5 + [("same_tool", "halt")]
    assert seen[0].most == 5


def test_arguments_that_differ_slightly_do_not_fool_the_guard(state):
    # "a tool that the model keeps re-invoking because each call looks slightly different"
    assert watched(state, ["read_file"] * 6)[0][5] == ("same_tool", "halt")


def test_a_new_turn_counts_from_the_start(state):  # "maxToolCallsPerTurn (default 20)"
    watch = Watch(Gate(ETHOS, state=state, session="s"))
    for turn in range(3):
        watch.begin_turn()
        assert watch.ask([Call(f"{turn}{n}", "grep") for n in range(5)]) == [None] * 5


def test_no_other_guard_is_set():
    others = ("in_a_row", "identical", "polling", "same_error", "reads")

    assert all(getattr(ETHOS.guards, name) == getattr(NO_GUARDS, name) for name in others)
