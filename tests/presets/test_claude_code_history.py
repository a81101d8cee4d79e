import json
from pathlib import Path

import pytest

from headgate import chars
from headgate.errors import StoreError
from headgate.presets import CLAUDE_CODE
from headgate.testing import BadStore
from tests.histories import body, results, round_of, user
from tests.presets.claude_code import admitted, fragment, grep

pytestmark = pytest.mark.proves("PRE-claude_code")


# "Message Grouping Complexity"


def prepared(gate, messages, **more):
    outcome = gate.prepare(body("anthropic", messages, model="claude-opus-5"), **more)
    return outcome, json.loads(outcome.body)["messages"]


def shown_in(messages):
    return [
        block["content"]
        for message in messages
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block["type"] == "tool_result"
    ]


def test_fragments_of_one_response_are_one_group(gate_with):
    # "only previously unseen assistant message.ids create new group boundaries"
    messages = user("anthropic", "search")
    for n in range(5):
        messages.append(fragment("A", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 45_000))

    _, sent = prepared(gate_with(CLAUDE_CODE), messages)

    assert sum(map(len, shown_in(sent))) <= 200_000


def test_what_stands_between_two_results_does_not_split_a_group(gate_with):
    # "The code avoids this by only creating groups at assistant messages"
    messages = user("anthropic", "search")
    for n in range(5):
        messages.append(fragment("A", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 45_000))
        messages[-1]["content"].append({"type": "text", "text": f"attachment {n}"})

    _, sent = prepared(gate_with(CLAUDE_CODE), messages)

    assert sum(map(len, shown_in(sent))) <= 200_000


def test_other_responses_are_groups_of_their_own(gate_with):
    messages = user("anthropic", "search")
    for n in range(5):
        messages.append(fragment(f"A{n}", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 45_000))

    _, sent = prepared(gate_with(CLAUDE_CODE), messages)

    assert list(map(len, shown_in(sent))) == [45_000] * 5


# "Budget Enforcement and State Freezing"


def test_what_was_seen_whole_stays_whole(gate_with):
    # "frozen: Previously seen but not replaced results — can no longer be replaced"
    gate = gate_with(CLAUDE_CODE)
    first = user("anthropic", "go") + round_of("anthropic", 1, "x" * 49_000)
    prepared(gate, first)
    tight = gate_with(CLAUDE_CODE.replace(result=chars(5_000), batch=chars(5_000)))

    outcome, sent = prepared(tight, first)

    assert shown_in(sent) == ["x" * 49_000]
    assert outcome.states == ("frozen",)


def test_what_was_replaced_is_replaced_by_the_same_bytes_without_io(gate_with):
    # "mustReapply: ... re-apply it identically — zero I/O, byte-level consistency"
    gate = gate_with(CLAUDE_CODE)
    history = user("anthropic", "go") + round_of("anthropic", 1, "x" * 60_000)
    _, first = prepared(gate, history)
    path = Path(shown_in(first)[0].split("\n")[2])
    path.unlink()

    outcome, second = prepared(gate, history + user("anthropic", "and now?"))

    assert shown_in(second) == shown_in(first)
    assert outcome.states == ("replaced",)
    assert not path.exists()


def test_the_state_survives_a_resume(gate_with):
    # "the state must survive across session resumes"
    history = user("anthropic", "go") + round_of("anthropic", 1, "x" * 60_000, "y" * 40_000)
    _, first = prepared(gate_with(CLAUDE_CODE), history)

    outcome, resumed = prepared(gate_with(CLAUDE_CODE.replace(result=chars(900))), history)

    assert shown_in(resumed) == shown_in(first)
    assert outcome.states == ("replaced", "frozen")


def test_frozen_results_over_the_budget_are_accepted_and_reported(gate_with):
    # "If frozen results alone exceed the budget, accept the overage"
    gate = gate_with(CLAUDE_CODE)
    messages = user("anthropic", "go")
    for n in range(4):
        messages.append(fragment("A", (f"t{n}", "Grep", {"n": n})))
        messages += results("anthropic", (f"t{n}", "Grep", "x" * 49_000))
    prepared(gate, messages)
    tight = gate_with(CLAUDE_CODE.replace(batch=chars(100_000)))
    messages.append(fragment("A", ("t5", "Grep", {"n": 5})))
    messages += results("anthropic", ("t5", "Grep", "y" * 40_000))

    outcome, sent = prepared(tight, messages)

    assert [len(text) for text in shown_in(sent)[:4]] == [49_000] * 4
    assert shown_in(sent)[4].startswith("<persisted-output>")
    assert outcome.over_budget > 90_000


# "State Marking Timing"


class Deaf(BadStore):
    """A store that forgets what it is told to keep."""

    def writer(self, **_):
        raise StoreError("no")


def test_a_replacement_is_recorded_only_after_its_file_is_written(gate_with):
    # "candidates selected for persistence are only marked after await persistToolResult()"
    gate = gate_with(CLAUDE_CODE, store=Deaf())

    [shown] = admitted(gate, grep(60_000))

    assert (shown.text, shown.verdict.fate) == ("x" * 60_000, "whole")
