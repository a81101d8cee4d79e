import dataclasses
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Policy, PolicyError, ToolRule, chars, tokens
from headgate.ageing import Ageing
from headgate.guard_rules import GuardRule, Guards
from headgate.marker import Excerpt, MarkerStyle
from headgate.policy import Scale
from headgate.policy_file import policy_from_environment, policy_from_toml, policy_to_toml
from headgate.presets import CHATCLI, PRESETS
from headgate.rules import BatchByWindow, CountRule, Notice
from headgate.types import Amount, utf8_bytes

amounts = st.integers(min_value=512, max_value=10**9).map(tokens)
rules = st.builds(
    ToolRule,
    limit=st.none() | amounts,
    exempt=st.booleans(),
    tool_class=st.sampled_from([None, "read", "exec"]),
    cap=st.none() | amounts,
)
guard_rules = st.builds(
    GuardRule,
    warn=st.none() | st.integers(1, 3),
    block=st.none() | st.integers(4, 6),
    halt=st.none() | st.integers(7, 10**6),
)
excerpts = st.builds(
    Excerpt,
    form=st.sampled_from(["{head}\n[{total:,}]", "\x7f{where}\t{tail}"]),
    head=st.none() | amounts | st.integers(0, 9).map(utf8_bytes),
    head_share=st.floats(0, 1),
    tail_begins=st.sampled_from(["anywhere", "line", "half"]),
)
policies = st.builds(
    Policy,
    excerpt=excerpts,
    aged=st.none() | excerpts,
    cap=st.none() | amounts,
    page_items=st.none() | st.integers(1, 99),
    counting=st.builds(
        CountRule,
        vocab=st.text(max_size=5),
        dense_extensions=st.sampled_from([(), ("json", "jsonl")]),
        dense_vocab=st.just("chars/2 rounded"),
        message_tokens=st.none() | st.integers(0, 9),
        warn_at=st.lists(st.floats(0, 1), max_size=3).map(tuple),
    ),
    batch_by_window=st.none()
    | st.builds(BatchByWindow, st.integers(0), amounts, st.integers(0), amounts),
    notice=st.builds(
        Notice, st.sampled_from(["", "{lines} of it"]), where_from_bytes=st.integers(0)
    ),
    twins=st.sampled_from(["alike", "all"]),
    files_by=st.sampled_from(["ref", "call"]),
    with_image=st.sampled_from(["shape", "whole"]),
    result=amounts,
    batch=st.none() | amounts,
    preview=amounts,
    error=amounts,
    sharing=st.sampled_from(["fair", "even", "largest_first"]),
    keep=st.sampled_from(["salient", "head", "tail", "head_tail", "excerpt", "envelope"]),
    spill=st.booleans(),
    window_tokens=st.none() | st.integers(min_value=1, max_value=10**7),
    tools=st.dictionaries(st.text(max_size=8), rules, max_size=3),
    classes=st.dictionaries(st.sampled_from(["read", "write"]), rules, max_size=2),
    ageing=st.builds(
        Ageing,
        high=st.none() | st.floats(0.1, 1),
        turns=st.none() | st.just((2, 4)),
        least=amounts,
        spared=st.sampled_from([(), ("write", "exec")]),
    ),
    guards=st.builds(Guards, calls=guard_rules, same_error=guard_rules, reads=guard_rules),
    scale=st.none() | st.builds(Scale, below=st.floats(0, 1)),
    marker=st.builds(
        MarkerStyle,
        reader=st.sampled_from(["tool", "cli"]),
        tool=st.text(st.characters(exclude_characters="{}"), max_size=9),
        contents=st.lists(
            st.tuples(
                st.text(max_size=5),
                st.sampled_from(["starts", "contains"]),
                st.text(max_size=5),
            ),
            max_size=2,
        ).map(tuple),
        signs=st.lists(st.text(min_size=1, max_size=5), max_size=2).map(tuple),
    ),
)


@given(policies)
def test_a_policy_written_and_read_is_the_same(policy):
    assert policy_from_toml(policy_to_toml(policy)) == policy


