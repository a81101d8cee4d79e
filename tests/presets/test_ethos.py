"""The preset `ethos` against its document, "Why is there an 80k tool result budget?"."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Policy, chars
from headgate.admit import shares_ahead
from headgate.events import Progress
from headgate.limits import overrides_of
from headgate.presets import ETHOS
from headgate.registry import Context, Registry
from headgate.testing import BadStore, result
from headgate.types import Call, Media

pytestmark = pytest.mark.proves("PRE-ethos")

NO_OVERRIDES = overrides_of({}, ETHOS)


def texts(gate, *sizes, tool="terminal"):
    """What is shown of parallel calls that return so many characters each."""
    batch = [result(tool, "x" * size, call_id=f"c{n}_{size}") for n, size in enumerate(sizes)]
    return [shown.text for shown in gate.admit(batch)]


def cut(total, share):
    """A result of `total` characters in a share, as the document writes it."""
    marker = f"\n[truncated — {total:,} chars total]"
    return "x" * (share - len(marker)) + marker


# Context: "Ethos defends against this with a turn-wide budget."


def test_the_budget_is_80_000_characters():  # "AgentLoop sets resultBudgetChars: 80_000 by default"
    assert ETHOS.batch == chars(80_000)
    assert ETHOS.unit == "chars"


def test_a_result_over_its_share_is_trimmed_and_marked(gate_with):  # "marked [truncated]"
    assert texts(gate_with(ETHOS), 80_001) == [cut(80_001, 80_000)]


def test_a_result_of_just_its_share_is_left_alone(gate_with):  # "if it exceeds its share"
    assert texts(gate_with(ETHOS), 80_000) == ["x" * 80_000]


# "The 80k number is context-window math, not a guess"


def test_the_budget_is_a_cap_and_not_a_target(gate_with):  # "Many turns consume far less."
    assert texts(gate_with(ETHOS), 10, 20) == ["x" * 10, "x" * 20]


def test_another_budget_is_one_argument(gate_with):  # "The override is one constructor argument."
    assert texts(gate_with(ETHOS.replace(batch=chars(10_000))), 12_000) == [cut(12_000, 10_000)]


# "Split per-call, not per-tool"


@pytest.mark.parametrize(
    ("calls", "share"),
    [
        (1, 80_000),  # "a single tool call in one turn gets the full 80k"
        (3, 26_666),  # "Three parallel calls get 80_000 / 3 = 26,666 characters each."
        (4, 20_000),  # "every result truncates at 20k"
        (5, 16_000),  # "Five parallel calls get 16,000 each."
    ],
)
def test_parallel_calls_share_the_budget_evenly(gate_with, calls, share):
    assert texts(gate_with(ETHOS), *[90_000] * calls) == [cut(90_000, share)] * calls


@given(st.integers(1, 150))
@settings(max_examples=30)
def test_the_share_is_the_floor_of_the_division(calls):  # "Math.floor(ctx.resultBudgetChars / ..."
    batch = [result("terminal", "", call_id=str(n)) for n in range(calls)]

    assert shares_ahead(batch, ETHOS, NO_OVERRIDES) == [80_000 // calls] * calls


def test_a_share_is_never_below_the_smallest_limit(gate_with):
    """Differs: 400 calls would get 200 characters each, less than a marker may need."""
    shown = texts(gate_with(ETHOS), *[90_000] * 400)

    assert set(shown) == {cut(90_000, 512)}


def test_only_a_success_is_trimmed(gate_with):  # "if (result.ok && result.value.length > budget)"
    [shown] = gate_with(ETHOS).admit([result("terminal", "x" * 90_000, is_error=True)])

    assert (shown.text, shown.is_error) == ("x" * 90_000, True)


def test_an_error_takes_its_share_too(gate_with):  # "calls.length" counts every call
    failed = result("terminal", "no such file", is_error=True, call_id="a")
    long = result("terminal", "x" * 90_000, call_id="b")

    assert gate_with(ETHOS).admit([failed, long])[1].text == cut(90_000, 40_000)


def test_the_marker_stands_inside_the_share(gate_with):
    """Differs: `slice(0, budget)` with the marker behind it would be over the share (P2)."""
    [shown] = texts(gate_with(ETHOS), 100_000)

    assert len(shown) == 80_000


# "Tools declare lower maxResultChars when their output is structurally bounded"


@pytest.mark.parametrize(
    ("tool", "most"),
    [
        ("read_file", 20_000),  # "A read_file tool with maxResultChars: 20_000"
        ("web_search", 30_000),  # "A 30k cap keeps the result legible."
        ("delegate_task", 20_000),  # "A 20k cap keeps coordination costs bounded"
        ("terminal", 80_000),  # "terminal does not declare one"
    ],
)
def test_a_tool_may_declare_less(gate_with, tool, most):
    assert texts(gate_with(ETHOS), 90_000, tool=tool) == [cut(90_000, most)]


def test_a_declaration_holds_even_when_it_is_the_only_call(gate_with):
    # "will never produce more than 20,000 characters in any turn"
    assert len(texts(gate_with(ETHOS), 20_001, tool="read_file")[0]) == 20_000
    assert texts(gate_with(ETHOS), 20_000, tool="read_file") == ["x" * 20_000]


def test_the_share_wins_where_it_is_smaller_than_the_declaration(gate_with):
    # "Math.min(perCallBudget, entry.tool.maxResultChars ?? perCallBudget)"
    assert texts(gate_with(ETHOS), *[40_000] * 8, tool="read_file") == [cut(40_000, 10_000)] * 8


def test_a_declaration_never_raises_the_share(gate_with):  # "The per-call budget is a ceiling."
    batch = [result("terminal", "x" * 70_000, call_id=str(n), declared=chars(60_000)) for n in "ab"]

    assert [shown.text for shown in gate_with(ETHOS).admit(batch)] == [cut(70_000, 40_000)] * 2


def test_a_declared_limit_of_a_tool_is_heeded(gate_with):
    [shown] = gate_with(ETHOS).admit([result("mine", "x" * 9_000, declared=chars(5_000))])

    assert shown.text == cut(9_000, 5_000)


# 'What "truncated" means at the contract level'


def test_the_marker_is_written_as_in_the_text(gate_with):  # "[truncated — 45,231 chars total]"
    batch = [result("terminal", "x" * 45_231, call_id=str(n)) for n in range(3)]

    shown = gate_with(ETHOS).admit(batch)[0].text

    assert shown.endswith("\n[truncated — 45,231 chars total]")


def test_the_marker_is_plain_text_at_the_end(gate_with):
    # "It is plain text appended to the truncated string."
    [shown] = texts(gate_with(ETHOS), 99_999)

    assert re.fullmatch(r"x+\n\[truncated — 99,999 chars total\]", shown)


# "The budget is per-turn, not per-iteration" ... "The cap is per-batch, not per-turn."


def test_each_batch_has_a_fresh_budget(gate_with):
    # "the turn consumed 80k + 80k = 160k characters of tool output across two iterations"
    gate = gate_with(ETHOS)

    first = texts(gate, 30_000, 30_001, 30_002)
    second = texts(gate, 50_000, 50_001)

    assert [len(text) for text in first] == [26_666] * 3
    assert [len(text) for text in second] == [40_000] * 2


def test_a_turn_has_no_budget_of_its_own():  # "Each iteration's executeParallel is a fresh budget"
    assert ETHOS.turn is None


# "executeParallel does the work that callers used to coordinate"


def test_every_tool_gets_the_same_marker(gate_with):  # "The model sees one contract"
    gate = gate_with(ETHOS)
    batch = [result(tool, "x" * 50_000, call_id=tool) for tool in ("web_extract", "terminal")]

    assert {shown.text for shown in gate.admit(batch)} == {cut(50_000, 40_000)}


def test_a_tool_that_trims_itself_is_left_alone(gate_with):
    # "if a tool's pre-trim brings the output under the budget, the framework leaves it alone"
    article = result("web_extract", "the article\nwithout its chrome", declared=chars(5_000))

    [shown] = gate_with(ETHOS).admit([article])

    assert (shown.text, shown.verdict.fate) == (article.text, "whole")


# "Why pre-trim hasn't replaced post-trim": a result is bounded whatever its tool knew


def test_a_result_that_streams_in_is_trimmed_alike(gate_with):
    # "does not know in advance whether the output will be 100 lines or 100k lines"
    stream = gate_with(ETHOS).stream("c1", "terminal")
    for _ in range(100):
        stream.write(b"x" * 200_000)

    assert stream.close().text == cut(20_000_000, 80_000)


# "The tool_progress event is not part of the budget"


def test_progress_reaches_its_listener_and_costs_nothing(state):
    # "It does not count against the budget."
    tools, heard = Registry(), []

    @tools.tool
    def terminal(context: Context) -> str:
        for number in range(20):
            context.progress("p" * 10_000 + str(number))
        return "x" * 80_000

    gate = Gate(ETHOS, state=state, session="s")
    with tools:
        [shown] = tools.run_batch(gate, [Call("c1", "terminal")], hooks=[heard.append])

    assert shown.text == "x" * 80_000
    assert len([event for event in heard if isinstance(event, Progress)]) == 20


# "The budget is also visible to tools via ToolContext"


def test_a_tool_sees_its_share_before_it_runs(state):
    # "ctx.resultBudgetChars — the per-call budget the registry computed for this invocation"
    tools, shares = Registry(), []

    @tools.tool
    def terminal(context: Context) -> str:
        shares.append(context.share)
        return "done"

    @tools.tool
    def read_file(context: Context) -> str:
        shares.append(context.share)
        return "done"

    gate = Gate(ETHOS, state=state, session="s")
    with tools:
        calls = [Call("a", "terminal"), Call("b", "terminal"), Call("c", "read_file")]
        tools.run_batch(gate, calls)

    assert sorted(share.count for share in shares) == [20_000, 26_666, 26_666]
    assert {share.unit for share in shares} == {"chars"}


def test_the_cut_falls_anywhere(gate_with):
    # "A raw slice(0, budget) cuts mid-word, mid-line, mid-JSON."
    text = "word word\n" * 9_000

    [shown] = gate_with(ETHOS).admit([result("terminal", text)])

    marker = "\n[truncated — 90,000 chars total]"
    assert shown.text == text[: 80_000 - len(marker)] + marker


def test_the_cut_never_falls_inside_a_grapheme(gate_with):
    """Differs: a slice could cut a family in two; characters are code points here."""
    [shown] = gate_with(ETHOS).admit([result("terminal", "👩‍👩‍👧" * 20_000)])

    head = shown.text.partition("\n")[0]
    assert head == "👩‍👩‍👧" * (len(head) // 5)
    assert len(shown.text) > 79_990


# "When to override resultBudgetChars"


@pytest.mark.parametrize(
    ("window", "budget"),
    [
        (8_192, 8_000),
        (16_385, 8_000),  # "an OpenAI-compat 16k-context model). Drop to 6–10k"
        (128_000, 80_000),
        (200_000, 80_000),  # "The default of 80k fits Claude's main context window."
        (1_000_000, 200_000),  # "a 1M-context Claude variant). Raise to 200k"
    ],
)
def test_the_budget_follows_the_window_where_it_is_known(window, budget):
    assert ETHOS.replace(window_tokens=window).batch_budget() == budget


def test_a_single_result_gets_all_of_a_raised_budget(gate_with):
    # "Raise the budget if a single call routinely truncates at 80k"
    assert texts(gate_with(ETHOS.replace(window_tokens=1_000_000)), 200_000) == ["x" * 200_000]


def test_the_operator_can_raise_it_while_it_runs(gate_with):
    gate = gate_with(ETHOS, overrides=lambda: {"batch": 300_000})

    assert texts(gate, 300_000) == ["x" * 300_000]


@pytest.mark.parametrize("budget", [300_000, 2_000_000])
def test_nothing_but_the_budget_bounds_a_single_result(gate_with, budget):
    # "a single tool call in one turn gets the full 80k", whatever the budget is raised to
    gate = gate_with(ETHOS.replace(batch=chars(budget)))

    assert texts(gate, budget) == ["x" * budget]
    assert texts(gate, budget + 1) == [cut(budget + 1, budget)]


def test_a_result_that_streams_in_has_the_operators_budget_too(gate_with):
    gate = gate_with(ETHOS, overrides=lambda: {"batch": 300_000})
    stream = gate.stream("c1", "terminal")
    for _ in range(100):
        stream.write(b"x" * 200_000)

    assert stream.close().text == cut(20_000_000, 300_000)


# Trade-offs


def test_the_split_is_even_and_not_weighted(gate_with):
    # "the budget is wasted on the small ones and the large one truncates"
    shown = texts(gate_with(ETHOS), 5_000, 60_000, 5_001)

    assert [len(text) for text in shown] == [5_000, 26_666, 5_001]


def test_a_small_declaration_leaves_no_slack_to_others(gate_with):
    """The remark "declare 10k on small-output tools and the big one gets the slack" contradicts
    the even split, which is the plainer statement."""
    small = [result("small", "x", call_id=n, declared=chars(10_000)) for n in "ab"]

    shown = gate_with(ETHOS).admit([*small, result("terminal", "x" * 60_000)])

    assert shown[2].text == cut(60_000, 26_666)


def test_there_is_no_soft_budget(gate_with):  # "Hard cap, visible marker, no exceptions."
    # "A tool that returns 100k characters in a 26k slot loses 74k characters"
    assert texts(gate_with(ETHOS), *[100_000] * 3) == [cut(100_000, 26_666)] * 3


def test_characters_are_counted_and_not_tokens():  # "A token-counting budget ... Rejected for v1"
    assert {ETHOS.result.unit, ETHOS.batch.unit} == {"chars"}


# What the document does not speak of, and rule 0.5


def test_the_original_is_kept_and_its_address_not_shown(gate_with):
    gate = gate_with(ETHOS)

    [shown] = gate.admit([result("terminal", "x" * 90_000)])

    assert gate.original(shown.verdict.ref) == b"x" * 90_000
    assert shown.verdict.ref not in shown.text


def test_what_is_read_back_keeps_to_the_budget_too(gate_with):
    gate = gate_with(ETHOS)
    [shown] = gate.admit([result("terminal", "x" * 900_000)])

    assert 70_000 < len(gate.read(shown.verdict.ref)) <= 80_000


def test_a_store_that_fails_changes_nothing_in_sight(gate_with):
    assert texts(gate_with(ETHOS, store=BadStore()), 90_000) == [cut(90_000, 80_000)]


def test_a_result_that_imitates_the_marker_is_escaped(gate_with):
    """P19: the words carry no tag, so fresh text that has them is told apart."""
    [shown] = gate_with(ETHOS).admit([result("terminal", "[truncated — 9 chars total]")])

    assert shown.text == "\\u005btruncated — 9 chars total]"


def test_an_image_passes_beside_a_trimmed_text(gate_with):
    image = Media("image", {"data": "AAAA"})

    [shown] = gate_with(ETHOS).admit([result("terminal", [image, "x" * 90_000])])

    assert shown.blocks[0] == image
    # The image has its fixed cost of 2,000 tokens (R2), of four characters each.
    assert len(shown.text) == 72_000


def test_histories_do_not_age_and_nothing_is_referred_to():
    assert (ETHOS.ageing.high, ETHOS.ageing.turns, ETHOS.repeats) == (None, None, False)
    assert isinstance(ETHOS, Policy)
