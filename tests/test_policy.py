import dataclasses
import math

import pytest

from headgate import Policy, PolicyError, ToolRule, chars, tokens, utf8_bytes
from headgate.marker import MarkerStyle
from headgate.policy import Scale


@pytest.mark.proves("PRE-default")
def test_the_defaults_are_those_of_the_spec():
    policy = Policy()

    assert (policy.result, policy.batch, policy.error) == (
        tokens(8_000),
        tokens(20_000),
        tokens(4_000),
    )
    assert (policy.sharing, policy.errors, policy.keep) == ("fair", "own", "salient")
    assert policy.rule("Read") == ToolRule(exempt=True, limit=tokens(25_000))


def test_a_policy_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().result = tokens(1)  # type: ignore[misc]


@pytest.mark.proves("0.6")
@pytest.mark.parametrize("count", [127, 1, 0, -5])
def test_a_limit_below_the_smallest_is_refused(count):
    with pytest.raises(PolicyError, match=f"result is {count} tokens; the marker alone needs 128"):
        Policy(result=tokens(count))


@pytest.mark.proves("0.6")
def test_the_smallest_limit_is_accepted():
    assert Policy(result=tokens(128), preview=tokens(128), error=tokens(128)).minimum == 128


@pytest.mark.proves("0.1")
def test_one_policy_counts_in_one_unit():
    with pytest.raises(PolicyError, match="batch is 9000 tokens, but this policy counts in chars"):
        Policy(result=chars(50_000), batch=tokens(9_000))


@pytest.mark.proves("0.1")
@pytest.mark.parametrize("unit", [chars, utf8_bytes])
def test_a_policy_counts_in_characters_or_bytes_where_told(unit):
    policy = Policy(result=unit(50_000))

    assert policy.unit == unit(1).unit
    # What was left at its default is said in the policy's own unit, four to a token.
    assert (policy.batch, policy.error) == (unit(80_000), unit(16_000))
    assert policy.classes["read"].limit == unit(100_000)
    assert policy.ageing.least == unit(2_000)


@pytest.mark.parametrize("count", [True, 1.5, math.nan, "8"])
def test_a_limit_is_a_whole_number(count):
    with pytest.raises(PolicyError):
        Policy(result=tokens(count))


@pytest.mark.proves("PRE-default")
@pytest.mark.parametrize(
    ("window", "budget"), [(None, 20_000), (200_000, 20_000), (100_000, 10_000), (500, 128)]
)
def test_a_batch_takes_at_most_a_tenth_of_a_known_window(window, budget):
    assert Policy(window_tokens=window).batch_count == budget


@pytest.mark.proves("R8")
@pytest.mark.parametrize(
    ("used", "budget"), [(None, 20_000), (0.2, 28_000), (0.6, 20_000), (0.9, 12_000)]
)
def test_the_budget_of_a_batch_follows_how_full_the_window_is(used, budget):
    assert Policy(scale=Scale()).batch_budget(used=used) == budget
    assert Policy(scale=Scale(), batch=None).batch_budget(used=used) is None
    assert Policy(turn=tokens(9_000), scale=Scale()).batch_budget(4_000, used) == 5_000


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"batch_window_share": 0}, "batch_window_share is 0; it is above 0, at most 1"),
        ({"batch_window_share": 1.1}, "batch_window_share is 1.1; it is above 0, at most 1"),
        ({"window_tokens": 0}, "window_tokens is 0; leave it out if unknown"),
        ({"media_tokens": -1}, "media_tokens is -1; it cannot be below 0"),
        ({"block_overhead": -1}, "block_overhead is -1; it cannot be below 0"),
        (
            {"block_overhead": 17},
            "block_overhead is 17; more than 16 leaves the smallest limit no room",
        ),
        ({"memory_bytes": -1}, "memory_bytes is -1; it cannot be below 0"),
        ({"tokens_per_line": -1}, "tokens_per_line is -1; it cannot be below 0"),
        ({"page_items": 0}, "page_items is 0; a page has at least one"),
        (
            {"classes": {"reader": ToolRule()}},
            "class 'reader'; it is one of read, write, exec, search, pinned",
        ),
    ],
)
def test_what_cannot_hold_is_refused_with_what_could(given, words):
    with pytest.raises(PolicyError) as raised:
        Policy(**given)

    assert str(raised.value) == words


