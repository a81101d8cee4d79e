from pathlib import Path

import pytest

from headgate import chars
from headgate.history.mending import INTERRUPTED
from headgate.marker import content_of
from headgate.policy_file import policy_from_environment
from headgate.presets import CHATCLI
from tests.histories import body, calls, results, user
from tests.presets.chatcli import sent

pytestmark = pytest.mark.proves("PRE-chatcli")


# "Progressive Microcompaction"


def conversation(turns_since, text, tool="@read"):
    """A result, and how often the user has spoken since."""
    messages = user("anthropic", "go") + calls("anthropic", ("t1", tool, {}))
    messages += results("anthropic", ("t1", tool, text))
    for turn in range(turns_since):
        messages.append({"role": "assistant", "content": f"answer {turn}"})
        messages += user("anthropic", f"question {turn}")
    return messages


OLD = "".join(f"line {n:04} of an old result\n" for n in range(450))


@pytest.mark.parametrize("turns", [0, 1])
def test_results_of_this_turn_and_the_one_before_are_untouched(gate_with, turns):
    # "Current and previous turn | No change | Results preserved in full"
    assert sent(gate_with(CHATCLI), conversation(turns, OLD))["t1"] == OLD


@pytest.mark.parametrize("turns", [2, 3])
def test_after_two_turns_the_ends_are_left(gate_with, turns):
    # "2+ turns ago | Truncated | Head (2,000 chars) + tail (500 chars)"
    gate = gate_with(CHATCLI)

    aged = sent(gate, conversation(turns, OLD))["t1"]

    missing = len(OLD) - 2_500
    assert aged.startswith(f"{OLD[:2_000]}\n[TRUNCATED {missing} chars omitted, 2500 kept]\n")
    assert aged.endswith(f"]\n{OLD[-500:]}")
    path = Path(aged.split("[full output saved to ")[1].partition("]")[0])
    assert path.read_text() == OLD


@pytest.mark.parametrize("turns", [4, 7])
def test_after_four_turns_one_line_is_left(gate_with, turns):
    # "4+ turns ago | Summarized | One-line description"
    aged = sent(gate_with(CHATCLI), conversation(turns, OLD))["t1"]

    assert aged == "[Old tool result cleared -- 450 lines, 12K chars, text]"


def test_the_line_is_the_one_of_the_document(gate_with):
    # "[Old tool result cleared -- 450 lines, 28K chars, Go source]"
    source = "package main\n" + "".join(f"// {'x' * 56} {n:03}\n" for n in range(449))
    roomy = CHATCLI.replace(result=chars(30_000))

    aged = sent(gate_with(roomy), conversation(4, source))["t1"]

    assert aged == "[Old tool result cleared -- 450 lines, 28K chars, Go source]"


def test_a_result_goes_down_step_by_step_as_the_conversation_advances(gate_with):
    # "progressively reduces the size of old tool results as the conversation advances"
    gate = gate_with(CHATCLI)

    seen = [sent(gate, conversation(turns, OLD))["t1"] for turns in range(6)]

    assert [len(text) for text in seen[:2]] == [len(OLD)] * 2
    assert seen[2] == seen[3]
    assert len(seen[2]) < 3_000
    assert seen[4] == seen[5] == "[Old tool result cleared -- 450 lines, 12K chars, text]"


def test_each_step_down_says_why_and_says_it_once(gate_with):
    gate = gate_with(CHATCLI)

    for turns in range(5):
        sent(gate, conversation(turns, OLD))

    moves = [verdict for epoch in gate.ledger.epochs() for verdict in epoch.moves.values()]
    assert [(verdict.fate, verdict.reason) for verdict in moves] == [
        ("spilled", "old: fits"),
        ("cleared", "old: fits"),
    ]


def test_what_has_aged_can_still_be_read(gate_with):
    """H11: the line shows no address, the ledger has it."""
    gate = gate_with(CHATCLI)
    outcome = gate.prepare(body("anthropic", conversation(4, OLD), model="claude-opus-5"))

    assert gate.original(outcome.verdicts[0].ref) == OLD.encode()


def test_without_a_store_an_old_result_names_no_file(gate_with):
    aged = sent(gate_with(CHATCLI.replace(spill=False)), conversation(2, OLD))["t1"]

    missing = len(OLD) - 2_500
    assert aged == f"{OLD[:2_000]}\n[TRUNCATED {missing} chars omitted, 2500 kept]\n{OLD[-500:]}"


# "Content Type Detection"


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"a": 1}', "JSON"),  # "Starts with { or ["
        ("[1, 2]", "JSON"),
        ('{"package main"}', "JSON"),
        ("// x\npackage main", "Go source"),  # "Contains package"
        ("package x; def f", "Go source"),
        ("class A:\n    def f(self):", "Python source"),  # "Contains def"
        ("var f = function () {}", "JavaScript source"),  # "Contains function"
        ("def f(): function ", "Python source"),
        ("diff --git a b", "diff"),  # "Starts with diff or ---"
        ("--- a\n+++ b", "diff"),
        ("commit 1234\nAuthor: x", "git log"),  # "Starts with commit"
        ("just words", "text"),  # "Other"
        ("a commit", "text"),
        ("undefined", "text"),
    ],
)
def test_the_first_sign_says_what_a_result_was(text, content):
    assert content_of(text, CHATCLI.marker) == content


# "Microcompaction Configuration"


def test_both_numbers_of_turns_are_knobs(gate_with):
    # "CHATCLI_MICROCOMPACT_TRUNCATE_TURNS | 2", "CHATCLI_MICROCOMPACT_SUMMARIZE_TURNS | 4"
    assert CHATCLI.ageing.turns == (2, 4)
    policy = policy_from_environment(
        {"HEADGATE_PRESET": "chatcli", "HEADGATE_AGEING": "{ turns = [1, 2] }"}
    )

    assert sent(gate_with(policy), conversation(2, OLD))["t1"].startswith("[Old tool result")


@pytest.mark.parametrize(("size", "ages"), [(3_000, False), (3_001, True)])
def test_only_results_larger_than_3_000_characters_age(gate_with, size, ages):
    # "Only results larger than 3,000 chars are compacted. Small results are always preserved."
    text = sent(gate_with(CHATCLI), conversation(4, "x" * size))["t1"]

    assert text.startswith("[Old tool result") is ages


@pytest.mark.parametrize("tool", ["write_file", "edit", "bash", "execute_command"])
def test_results_of_writes_and_executions_are_preserved(gate_with, tool):
    # "Results from write and execution tools are preserved"
    assert sent(gate_with(CHATCLI), conversation(9, OLD, tool))["t1"] == OLD


def test_nothing_is_weighed_and_the_newest_are_not_spared():
    assert (CHATCLI.ageing.weigh, CHATCLI.ageing.keep_last, CHATCLI.ageing.high) == (False, 0, None)


# "Complete Flow": pairing, budget, ageing in one go


def test_a_history_is_paired_budgeted_and_aged_together(gate_with):
    messages = conversation(2, OLD)
    messages += calls("anthropic", ("t2", "@x", {}), ("t3", "@x", {}))
    messages += results("anthropic", ("t2", "@x", "y" * 25_000))

    found = sent(gate_with(CHATCLI), messages)

    assert "[TRUNCATED " in found["t1"]
    assert found["t2"].startswith("y" * 4_000 + "\n[full output saved to ")
    assert found["t3"] == INTERRUPTED
