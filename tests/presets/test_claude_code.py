"""The preset `claude_code` against its document, "Token Budgeting Strategies"."""

import math
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, chars
from headgate.admit import plan_batch
from headgate.events import OverrideIgnored, SpillFailed
from headgate.guard_rules import NO_GUARDS
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import limit_for, overrides_of
from headgate.measure.meters import meter_for
from headgate.presets import CLAUDE_CODE
from headgate.testing import BadStore, result
from headgate.types import Media, Text
from tests.presets.claude_code import IMAGE, admitted, grep, is_persisted

pytestmark = pytest.mark.proves("PRE-claude_code")
NOTHING_SAID = overrides_of({}, CLAUDE_CODE)


def limit_of(made, values=None):
    overrides = overrides_of(values, CLAUDE_CODE) if values else NOTHING_SAID
    return limit_for(made, CLAUDE_CODE, overrides)[0]


# "Core Constants"


def test_a_result_has_50_000_and_a_message_200_000_characters():
    # "DEFAULT_MAX_RESULT_SIZE_CHARS = 50_000", "MAX_TOOL_RESULTS_PER_MESSAGE_CHARS = 200_000"
    assert (CLAUDE_CODE.result, CLAUDE_CODE.batch) == (chars(50_000), chars(200_000))


@pytest.mark.parametrize(("size", "persisted"), [(50_000, False), (50_001, True)])
def test_only_what_exceeds_50_000_characters_is_persisted(gate_with, size, persisted):
    # "when a tool's output exceeds 50,000 characters"; "size <= threshold? Return as-is"
    [shown] = admitted(gate_with(CLAUDE_CODE), grep(size))

    assert is_persisted(shown) is persisted
    assert persisted or shown.text == "x" * 50_000


def test_four_results_at_their_ceiling_are_safe_in_one_message(gate_with):
    # "even if four tools each reach the per-tool ceiling, they're still safe"
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(50_000, f"t{n}") for n in range(4)))

    assert [each.text for each in shown] == ["x" * 50_000] * 4


def test_a_fifth_makes_the_budget_of_the_message_hold(gate_with):
    # "if five or more parallel tools ... the message-level budget enforcement kicks in"
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(50_000, f"t{n}") for n in range(5)))

    assert any(map(is_persisted, shown))
    assert sum(len(each.text) for each in shown) <= 200_000


# "Persistence Threshold Calculation", table 12-1


def test_first_an_exempt_tool_is_never_persisted(gate_with):
    # "1 (highest) | Tool declares maxResultSizeChars: Infinity | Never persist (Read tool ...)"
    read = result("Read", "x" * 190_000)

    [shown] = admitted(gate_with(CLAUDE_CODE), read)

    assert shown.text == "x" * 190_000
    assert limit_of(read, {"tools": {"Read": 600}}).count is None


def test_then_an_override_holds_even_above_the_ceiling(gate_with):
    # "2 | ... has an override for this tool | Use remote override value"
    gate = gate_with(CLAUDE_CODE, overrides=lambda: {"tools": {"Grep": 120_000, "Bash": 1_000}})

    shown = admitted(gate, grep(119_000), result("Bash", "x" * 1_001))

    assert [is_persisted(each) for each in shown] == [False, True]


@pytest.mark.parametrize(
    "value", ["60000", None, math.nan, math.inf, -math.inf, 0, -5, True, [60_000]]
)
def test_an_override_that_is_no_number_above_zero_is_ignored(gate_with, value):
    # "typeof override === 'number' && Number.isFinite(override) && override > 0"
    heard = []
    gate = gate_with(
        CLAUDE_CODE, overrides=lambda: {"tools": {"Grep": value}}, hooks=[heard.append]
    )

    [shown] = admitted(gate, grep(50_001))

    assert is_persisted(shown)
    assert OverrideIgnored("Grep", repr(value)) in heard