def test_an_unknown_word_is_refused_with_the_known_ones():
    with pytest.raises(PolicyError, match="fair, even, largest_first"):
        Policy(sharing="random")  # type: ignore[arg-type]


def test_a_changed_policy_is_checked_again():
    with pytest.raises(PolicyError):
        Policy().replace(result=tokens(5))


def test_a_tools_own_rule_goes_before_its_class():
    policy = Policy(tools={"Read": ToolRule(limit=tokens(500))})

    assert policy.rule("Read") == ToolRule(limit=tokens(500))


@pytest.mark.proves("R5")
def test_a_tools_class_comes_from_its_rule_or_else_from_its_name():
    policy = Policy(tools={"slurp": ToolRule(tool_class="read"), "grep": ToolRule()})

    assert policy.class_of("slurp") == "read"
    assert policy.class_of("read_file") == "read"
    assert policy.class_of("slurps") is None
    assert policy.rule("slurp") == ToolRule(exempt=True, limit=tokens(25_000))
    assert policy.rule("grep") == ToolRule()


def test_a_page_is_asked_for_with_two_arguments():
    with pytest.raises(PolicyError, match="it takes two names: page and page size"):
        Policy(page_arguments=("page",))


@pytest.mark.parametrize(
    ("style", "words"),
    [
        ({"long": "{nothing}"}, "marker: long is '{nothing}', which has 'nothing' as a field"),
        ({"gap": "{first"}, "marker: gap is '{first', which has"),
        ({"cli": "{0}"}, "marker: cli is '{0}', which has"),
        ({"tool": "{ref.x}"}, "marker: tool is '{ref.x}', which has"),
        ({"file": "{ask}"}, "marker: file is '{ask}', which has 'ask' as a field"),
        ({"cleared": "{thousands:s}"}, "marker: cleared is '{thousands:s}', which has"),
        ({"empty": "}"}, "marker: empty is '}', which has"),
        ({"contents": (("a", "ends", "x"),)}, "marker: contents says 'ends'; a text starts with"),
        ({"signs": ("",)}, "marker: signs has an empty one, which is in every text"),
    ],
)
def test_words_that_cannot_be_written_are_refused_with_the_policy(style, words):
    with pytest.raises(PolicyError) as raised:
        Policy(marker=MarkerStyle(**style))

    assert str(raised.value).startswith(words)


@pytest.mark.parametrize("wait_s", [0, -1, float("nan"), float("inf"), 86_401])
def test_a_store_is_waited_for_a_while_or_for_ever(wait_s):
    with pytest.raises(PolicyError, match=r"store_timeout_s is .*above 0 and at most 86,400"):
        Policy(store_timeout_s=wait_s)


@pytest.mark.parametrize(
    "scale", [{"below": -0.1}, {"above": 1.1}, {"widen": float("inf")}, {"tighten": float("nan")}]
)
def test_a_scale_that_cannot_be_multiplied_with_is_refused(scale):
    with pytest.raises(PolicyError, match=f"scale.{next(iter(scale))} is "):
        Scale(**scale)


def test_a_limit_beyond_all_that_can_be_written_is_refused():
    with pytest.raises(PolicyError, match="result is above 1,000,000,000,000,000 tokens"):
        Policy(result=tokens(10**16))


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"result": 4_000}, "result is 4000; say its unit, as in tokens(8_000)"),
        ({"batch": "9000 tokens"}, "batch is '9000 tokens'; say its unit, as in tokens(8_000)"),
        ({"tools": {"grep": ToolRule(limit=500)}}, "limit for grep is 500; say its unit"),
        ({"tools": {"grep": 500}}, "the rule for grep is 500; say it as ToolRule(limit="),
    ],
)
def test_a_number_without_its_unit_is_refused_in_words(policy, words):
    with pytest.raises(PolicyError) as raised:
        Policy(**policy)

    assert str(raised.value).startswith(words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("declarations", "lower, raise, cap"),
        ("errors", "verbatim, same, own"),
        ("keep", "salient, head, tail, head_tail, excerpt, envelope"),
        ("with_image", "shape, whole"),
        ("store_fails", "shape, whole"),
        ("twins", "alike, all"),
        ("files_by", "ref, call"),
    ],
)
def test_a_word_that_means_nothing_is_refused(name, words):
    with pytest.raises(PolicyError) as raised:
        Policy(**{name: "nothing"})

    assert str(raised.value) == f"{name} is 'nothing'; it is one of {words}"
