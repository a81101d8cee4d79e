import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Policy, Retention, ToolResult, ToolRule, chars, tokens, utf8_bytes
from headgate.events import Deprecated, OverrideIgnored
from headgate.limits import NO_OVERRIDES, Limit, OverrideTable, limit_for, overrides_of, within
from headgate.marker import Excerpt, MarkerStyle
from headgate.view import View

POLICY = Policy()


def result(tool="grep", **more) -> ToolResult:
    return ToolResult.of(tool, "text", call_id="call_1", **more)


def limit(result_, policy=POLICY, overrides=NO_OVERRIDES) -> Limit:
    return limit_for(result_, policy, overrides)[0]


@pytest.mark.proves("R5")
def test_without_anything_said_the_policys_default_holds():
    assert limit(result()) == Limit(8_000, "the policy's default")


@pytest.mark.proves("R5")
def test_what_the_tool_declares_goes_before_the_default():
    assert limit(result(declared=tokens(3_000))).count == 3_000
    assert limit(result(), Policy(tools={"grep": ToolRule(limit=tokens(900))})).count == 900


@pytest.mark.proves("R5")
def test_what_the_call_asked_for_goes_before_what_the_tool_declares():
    asked = result(declared=tokens(3_000), arguments={"max_tokens": 500})

    assert limit(asked) == Limit(500, "the call asked for 500")


@pytest.mark.proves("R5")
def test_the_operators_override_goes_before_what_the_call_asked_for():
    asked = result(arguments={"max_tokens": 500})

    assert limit(asked, overrides=OverrideTable({"grep": 700}, None, ())).count == 700


@pytest.mark.proves("R5")
def test_an_exempt_tool_goes_before_all():
    policy = Policy(tools={"grep": ToolRule(exempt=True)})
    overrides = OverrideTable({"grep": 700}, None, ())

    assert limit(result(), policy, overrides) == Limit(
        None, "exempt: the tool limits itself", exempt=True
    )


@pytest.mark.proves("R5", "PRE-default")
@pytest.mark.parametrize("tool", ["Read", "read_file", "mcp__fs__read_text_file", "view"])
def test_file_readers_are_exempt_up_to_their_own_limit(tool):
    assert limit(result(tool)) == Limit(25_000, "exempt: the tool limits itself", exempt=True)


@pytest.mark.proves("R5")
def test_a_declaration_may_only_lower_where_the_policy_says_so():
    policy = Policy(declarations="lower")

    assert limit(result(declared=tokens(20_000)), policy).count == 8_000
    assert limit(result(declared=tokens(2_000)), policy).count == 2_000
    assert limit(result(declared=tokens(20_000))).count == 20_000


@pytest.mark.proves("R5")
@pytest.mark.parametrize("name", ["max_lines", "chunk_lines"])
def test_lines_are_mapped_to_tokens_with_a_warning(name):
    found, events = limit_for(result(arguments={name: 50}), POLICY, NO_OVERRIDES)

    assert found.count == 500
    assert events == [Deprecated("call_1", name, "max_tokens")]


@pytest.mark.proves("R5")
def test_lines_are_mapped_though_no_argument_asks_in_tokens():
    policy = Policy(asked_tokens=())

    found, events = limit_for(result(arguments={"max_lines": 50}), policy, NO_OVERRIDES)

    assert found.count == 500
    assert events == [Deprecated("call_1", "max_lines", "nothing")]


@pytest.mark.proves("R5")
@pytest.mark.parametrize("value", [None, "500", -3, 0, math.nan, math.inf, True, [500]])
def test_a_wish_that_is_no_number_above_zero_is_ignored(value):
    assert limit(result(arguments={"max_tokens": value})).count == 8_000


@pytest.mark.proves("R5", "P24")
@pytest.mark.parametrize("value", [10**16, 10**30, 10**400, 1e300])
def test_a_wish_for_more_than_can_be_written_is_the_most_that_can(value):
    assert limit(result(arguments={"max_tokens": value})).count == 10**15
    assert limit(result(declared=tokens(int(value)))).count == 10**15
    lines = result(arguments={"max_lines": value})
    assert limit(lines, Policy(tokens_per_line=10**9)).count == 10**15
    assert overrides_of({"tools": {"grep": value}}, POLICY).tools == {"grep": 10**15}


@pytest.mark.parametrize("values", [None, 5, [("batch", 500)]])
def test_overrides_that_are_nothing_of_the_kind_are_reported(values):
    table = overrides_of(values, POLICY)

    assert table == OverrideTable({}, None, (OverrideIgnored("all", repr(values)),))


@pytest.mark.proves("R5")
@pytest.mark.parametrize("unit", [chars, utf8_bytes])
def test_tokens_that_are_asked_for_are_four_characters_each_where_those_are_counted(unit):
    policy = Policy(result=unit(30_000))

    assert limit(result(arguments={"max_tokens": 500}), policy).count == 2_000
    assert limit(result(arguments={"max_lines": 50}), policy).count == 2_000


def test_one_limit_for_all_leaves_what_is_no_limit():
    stays = {
        "block_overhead": 9,
        "memory_bytes": 1_000,
        "retention": Retention(age_s=60),
        "view": View(lines=5),
        "vocab": "cl100k",
        "normalise": False,
        "spill": False,
        "files_by": "call",
        "store_timeout_s": 2.0,
        "marker": MarkerStyle(reader="file"),
        "keep": "excerpt",
        "excerpt": Excerpt("{head}"),
        "page_items": 7,
        "query_arguments": ("about",),
    }

    held = within(Policy(**stays, tools={"bash": ToolRule(exempt=True)}), tokens(900))

    assert {name: getattr(held, name) for name in stays} == stays
    assert (held.result, held.error, held.preview) == (tokens(900),) * 3
    assert (held.errors, held.batch, held.classes, held.tools) == ("same", None, {}, {})


@pytest.mark.proves("R5", "0.6")
def test_a_wish_below_the_smallest_limit_is_raised_to_it():
    assert limit(result(arguments={"max_tokens": 5})).count == 128


def test_a_declaration_in_another_unit_is_not_mistaken():
    assert limit(result(declared=chars(3_000))).count == 8_000


@pytest.mark.proves("R11")
def test_errors_have_a_limit_of_their_own():
    assert limit(result("Read", is_error=True)) == Limit(4_000, "the limit of errors")
    assert limit(result(is_error=True), Policy(errors="same")).count == 8_000
    assert limit(result(is_error=True), Policy(errors="verbatim")).count is None


values = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3)


@pytest.mark.proves("R5")
@given(st.dictionaries(st.text(max_size=4), values, max_size=4), values)
def test_only_finite_numbers_above_zero_override_and_the_rest_is_reported(tools, batch):
    table = overrides_of({"tools": tools, "batch": batch}, POLICY)

    good = {
        tool: value
        for tool, value in tools.items()
        if type(value) in (int, float) and math.isfinite(value) and value > 0
    }
    assert table.tools.keys() == good.keys()
    assert all(count >= 128 for count in table.tools.values())
    assert {ignored.tool for ignored in table.ignored} - {"batch"} == tools.keys() - good.keys() - {
        "batch"
    } or "batch" in tools
    assert (table.batch is None) == (OverrideIgnored("batch", repr(batch)) in table.ignored)


@pytest.mark.proves("R5")
def test_overrides_that_are_no_table_are_reported():
    assert overrides_of({"tools": 7}, POLICY).ignored == (OverrideIgnored("tools", "7"),)