@pytest.mark.parametrize(("declared", "most"), [(30_000, 30_000), (90_000, 50_000)])
def test_then_a_declaration_may_only_lower_it(declared, most):
    # "3 | ... | Math.min(declared value, 50_000)"
    assert limit_of(grep(1, declared=chars(declared))).count == most


def test_last_50_000_is_the_default():  # "4 (default) | No special declaration | 50,000 characters"
    assert limit_of(grep(1)).count == 50_000


def test_the_chain_holds_in_its_order():
    declared = grep(1, declared=chars(30_000))

    assert limit_of(declared, {"tools": {"Grep": 70_000}}).count == 70_000
    assert "override" in limit_of(declared, {"tools": {"Grep": 70_000}}).by


def test_what_a_call_asks_for_is_no_part_of_the_chain():
    assert limit_of(grep(1, arguments={"max_tokens": 600, "max_lines": 3})).count == 50_000


def test_an_override_below_the_smallest_limit_is_that_limit():
    """Differs: rule 0.6, a marker needs 512 characters."""
    assert limit_of(grep(1), {"tools": {"Grep": 10}}).count == 512
    assert limit_of(grep(1), {"tools": {"Grep": 0.5}}).count == 512


# "Persistence Flow", figure 12-1


@pytest.mark.parametrize("content", ["", " \n", None])
def test_an_empty_result_gets_a_placeholder(gate_with, content):
    # "(toolName completed with no output)"
    [shown] = admitted(gate_with(CLAUDE_CODE), result("Grep", content))

    assert shown.text == "(Grep completed with no output)"


def test_a_result_with_an_image_is_returned_as_it_is(gate_with):
    # "Contains image blocks? Return as-is (images must be sent to the model)"
    made = result("Shot", [IMAGE, Text("x" * 60_000)])

    [shown] = admitted(gate_with(CLAUDE_CODE), made)

    assert shown.blocks == made.blocks


def test_a_document_is_no_image(gate_with):
    document = Media("document", {"data": "AAAA"})

    [shown] = admitted(gate_with(CLAUDE_CODE), result("Web", [document, Text("x" * 60_000)]))

    assert shown.blocks[0] == document
    assert is_persisted(shown)


def test_the_file_is_named_by_the_call_and_written_once(state):
    # "tool_use_id is unique per invocation, ... so skipping existing files is safe"
    first = Gate(CLAUDE_CODE, state=state, session="s").admit([grep(60_000)])[0]
    path = Path(first.text.split("\n")[2])
    written = os.stat(path)

    again = Gate(CLAUDE_CODE, state=state, session="s").admit([grep(60_000)])[0]

    assert path.name == "toolu_01XYZ.txt"
    assert path.read_text() == "x" * 60_000
    assert again.text == first.text
    assert os.stat(path).st_ino == written.st_ino
    assert os.stat(path).st_mtime_ns == written.st_mtime_ns


def test_an_id_that_is_no_file_name_becomes_its_digest(state):
    """Differs: K2, an id may not lead out of the folder."""
    [shown] = Gate(CLAUDE_CODE, state=state, session="s").admit([grep(60_000, "../../etc/x")])

    path = Path(shown.text.split("\n")[2])
    assert path.read_text() == "x" * 60_000
    assert path.resolve().is_relative_to(state.resolve())


# "Post-Persistence Message Format"


def test_the_substitute_line_by_line(state):
    text = "".join(f"{n:08} some output\n" for n in range(4_000))
    gate = Gate(CLAUDE_CODE, state=state, session="s")

    [shown] = gate.admit([result("Bash", text, call_id="toolu_01XYZ")])

    opening, size, path, preview, *shown_lines, dots, closing = shown.text.split("\n")
    assert opening == "<persisted-output>"
    assert size == "Output too large (82.0 KB). Full output saved to:"
    assert path == f"{state}/sessions/s/files/toolu_01XYZ.txt"
    assert preview == "Preview (first 2.0 KB):"
    assert shown_lines == text.split("\n")[: 2_000 // 21]
    assert (dots, closing) == ("...", "</persisted-output>")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (84_275, "82.3 KB"),  # "Output too large (82.3 KB)."
        (50_001, "48.8 KB"),
        (1_048_575, "1.0 MB"),
        (5_000_000, "4.8 MB"),
    ],
)
def test_a_size_is_written_as_people_write_it(gate_with, size, words):
    [shown] = admitted(gate_with(CLAUDE_CODE), grep(size))

    assert shown.text.split("\n")[1] == f"Output too large ({words}). Full output saved to:"


