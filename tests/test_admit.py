import re
from dataclasses import replace

import pytest

from headgate import Policy, ShownResult, Text, ToolResult, ToolRule, chars, tokens
from headgate.admit import plan_batch, shares_ahead
from headgate.events import OverrideIgnored
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES, OverrideTable, overrides_of
from headgate.measure.meters import meter_for
from headgate.testing import lines, result
from tests.admitting import IMAGE, KEY, METER, big, plan


@pytest.mark.proves("K1")
def test_a_small_result_is_left_alone_and_not_stored():
    planned = plan([result("grep", "one line")])

    [verdict] = planned.verdicts
    assert (verdict.fate, verdict.text, verdict.ref, planned.spills) == ("whole", None, None, ())


@pytest.mark.proves("R10", "R6", "K1")
def test_a_big_result_is_shortened_and_its_original_planned_to_be_kept():
    planned = plan([big()])

    [verdict] = planned.verdicts
    [spill] = planned.spills
    assert verdict.fate == "spilled"
    assert verdict.after.tokens + Policy().block_overhead <= 8_000
    assert verdict.before.tokens > 30_000
    assert verdict.limit == tokens(8_000)
    assert verdict.limit_by == "the policy's default"
    assert (spill.ref, spill.original) == (verdict.ref, lines(3_000).encode())


@pytest.mark.proves("R15", "0.4")
@pytest.mark.parametrize(("colour", "ask"), [("", 'bytes="'), ("\x1b[31m", 'lines="1-"')])
def test_a_marker_asks_by_bytes_only_where_they_are_those_of_the_original(colour, ask):
    [verdict] = plan([result("bash", colour + "x" * 99_000)]).verdicts

    assert f'", {ask}' in verdict.text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("short", "fits"),
        ("\x1b[31mred", "fits; made readable, the original is kept"),
    ],
)
def test_what_goes_in_whole_says_why(content, reason):
    assert plan([result("bash", content)]).verdicts[0].reason == reason


@pytest.mark.proves("R7", "P3")
def test_five_big_results_share_the_batch_fairly():
    planned = plan([big(count=3_000 + i) for i in range(5)])

    sizes = [verdict.after.tokens + 4 for verdict in planned.verdicts]
    assert sum(sizes) <= 20_000
    assert min(sizes) > 3_500
    assert planned.verdicts[0].limit_by == "its share of the batch; the policy's default"


@pytest.mark.proves("R7")
def test_small_results_leave_their_slack_to_a_large_one():
    policy = Policy(batch=tokens(8_000))
    planned = plan([result("a", "x"), big(), result("b", "y")], policy)

    assert planned.verdicts[1].after.tokens > 7_000


@pytest.mark.proves("R7")
def test_largest_first_spills_the_largest_down_to_a_preview():
    policy = Policy(batch=tokens(9_000), sharing="largest_first", preview=tokens(500))
    planned = plan([big(count=200), big(count=3_000), big(count=300)], policy)

    fates = [verdict.fate for verdict in planned.verdicts]
    assert fates == ["whole", "spilled", "whole"]
    assert planned.verdicts[1].after.tokens <= 500


@pytest.mark.proves("R5", "P3")
def test_an_exempt_result_goes_in_whole_and_counts_in_the_batch():
    policy = Policy(batch=tokens(6_000), tools={"Read": ToolRule(exempt=True)})
    planned = plan([big("Read", 300), big("grep", 3_000)], policy)

    read, grep = planned.verdicts
    assert read.fate == "whole"
    assert grep.after.tokens + read.after.tokens + 8 <= 6_000


@pytest.mark.proves("P3", "0.6")
def test_every_result_keeps_at_least_the_smallest_limit():
    policy = Policy(batch=tokens(200))
    planned = plan([big(count=100 + i) for i in range(10)], policy)

    assert all(60 < verdict.after.tokens <= 128 for verdict in planned.verdicts)


@pytest.mark.proves("R2", "P3")
def test_images_take_their_fixed_cost_from_the_batch():
    policy = Policy(batch=tokens(5_000))
    planned = plan([result("shot", [Text("see"), IMAGE, IMAGE]), big()], policy)

    assert planned.verdicts[1].after.tokens <= 5_000 - 4_000 - 5