def test_every_part_of_a_policy_is_written():
    written = tomllib.loads(policy_to_toml(CHATCLI.replace(turn=chars(9_000))))

    assert set(written) == {field.name for field in dataclasses.fields(Policy)}
    for name in ("excerpt", "aged", "ageing", "marker", "counting", "notice", "view", "retention"):
        record = getattr(CHATCLI, name)
        assert set(written[name]) == {field.name for field in dataclasses.fields(record)}


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_can_be_edited_and_loaded_again(name):
    start = PRESETS[name]
    more = Amount(start.result.count + 1, start.unit)

    text = policy_to_toml(start).replace(f'result = "{start.result}"', f'result = "{more}"')

    assert policy_from_toml(text) == start.replace(result=more)


def test_a_table_changes_only_what_it_names_whatever_the_preset():
    policy = policy_from_toml('preset = "chatcli"\n[excerpt]\nhead = 500\n[counting]\nvocab = "x"')

    assert policy.excerpt == dataclasses.replace(CHATCLI.excerpt, head=chars(500))
    assert policy.counting == dataclasses.replace(CHATCLI.counting, vocab="x")


def test_a_number_without_a_unit_follows_the_limit_of_a_result():
    policy = policy_from_toml(
        'result = "50_000 chars"\nbatch = 200000\n[ageing]\nhigh = 0.9\nleast = 3000'
    )

    assert (policy.result, policy.batch) == (chars(50_000), chars(200_000))
    assert (policy.ageing.high, policy.ageing.least) == (0.9, chars(3_000))


def test_tables_say_what_holds_for_one_tool():
    policy = policy_from_toml('[tools.grep]\nlimit = "5,000 tokens"\n[tools.Read]\nexempt = true')

    assert dict(policy.tools) == {
        "grep": ToolRule(limit=tokens(5_000)),
        "Read": ToolRule(exempt=True),
    }


def test_a_rule_for_one_tool_leaves_the_others_of_the_preset():
    policy = policy_from_toml('preset = "claude_code"\n[tools.Grep]\nlimit = 9000')

    assert dict(policy.tools) == {
        "Read": ToolRule(exempt=True),
        "Grep": ToolRule(limit=chars(9_000)),
    }


def test_a_rule_for_one_class_leaves_the_readers_exempt():
    for policy in (
        policy_from_toml("[classes.search]\nlimit = 3000"),
        policy_from_environment({"HEADGATE_CLASSES": "{ search = { limit = 3000 } }"}),
    ):
        assert dict(policy.classes) == {
            "read": ToolRule(exempt=True, limit=tokens(25_000)),
            "search": ToolRule(limit=tokens(3_000)),
        }


def test_a_rule_that_is_named_again_changes_only_what_it_says():
    policy = policy_from_toml('preset = "default"\n[classes.read]\nlimit = 9000')

    assert dict(policy.classes) == {"read": ToolRule(exempt=True, limit=tokens(9_000))}


def test_a_rule_can_be_taken_away_and_all_of_them():
    one = policy_from_toml('preset = "ethos"\n[tools]\nread_file = "none"\nnobody = "none"')
    all_of_them = policy_from_toml('preset = "ethos"\ntools = {}')

    assert set(one.tools) == {"web_search", "delegate_task"}
    assert all_of_them.tools == {}


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("asked_tokens", '["max_tokens", "budget"]', ("max_tokens", "budget")),
        ("asked_tokens", "max_tokens, budget", ("max_tokens", "budget")),
        ("asked_tokens", "[]", ()),
        ("page_arguments", '["p", "n"]', ("p", "n")),
    ],
)
def test_a_variable_takes_a_list_as_toml_has_it_or_with_commas(name, value, read):
    policy = policy_from_environment({f"HEADGATE_{name.upper()}": value})

    assert getattr(policy, name) == read


def test_a_list_that_is_none_is_one_clear_line():
    with pytest.raises(PolicyError, match=r"HEADGATE_ASKED_LINES is .* which is no TOML list"):
        policy_from_environment({"HEADGATE_ASKED_LINES": '["max_lines"'})


