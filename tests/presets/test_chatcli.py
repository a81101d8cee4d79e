"""The preset `chatcli` against its document, "Tool Result Pairing"."""

import json
from pathlib import Path

import pytest

from headgate import Gate, chars
from headgate.errors import StoreError
from headgate.guard_rules import NO_GUARDS
from headgate.history.mending import INTERRUPTED
from headgate.marker import content_of
from headgate.policy_file import policy_from_environment
from headgate.presets import CHATCLI
from headgate.testing import BadStore, result
from tests.histories import body, calls, results, user

pytestmark = pytest.mark.proves("PRE-chatcli")

LINE = "some line of output\n"
"""Twenty characters."""


def shown_of(gate, text, tool="@other", **more):
    [shown] = gate.admit([result(tool, text, **more)])
    return shown


def sent(gate, messages):
    """What the history says of each result, in order."""
    outcome = gate.prepare(body("anthropic", messages, model="claude-opus-5"))
    return {
        block["tool_use_id"]: block["content"]
        for message in json.loads(outcome.body)["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    }


# "Tool Result Pairing"


def blocks_of(gate, messages):
    outcome = gate.prepare(body("anthropic", messages, model="claude-opus-5"))
    found = [
        block
        for message in json.loads(outcome.body)["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    return outcome, found


def test_a_call_without_a_result_gets_a_synthetic_error(gate_with):
    # "tool_use without tool_result (orphan) | Injects synthetic error result"
    messages = user("anthropic", "go") + calls("anthropic", ("t1", "@bash", {}))

    outcome, blocks = blocks_of(gate_with(CHATCLI), [*messages, *user("anthropic", "well?")])

    [made] = [block for block in blocks if block["type"] == "tool_result"]
    assert (made["tool_use_id"], made["is_error"]) == ("t1", True)
    # The text of the document's own is lost; ours says what is known.
    assert made["content"] == INTERRUPTED
    assert [fix.kind for fix in outcome.fixes] == ["missing"]


def test_a_result_without_a_call_is_removed(gate_with):
    # "tool_result without tool_use (orphan) | Removes from history"
    messages = user("anthropic", "go") + results("anthropic", ("ghost", "@bash", "boo"))

    outcome, blocks = blocks_of(gate_with(CHATCLI), messages)

    assert not any(block["type"] == "tool_result" for block in blocks)
    assert outcome.fixes[0].kind == "orphan"


def test_of_duplicate_ids_the_first_is_kept(gate_with):
    # "Duplicate tool_use IDs | Keeps only the first occurrence"
    twice = [("t1", "@bash", {"n": 1}), ("t1", "@bash", {"n": 2})]
    messages = user("anthropic", "go") + calls("anthropic", *twice)
    messages += results("anthropic", ("t1", "@bash", "first"), ("t1", "@bash", "second"))

    outcome, blocks = blocks_of(gate_with(CHATCLI), messages)

    assert {fix.kind for fix in outcome.fixes} == {"duplicate"}
    assert [block["input"] for block in blocks if block["type"] == "tool_use"] == [{"n": 1}]
    assert [b["content"] for b in blocks if b["type"] == "tool_result"] == ["first"]


def test_an_id_that_comes_back_in_a_later_message_is_another_call(gate_with):
    """Differs: the document keeps the first of the whole history, and would lose a result."""
    messages = user("anthropic", "go")
    for said in ("one", "two"):
        messages += calls("anthropic", ("t1", "@bash", {"say": said}))
        messages += results("anthropic", ("t1", "@bash", said))

    outcome, blocks = blocks_of(gate_with(CHATCLI), messages)

    assert [fix.kind for fix in outcome.fixes] == ["renamed"]
    assert [b["content"] for b in blocks if b["type"] == "tool_result"] == ["one", "two"]


def test_a_history_in_order_is_left_alone(gate_with):
    # "Misalignment Detection: Compares the two sets of IDs."
    messages = user("anthropic", "go") + calls("anthropic", ("t1", "@bash", {}))
    made = body("anthropic", messages + results("anthropic", ("t1", "@bash", "fine")))

    assert gate_with(CHATCLI).prepare(made).body == made


def test_all_phases_of_a_repair_work_together(gate_with):
    messages = [
        *user("anthropic", "go"),
        *calls("anthropic", ("t1", "@bash", {}), ("t2", "@bash", {})),
        *results("anthropic", ("t2", "@bash", "two"), ("t9", "@bash", "nine")),
    ]

    outcome, blocks = blocks_of(gate_with(CHATCLI), messages)

    found = {b["tool_use_id"]: b["content"] for b in blocks if b["type"] == "tool_result"}
    assert found == {"t1": INTERRUPTED, "t2": "two"}
    assert sorted(fix.kind for fix in outcome.fixes) == ["missing", "orphan"]


# "Result Budget Enforcement": "limits the aggregate size at three levels"


def test_three_levels():
    assert CHATCLI.cap == chars(30_000)  # "30,000 chars (global)"
    assert CHATCLI.result == chars(20_000)  # "CHATCLI_TOOL_RESULT_MAX_CHARS | 20,000 chars"
    assert CHATCLI.batch == chars(200_000)  # "CHATCLI_TOOL_RESULT_BUDGET_CHARS | 200,000 chars"


def test_the_limits_are_knobs_of_the_environment():
    policy = policy_from_environment(
        {
            "HEADGATE_PRESET": "chatcli",
            "HEADGATE_RESULT": "25_000 chars",
            "HEADGATE_BATCH": "300000",
            "HEADGATE_AGEING": "{ turns = [3, 9] }",
        }
    )

    assert (policy.result, policy.batch) == (chars(25_000), chars(300_000))
    assert policy.ageing.turns == (3, 9)
    assert policy.ageing.least == CHATCLI.ageing.least


# "Per-tool truncation (capability)"


@pytest.mark.parametrize(
    ("tool", "cap"),
    [
        ("@read", 80_000),  # "Large files (~1500 lines) are the primary code-learning surface"
        ("@search", 60_000),  # "Breadth-oriented structured output (file:line:match)"
        ("@tree", 50_000),  # "Monorepo listings easily exceed 30k"
        ("@anything", 30_000),  # "Other plugins | 30,000 | Global default"
    ],
)
def test_each_tool_has_a_cap_before_any_limit(gate_with, tool, cap):
    # "Cap applied inside the dispatch before aggregation"
    roomy = CHATCLI.replace(result=chars(100_000))

    shown = shown_of(gate_with(roomy), "x" * 90_000, tool).text

    kept = len(shown.partition("\n")[0])
    assert shown == f"{'x' * kept}\n[TRUNCATED {90_000 - kept} chars omitted, {kept} kept]"
    assert len(shown) == cap


def test_a_plugin_declares_a_cap_and_not_a_limit(gate_with):
    # "Plugins that implement plugins.TruncationAware declare their own cap"
    roomy = CHATCLI.replace(result=chars(100_000))
    declared = chars(70_000)

    assert len(shown_of(gate_with(roomy), "x" * 90_000, declared=declared).text) == 70_000
    assert shown_of(gate_with(CHATCLI), "x" * 25_000, declared=declared).verdict.fate == "spilled"


def test_a_result_within_its_cap_is_not_capped(gate_with):
    roomy = CHATCLI.replace(result=chars(100_000))

    assert shown_of(gate_with(roomy), "x" * 80_000, "@read").text == "x" * 80_000


def test_the_caps_words_stand_inside_the_cap(gate_with):
    """Differs: 30,000 kept and the words behind them would be over the cap."""
    roomy = CHATCLI.replace(result=chars(100_000))

    shown = shown_of(gate_with(roomy), "x" * 90_000).text

    assert shown.endswith("[TRUNCATED 60044 chars omitted, 29956 kept]")
    assert len(shown) == 30_000


def test_the_cap_comes_before_the_limit_of_a_result(gate_with):
    # The tail is that of what the cap left, so it ends with the cap's words.
    shown = shown_of(gate_with(CHATCLI), LINE * 5_000)

    head, _, rest = shown.text.partition("\n[full output saved to ")
    assert head == (LINE * 200)[:-1]
    assert rest.partition("]\n")[2] == (
        LINE * 46 + "some line of out\n[TRUNCATED 70044 chars omitted, 29956 kept]"
    )


# "How Enforcement Works": pass 1, per result


@pytest.mark.parametrize(("size", "fate"), [(20_000, "whole"), (20_001, "spilled")])
def test_only_what_exceeds_20_000_characters_is_replaced(gate_with, size, fate):
    # "If it exceeds the limit, the full content is saved to disk and replaced with a preview"
    assert shown_of(gate_with(CHATCLI), "x" * size).verdict.fate == fate


def test_the_full_content_is_saved(gate_with):
    gate = gate_with(CHATCLI)

    shown = shown_of(gate, "x" * 90_000)

    path = Path(shown.text.split("[full output saved to ")[1].partition("]")[0])
    # All of it: what the cap left is less than what is kept (rule 0.5).
    assert path.read_text() == "x" * 90_000
    assert gate.original(shown.verdict.ref) == b"x" * 90_000


# pass 2, per turn


def test_the_largest_results_of_a_turn_are_replaced_until_the_rest_fits(gate_with):
    sizes = [20_000] * 10 + [1_000, 5_001]
    batch = [result("@x", "x" * size, call_id=f"t{n}") for n, size in enumerate(sizes)]

    shown = gate_with(CHATCLI).admit(batch)

    assert [each.verdict.fate for each in shown] == ["spilled"] + ["whole"] * 11
    assert sum(len(each.text) for each in shown) <= 200_000


def test_a_turn_within_its_budget_is_left_alone(gate_with):
    batch = [result("@x", "x" * 20_000, call_id=f"t{n}") for n in range(10)]

    assert [each.text for each in gate_with(CHATCLI).admit(batch)] == ["x" * 20_000] * 10


# "Disk Persistence"


def test_sessions_do_not_share_their_files(state):
    # "Isolation between sessions."
    paths = []
    for session in ("one", "two"):
        shown = shown_of(Gate(CHATCLI, state=state, session=session), "x" * 21_000)
        paths.append(Path(shown.text.split("saved to ")[1].partition("]")[0]))

    assert paths[0].parent != paths[1].parent


def test_the_file_stands_where_the_agents_read_tool_may_open_it(state, tmp_path):
    # "The scratch dir is on the agent's read allowlist"
    scratch = tmp_path / "workspace" / "scratch"

    shown = shown_of(Gate(CHATCLI, state=state, files=scratch, session="s"), "x" * 21_000)

    path = Path(shown.text.split("saved to ")[1].partition("]")[0])
    assert path.parent == scratch
    assert path.read_text() == "x" * 21_000


class Full(BadStore):
    """A store that has no room and no memory of its own."""

    def writer(self, **_):
        raise StoreError("disk full")


@pytest.mark.parametrize(
    ("memory_bytes", "note"),
    [(0, "not kept, run the tool again for less"), (1 << 20, "not kept on disk, readable while")],
)
def test_a_result_that_cannot_be_saved_is_cut_hard_and_says_so(gate_with, memory_bytes, note):
    gate = gate_with(CHATCLI.replace(memory_bytes=memory_bytes), store=Full())

    text = shown_of(gate, "x" * 90_000).text

    head, truncated, could_not = text.split("\n")
    assert truncated == f"[TRUNCATED {90_000 - len(head)} chars omitted, {len(head)} kept]"
    assert could_not.startswith(f"[full output could not be saved: {note}")
    assert len(text) == 20_000


# "Preview: Head + Tail"


def test_the_preview_is_head_reference_and_tail(gate_with):
    # "Head (beginning) | 4,000 chars (cuts at the last line break)", "Tail (end) | 1,000 chars
    # (cuts at the first line break)"
    text = "".join(f"{n:05} some output\n" for n in range(1_400))

    shown = shown_of(gate_with(CHATCLI), text).text

    head, _, rest = shown.partition("\n[full output saved to ")
    path, _, tail = rest.partition("]\n")
    assert head == text[:4_000].rpartition("\n")[0]
    assert tail == text[-1_000:].partition("\n")[2]
    assert Path(path).read_text() == text


def test_without_line_breaks_the_pieces_are_exact(gate_with):
    shown = shown_of(gate_with(CHATCLI), "a" * 15_000 + "b" * 10_000).text

    head, _, tail = shown.split("\n")
    assert (head, tail) == ("a" * 4_000, "b" * 1_000)


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


# What the document does not speak of, and the promises


def test_an_error_is_a_result_as_others(gate_with):
    shown = shown_of(gate_with(CHATCLI), "x" * 25_000, is_error=True)

    assert (shown.verdict.fate, shown.is_error) == ("spilled", True)


def test_a_result_that_streams_in_gets_the_same_preview(gate_with):
    stream = gate_with(CHATCLI).stream("t1", "@bash")
    for _ in range(50):
        stream.write(LINE.encode() * 10_000)

    text = stream.close().text

    assert text.startswith(LINE * 199)
    assert text.endswith("[TRUNCATED 9970046 chars omitted, 29954 kept]")
    assert len(text) < 5_500


@pytest.mark.parametrize("sign", ["[TRUNCATED 5 ", "[full output saved to /x]"])
def test_a_result_that_imitates_the_words_is_escaped(gate_with, sign):
    """P19: the words carry no tag, so fresh text that has them is told apart."""
    assert shown_of(gate_with(CHATCLI), sign).text == "\\u005b" + sign[1:]


def test_nothing_else_is_switched_on():
    assert (CHATCLI.guards, CHATCLI.repeats, CHATCLI.turn) == (NO_GUARDS, False, None)