@pytest.mark.proves("R6", "R7")
def test_an_even_share_is_the_limit_that_is_told_of_small_results_too():
    batch = [result("terminal", "x" * 10, call_id=f"c{n}") for n in range(3)]

    planned = plan(batch, Policy(batch=tokens(6_000), sharing="even"))

    assert [(verdict.limit, verdict.limit_by, verdict.fate) for verdict in planned.verdicts] == [
        (tokens(2_000), "its share of the batch; the policy's default", "whole")
    ] * 3


@pytest.mark.proves("R6", "R9")
def test_the_share_that_a_tool_was_told_is_the_limit_that_is_told_of_its_result():
    kept = replace(result("terminal", lines(50), call_id="c1"), promised=1_500)

    planned = plan([kept, big("find", 2_000)], Policy(batch=tokens(3_000)))

    assert (planned.verdicts[0].limit, planned.verdicts[0].fate) == (tokens(1_500), "whole")


@pytest.mark.proves("R5")
def test_the_operator_can_override_a_tool_and_the_batch():
    overrides = overrides_of({"batch": 900, "tools": {"grep": 300, "x": "many"}}, Policy())
    planned = plan([big(), big("find", 2_000)], overrides=overrides)

    assert planned.budget == 900
    assert planned.verdicts[0].after.tokens <= 300
    assert OverrideIgnored("x", "'many'") in planned.events


@pytest.mark.proves("R14")
def test_a_call_admitted_again_gets_the_recorded_verdict_whatever_the_policy_is_now():
    ledger = Ledger(None)
    first = plan([big()], ledger=ledger)
    ledger.record(list(zip(first.keys, first.verdicts, strict=True)), time_ns=1)

    again = plan([big()], Policy(result=tokens(200)), ledger)

    assert (again.verdicts, again.spills) == (first.verdicts, ())


@pytest.mark.proves("0.2")
def test_a_reused_call_id_with_other_content_is_another_call():
    ledger = Ledger(None)
    first = plan([big(call_id="call_1")], ledger=ledger)
    ledger.record(list(zip(first.keys, first.verdicts, strict=True)), time_ns=1)

    [other] = plan([big(count=2_000, call_id="call_1")], ledger=ledger).verdicts

    assert other.sha256 != first.verdicts[0].sha256


@pytest.mark.proves("R11")
def test_an_error_flag_is_on_the_verdict_and_its_tail_is_kept():
    text = lines(3_000) + "\nKeyError: 'ledger'"
    [verdict] = plan([result("bash", text, is_error=True)]).verdicts

    assert verdict.is_error
    assert verdict.after.tokens <= 4_000
    assert verdict.text.endswith("KeyError: 'ledger'")


@pytest.mark.proves("R11", "P2")
def test_errors_go_in_verbatim_where_the_policy_says_so():
    [verdict] = plan([big(is_error=True)], Policy(errors="verbatim")).verdicts

    assert (verdict.fate, verdict.limit) == ("whole", None)


@pytest.mark.proves("K8")
def test_the_same_content_twice_in_a_batch_is_kept_once():
    planned = plan([big(call_id="a"), big(call_id="b")])

    assert len(planned.spills) == 1
    assert planned.verdicts[0].ref == planned.verdicts[1].ref


@pytest.mark.proves("R4", "K1")
def test_what_normalising_changed_goes_in_whole_with_its_original_kept():
    planned = plan([result("bash", "\x1b[31mred\x1b[0m")])

    [verdict] = planned.verdicts
    assert (verdict.fate, verdict.text) == ("whole", "red")
    assert planned.spills[0].original == b"\x1b[31mred\x1b[0m"


@pytest.mark.proves("0.5")
def test_nothing_is_kept_only_where_the_operator_switched_the_store_off():
    planned = plan([big()], Policy(spill=False))

    [verdict] = planned.verdicts
    assert (verdict.fate, verdict.ref, planned.spills) == ("shaped", None, ())
    assert "not kept" in verdict.text


@pytest.mark.proves("K6")
def test_what_was_read_back_is_never_spilled_again():
    from dataclasses import replace

    planned = plan([replace(big("read_result", 900), origin="store")])

    assert (planned.verdicts[0].fate, planned.spills) == ("whole", ())