def preview_of(gate, text):
    [shown] = admitted(gate, result("Bash", text))
    return "\n".join(shown.text.split("\n")[4:-2])


def test_a_preview_is_cut_at_the_last_line_end(gate_with):
    # "tries to truncate at newline boundaries to avoid cutting a line in the middle"
    text = "a" * 1_500 + "\n" + "b" * 60_000

    assert preview_of(gate_with(CLAUDE_CODE), text) == "a" * 1_500


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        (999, 2_000),  # "before 50% of the limit ... falls back to the exact byte limit"
        (1_000, 1_000),
    ],
)
def test_a_line_end_before_half_of_the_limit_does_not_count(gate_with, at, kept):
    text = "a" * at + "\n" + "b" * 60_000

    assert len(preview_of(gate_with(CLAUDE_CODE), text)) == kept


def test_one_long_line_is_cut_at_the_exact_byte(gate_with):
    assert preview_of(gate_with(CLAUDE_CODE), "x" * 60_000) == "x" * 2_000


def test_the_preview_counts_bytes_and_never_cuts_a_character(gate_with):
    """Differs: "the exact byte limit" would fall inside a character of three bytes."""
    assert preview_of(gate_with(CLAUDE_CODE), "中" * 60_000) == "中" * 666


def test_a_result_that_streams_in_gets_the_same_substitute(gate_with):
    gate = gate_with(CLAUDE_CODE)
    stream = gate.stream("toolu_9", "Bash")
    for _ in range(100):
        stream.write(b"a line of it\n" * 10_000)

    lines = stream.close().text.split("\n")

    assert lines[1] == "Output too large (12.4 MB). Full output saved to:"
    assert Path(lines[2]).stat().st_size == 13_000_000
    assert lines[4:-2] == ["a line of it"] * 153


# 12.2 "Per-Message Budget: The 200K Aggregate Ceiling"


def test_ten_results_of_40_000_do_not_go_in_together(gate_with):
    # "10 Grep calls ..., each returning 40K characters — individually all under the 50K threshold"
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(40_000, f"t{n}") for n in range(10)))

    assert sum(len(each.text) for each in shown) <= 200_000
    # Differs: the document stops when the five that are left fit; here the previews fit too (P3).
    assert [is_persisted(each) for each in shown] == [True] * 6 + [False] * 4


def test_each_message_is_evaluated_independently(gate_with):
    # "150K of results in one round and 150K in another are each within budget"
    gate = gate_with(CLAUDE_CODE)
    for round_ in range(3):
        shown = admitted(gate, *(grep(50_000, f"{round_}{n}") for n in range(3)))
        assert not any(map(is_persisted, shown))


def test_the_largest_go_first(gate_with):
    # "sort in descending size, select one by one until the remaining total ... drops below"
    sizes = [30_000, 49_000, 10_000, 48_000, 45_000, 40_000]

    shown = admitted(gate_with(CLAUDE_CODE), *(grep(size, f"t{n}") for n, size in enumerate(sizes)))

    assert [is_persisted(each) for each in shown] == [False, True, False, False, False, False]


def test_a_result_below_its_own_limit_is_persisted_for_the_budget(gate_with):
    shown = admitted(gate_with(CLAUDE_CODE), *(grep(45_000, f"t{n}") for n in range(5)))

    assert [is_persisted(each) for each in shown] == [True, False, False, False, False]
    assert shown[0].verdict.limit == CLAUDE_CODE.preview