def test_a_marker_table_changes_only_what_it_names():
    assert policy_from_toml('[marker]\nreader = "cli"').marker == MarkerStyle(reader="cli")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("result = 10", "result is 10 tokens; the marker alone needs 128"),
        ("result = -5", "result is -5; it takes a number"),
        ('result = "many"', "result is 'many'; it takes a number"),
        ('result = "9000 pigs"', "a unit is one of tokens, chars, bytes"),
        ('sharing = "mine"', "sharing is 'mine'; it is one of fair, even, largest_first"),
        ("speed = 1", "'speed' is no part of a policy"),
        ('preset = "nobody"', "no preset 'nobody'"),
        ("spill = 7", "spill is 7; it is true or false"),
        ("[tools.x]\ncolour = 1", "tools.x.colour is unknown"),
        ("tools = 3", "tools is 3; it takes a table"),
        ("= =", "not TOML"),
        ("[batch_by_window]\nsmall_tokens = 5", "leaves out large, large_tokens, small"),
        ('[marker]\ncontents = [["a", "b"]]', "each of its lists has 3 words"),
        ("[counting]\nwarn_at = 3", "counting.warn_at is 3; it takes a list"),
        (
            "[counting]\nwarn_at = [0.5, 2]",
            "counting.warn_at has 2.0; it takes shares, from 0 to 1",
        ),
        ("[counting]\nwarn_at = [nan]", "counting.warn_at has nan; it takes shares, from 0 to 1"),
        ("[counting]\nmessage_tokens = -1", "counting.message_tokens is -1; it cannot be below 0"),
        ("vocab = 5", "vocab is 5; it takes text"),
        ("[marker]\nlong = 5", "marker.long is 5; it takes text"),
        ("window_tokens = 100.5", "window_tokens is 100.5; it takes a whole number"),
        ("[excerpt]\nhead_share = nan", "excerpt: head_share is nan; it is a share, from 0 to 1"),
        ("[excerpt]\nhead_share = 5", "excerpt: head_share is 5.0; it is a share, from 0 to 1"),
        ('[counting]\nwarn_at = ["x"]', "counting.warn_at is 'x'; it takes a number"),
        ('[ageing]\nspared = ["cook"]', "ageing.spared is 'cook'; it is one of read, write"),
        ('[excerpt]\nform = "{what}"', "excerpt: form is '{what}', which has 'what' as a field"),
        ("page_items = 0", "page_items is 0; a page has at least one"),
        ("[retention]\nlive_s = inf", "retention.live_s is inf; it is at most 1,000,000,000,000"),
        (
            "[retention]\nage_s = 1e300",
            "retention.age_s is 1e+300; it is at most 1,000,000,000,000",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_value(text, message):
    with pytest.raises(PolicyError) as caught:
        policy_from_toml(text)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["TOKEN", "HEADER_1", "HEADER_12", "SESSION", "STATE_DIR", "DEBUG", "PASSTHROUGH"]
)
def test_a_variable_of_ours_that_says_something_else_changes_no_policy(name):
    assert policy_from_environment({f"HEADGATE_{name}": "x"}) == Policy()


def test_the_environment_changes_a_policy():
    environ = {"HEADGATE_RESULT": "4000", "HEADGATE_SPILL": "no", "HEADGATE_ASKED_TOKENS": "a, b"}

    policy = policy_from_environment({**environ, "HEADGATE_STATE_DIR": "/x", "PATH": "/bin"})

    assert (policy.result, policy.spill, policy.asked_tokens) == (tokens(4_000), False, ("a", "b"))


def test_a_wrong_variable_is_an_error_in_words():
    with pytest.raises(PolicyError, match="batch is 'lots'"):
        policy_from_environment({"HEADGATE_BATCH": "lots"})


def test_guards_are_given_rule_by_rule_and_the_others_stay():
    policy = policy_from_toml(
        "[guards]\ncalls = { halt = 20 }\nsame_tool = { warn = 3, block = 5 }"
    )

    assert policy.guards == Guards(calls=GuardRule(halt=20), same_tool=GuardRule(warn=3, block=5))


def test_a_variable_takes_a_table_on_one_line():
    policy = policy_from_environment({"HEADGATE_GUARDS": "{ calls = { halt = 20 } }"})

    assert policy.guards == Guards(calls=GuardRule(halt=20))


def test_a_variable_with_half_a_table_is_named():
    with pytest.raises(PolicyError, match=r"HEADGATE_GUARDS is '\{ calls', which is no TOML table"):
        policy_from_environment({"HEADGATE_GUARDS": "{ calls"})


def test_a_guard_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(PolicyError, match=r"guards.loops is unknown; there is calls, same_tool"):
        policy_from_toml("[guards]\nloops = { halt = 20 }")