def test_an_empty_batch_is_an_empty_plan():
    assert plan([]).verdicts == ()


@pytest.mark.proves("R10", "P2")
@pytest.mark.parametrize("count", [6_000, 12_000])
def test_a_large_result_goes_in_whole_exactly_if_it_fits(count):
    text = "".join(f"2026-01-01 INFO step {n} is done, {n * n % 7919} left\n" for n in range(count))
    exact = METER.count(text) + Policy().block_overhead

    for limit, fate in [(exact - 1, "spilled"), (exact, "whole"), (exact + 1, "whole")]:
        policy = Policy(result=tokens(limit), batch=None)
        [verdict] = plan([result("grep", text)], policy).verdicts
        assert (limit, verdict.fate) == (limit, fate)
        assert verdict.after.tokens + policy.block_overhead <= limit


@pytest.mark.proves("R7")
def test_an_even_share_is_the_budget_by_the_number_of_results():
    policy = Policy(result=chars(80_000), batch=chars(80_000), sharing="even")

    alone, of_three = (
        plan([result("bash", "x" * 90_000, call_id=f"call_{i}") for i in range(n)], policy)
        for n in (1, 3)
    )

    assert [verdict.limit for verdict in alone.verdicts] == [chars(80_000)]
    assert [verdict.limit for verdict in of_three.verdicts] == [chars(26_666)] * 3


@pytest.mark.proves("R9")
def test_a_share_known_ahead_is_an_even_split_under_the_tools_own_limit():
    policy = Policy(tools={"grep": ToolRule(limit=tokens(2_000))})
    batch = [result(tool, "") for tool in ("bash", "grep", "read_file", "web_fetch")]

    assert shares_ahead(batch, policy, NO_OVERRIDES) == [5_000, 2_000, 25_000, 5_000]
    assert shares_ahead(batch[:1], policy, NO_OVERRIDES) == [8_000]
    assert shares_ahead(batch, policy, OverrideTable({}, 400, ())) == [128, 128, 25_000, 128]
    assert shares_ahead(batch[:1], policy.replace(batch=None), NO_OVERRIDES) == [8_000]


@pytest.mark.proves("R9")
def test_a_result_under_its_share_is_left_alone_whatever_the_others_take():
    reader = result("read_file", lines(1_800), call_id="call_1")
    told = replace(result("bash", lines(300), call_id="call_2"), promised=6_666)
    untold = replace(told, call_id="call_3", promised=None)

    fates = [verdict.fate for verdict in plan([reader, told, untold]).verdicts]

    assert fates == ["whole", "whole", "spilled"]


@pytest.mark.proves("R9")
def test_a_result_over_its_share_is_treated_as_any_other():
    told = replace(big(), promised=6_666)

    assert plan([told]).verdicts == plan([big()]).verdicts


def test_a_result_is_shown_with_all_that_came_with_it():
    fields = ("c", "bash", (Text("x"),), True, {"a": 1}, tokens(5), "log", 7, True, "note", "store")
    came = ToolResult(*fields)
    [verdict] = plan([came]).verdicts

    assert came.seen_as(verdict) == ShownResult(*fields, verdict=verdict)
    assert came.seen_as(verdict, (Text("y"),)).blocks == (Text("y"),)


@pytest.mark.proves("R15")
@pytest.mark.parametrize("text", [lines(3_000), "def f():\n    return 1\n\n\n" * 900])
def test_a_marker_says_tokens_whatever_limits_are_measured_by(text):
    told = []
    for policy in (Policy(result=tokens(500), batch=None), Policy(result=chars(1_500), batch=None)):
        desk = Desk(policy, meter_for("o200k", policy.unit), KEY, "default")
        batch = [result("bash", text)]
        [verdict] = plan_batch(batch, Ledger(None), desk, NO_OVERRIDES).verdicts
        told.append(float(re.search(r"about ([\d.]+)k tokens", verdict.text)[1]))

    assert told[0] == pytest.approx(told[1], rel=0.05)


BINARY = bytes(range(256)) * 1_000