@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=12))
@settings(max_examples=settings.default.max_examples // 4)
def test_a_message_of_results_never_exceeds_its_budget(sizes):
    meter = meter_for("o200k", "chars")
    desk = Desk(CLAUDE_CODE, meter, b"k" * 32, "s", lambda ref, call: "/f.txt")
    batch = [grep(size, str(n)) for n, size in enumerate(sizes)]

    plan = plan_batch(batch, Ledger(), desk, NOTHING_SAID)

    assert sum(verdict.after.chars for verdict in plan.verdicts) <= 200_000


# 12.6 "End-to-End Token Budget System"


def test_a_disk_that_fails_lets_the_result_in_whole(gate_with):
    # "Layer 1 fails (disk persistence error) -> Full result returned as-is"
    heard = []
    gate = gate_with(CLAUDE_CODE, store=BadStore(), hooks=[heard.append])

    [shown] = admitted(gate, grep(60_000))

    assert shown.text == "x" * 60_000
    assert any(isinstance(event, SpillFailed) for event in heard)


def test_the_budget_of_a_message_can_be_set_while_it_runs(gate_with):
    # "tengu_hawthorn_window: Per-message aggregate budget global override"
    gate = gate_with(CLAUDE_CODE, overrides=lambda: {"batch": 90_000})

    shown = admitted(gate, grep(45_000, "a"), grep(45_000, "b"), grep(10_000, "c"))

    assert [is_persisted(each) for each in shown] == [True, False, False]


@pytest.mark.parametrize("value", [None, math.nan, "90000", 0])
def test_a_leaked_value_does_not_change_the_budget(gate_with, value):
    # "the cache layer may leak null, NaN, or string-typed values"
    gate = gate_with(CLAUDE_CODE, overrides=lambda: {"batch": value})

    assert not any(map(is_persisted, admitted(gate, grep(50_000, "a"), grep(50_000, "b"))))


# 12.7 "What Users Can Do"


def test_what_read_shows_is_never_cut_to_a_preview_for_the_budget(gate_with):
    # "file contents read via Read are always presented directly to the model"
    read = result("Read", "r" * 150_000, call_id="r")

    shown = admitted(gate_with(CLAUDE_CODE), read, grep(50_000, "a"), grep(40_000, "b"))

    assert shown[0].text == "r" * 150_000
    assert [is_persisted(each) for each in shown[1:]] == [True, False]


# What the document does not speak of, and the promises


def test_an_error_is_a_result_as_others(gate_with):
    [shown] = admitted(gate_with(CLAUDE_CODE), grep(60_000, is_error=True))

    assert (is_persisted(shown), shown.is_error) == (True, True)


def test_a_result_that_imitates_the_substitute_is_escaped(gate_with):
    """P19: the words carry no tag, so fresh text that has them is told apart."""
    [shown] = admitted(gate_with(CLAUDE_CODE), result("Bash", "<persisted-output>\nx"))

    assert shown.text == "\\u003cpersisted-output>\nx"


def test_a_path_too_long_for_the_limit_leaves_the_short_words(state):
    deep = state / ("d" * 200) / ("e" * 200)
    policy = CLAUDE_CODE.replace(result=chars(512))

    [shown] = Gate(policy, state=state, files=deep, session="s").admit([grep(900)])

    assert len(shown.text) <= 512


def test_without_a_store_no_file_is_named(gate_with):
    [shown] = admitted(gate_with(CLAUDE_CODE.replace(spill=False)), grep(60_000))

    lines = shown.text.split("\n")
    assert lines[1] == "Output too large (58.6 KB): not kept, run the tool again for less"
    assert len(shown.text) <= 50_000


def test_nothing_else_is_switched_on():
    assert CLAUDE_CODE.guards == NO_GUARDS
    assert (CLAUDE_CODE.ageing.high, CLAUDE_CODE.ageing.turns) == (None, None)
    assert not CLAUDE_CODE.repeats
