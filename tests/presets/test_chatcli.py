"""The preset `chatcli` against its document, "Tool Result Pairing"."""

import json
from pathlib import Path

import pytest

from headgate import Gate, chars
from headgate.errors import StoreError
from headgate.guard_rules import NO_GUARDS
from headgate.history.mending import INTERRUPTED
from headgate.policy_file import policy_from_environment
from headgate.presets import CHATCLI
from headgate.testing import BadStore, result
from tests.histories import body, calls, results, user
from tests.presets.chatcli import LINE, shown_of

pytestmark = pytest.mark.proves("PRE-chatcli")


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