@pytest.mark.proves("S5")
def test_much_binary_data_is_measured_by_its_length_and_described():
    [verdict] = plan([result("bash", BINARY)]).verdicts

    assert (verdict.kind, verdict.before.bytes, verdict.before.exact) == ("binary", 256_000, False)
    assert verdict.text is not None
    assert verdict.text.startswith("Binary data, 256,000 bytes, unknown format.")


@pytest.mark.proves("P18")
def test_much_binary_data_that_may_go_in_whole_is_made_readable():
    exempt = Policy(batch=None, tools={"bash": ToolRule(exempt=True)})

    [verdict] = plan([result("bash", BINARY)], exempt).verdicts

    assert verdict.fate == "whole"
    assert verdict.text is not None
    assert "\\xff" in verdict.text
    assert "\x00" not in verdict.text


@pytest.mark.proves("P18")
def test_much_binary_data_that_cannot_be_kept_is_let_in_readable_where_the_policy_says_so():
    policy = Policy(store_fails="whole")
    [spill] = plan([result("bash", BINARY)], policy).spills

    [verdict] = plan([result("bash", BINARY)], policy, failed={spill.ref: "nowhere"}).verdicts

    assert (verdict.fate, verdict.ref) == ("whole", None)
    assert verdict.text is not None
    assert "\x00" not in verdict.text


@pytest.mark.parametrize(
    ("keep", "content", "kind"),
    [
        ("envelope", "word " * 300, None),
        ("excerpt", "[1,2,3]", None),
        ("envelope", "[1,2,3]", "log"),
    ],
)
def test_a_form_holds_only_for_what_it_is_the_form_of(keep, content, kind):
    policy = Policy(keep=keep, cap=tokens(200), page_items=1)
    [verdict] = plan([replace(result("bash", content), kind=kind)], policy).verdicts

    assert (verdict.fate, verdict.text) == ("whole", None)


@pytest.mark.proves("P3")
def test_pages_of_arrays_that_would_fit_keep_to_the_budget_of_their_batch():
    policy = Policy(keep="envelope", page_items=2, batch=tokens(1_000), block_overhead=0)
    array = f'["{"word " * 150}", "{"word " * 80}", 3]'
    planned = plan([result("bash", array, call_id=f"c{n}") for n in range(4)], policy)

    assert METER.count(array) * 4 < 1_000
    assert sum(verdict.after.tokens for verdict in planned.verdicts) <= 1_000


@pytest.mark.proves("R6")
def test_binary_data_that_goes_in_whole_after_all_is_measured_as_it_is_shown():
    blob = result("bash", BINARY)
    [told] = plan([blob]).verdicts
    policy = Policy(store_fails="whole", result=tokens(1_000))
    [verdict] = plan([blob], policy, failed={told.ref: "nowhere"}).verdicts

    assert verdict.fate == "whole"
    assert (verdict.after.chars, verdict.after.bytes) == (
        len(verdict.text),
        len(verdict.text.encode()),
    )


@pytest.mark.proves("P18", "P19", "R3")
@pytest.mark.parametrize("tool", ["a\x1b[31mb\x07", "a\ud800", "x #k7q2]", "\u202ea"])
@pytest.mark.parametrize("content", ["", " \n\n"])
def test_no_name_of_a_tool_brings_controls_or_a_marker_into_an_empty_result(tool, content):
    [verdict] = plan([result(tool, content)]).verdicts

    assert verdict.text.encode().decode().replace("\\", "").isprintable()
    assert "#k7q2]" not in verdict.text


@pytest.mark.proves("R5", "0.6")
@pytest.mark.parametrize(
    ("declared", "size"), [(chars(1), 512), (chars(900), 900), (tokens(9), 1_200), (None, 1_200)]
)
def test_a_cap_that_a_tool_declares_is_in_the_policys_unit_and_no_smaller_than_a_limit(
    declared, size
):
    policy = Policy(result=chars(5_000), keep="excerpt", declarations="cap", cap=chars(1_200))
    desk = Desk(policy, meter_for("o200k", "chars"), KEY, "default")
    batch = [result("bash", "x" * 4_000, declared=declared)]
    [verdict] = plan_batch(batch, Ledger(None), desk, NO_OVERRIDES).verdicts

    assert len(verdict.text) == size
    assert verdict.text.startswith("x" * 400)
