"""What repair does alike in every dialect, row by row of the failures seen in the field."""

import json

import pytest

from headgate.check import check
from headgate.dialects import DIALECTS, dialect_named
from headgate.errors import HistoryError
from headgate.history.mending import INTERRUPTED
from headgate.history.repair import repair
from tests.histories import KEYS, body, calls, results, round_of, said, user
from tests.history.mending import mended

every_dialect = pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])

A, B = ("a", "grep", {"q": 1}), ("b", "read", {"p": 2})


def answer(name, *texts):
    return results(name, *[(i, t, text) for (i, t, _), text in zip((A, B), texts, strict=False)])


def spoken(name, items):
    """What the results of a history say, by their ids."""
    dialect = dialect_named(name)
    history = dialect.read(json.dumps(items).encode())
    return {
        part.call_id: dialect.tool_result(part, None).text
        for message in history.messages
        for part in message.of_kind("result")
    }


@pytest.mark.proves("H1", "H5")
@every_dialect
@pytest.mark.parametrize("remark", [True, False], ids=["the user goes on", "at the end"])
def test_failure_1_a_call_without_result_is_answered_as_interrupted(name, remark):
    broken = user(name, "go") + calls(name, A, B) + (user(name, "and?") if remark else [])

    items, kinds = mended(name, broken)

    assert kinds[:2] == ["missing", "missing"]
    said_ = spoken(name, items)
    assert [text.removeprefix("Error: ") for text in said_.values()] == [INTERRUPTED, INTERRUPTED]
    assert list(said_) == ["a", "b"]


@pytest.mark.proves("H1")
def test_the_text_says_what_is_unknown_and_not_to_repeat_it_blindly():
    assert INTERRUPTED == (
        "This call was interrupted and its result never arrived. Its outcome is unknown: it may or "
        "may not have taken effect. Do not repeat it blindly; first find out how things stand."
    )


@pytest.mark.proves("H1")
@every_dialect
def test_failure_2_of_parallel_calls_only_the_missing_result_is_made(name):
    broken = user(name, "go") + calls(name, A, B) + answer(name, "real") + user(name, "and?")

    items, kinds = mended(name, broken)

    assert kinds[0] == "missing"
    assert kinds.count("missing") == 1
    assert spoken(name, items)["a"] == "real"


@pytest.mark.proves("H1", "H5")
@every_dialect
def test_failure_3_a_result_whose_call_was_cut_off_is_taken_out(name):
    broken = answer(name, "old", "older") + said(name, "well") + user(name, "next")

    items, kinds = mended(name, broken)

    assert kinds.count("orphan") == 2
    assert spoken(name, items) == {}


@pytest.mark.proves("H1")
@every_dialect
def test_what_was_taken_out_is_in_the_report(name):
    dialect = dialect_named(name)
    history = dialect.read(body(name, user(name, "x") + answer(name, "old") + user(name, "y")))

    [fix] = [fix for fix in repair(history).fixes if fix.kind == "orphan"]

    assert (fix.where, fix.call_id) == (f"{KEYS[name]}[1]", "a")
    assert dialect.tool_result(fix.removed, None).text == "old"
    assert str(fix) == (f"{KEYS[name]}[1]: a result that answers no call is taken out (orphan)")


@pytest.mark.proves("H1")
@every_dialect
def test_failure_4_a_second_result_is_taken_out_and_the_first_stays(name):
    twice = answer(name, "first") + answer(name, "second")

    items, kinds = mended(name, user(name, "go") + calls(name, A) + twice + user(name, "?"))

    assert "duplicate" in kinds
    assert spoken(name, items) == {"a": "first"}


@pytest.mark.proves("H1")
@every_dialect
def test_failure_8_a_result_behind_what_the_user_said_is_found_by_its_id(name):
    broken = user(name, "go") + calls(name, A, B) + user(name, "wait") + answer(name, "1", "2")

    items, kinds = mended(name, broken)

    assert spoken(name, items) == {"a": "1", "b": "2"}
    assert "missing" not in kinds
    assert "wait" in json.dumps(items)


@pytest.mark.proves("H1")
@every_dialect
def test_a_result_just_before_its_call_is_put_behind_it(name):
    broken = user(name, "go") + answer(name, "real") + calls(name, A) + user(name, "?")

    items, kinds = mended(name, broken)

    assert "moved" in kinds
    assert spoken(name, items) == {"a": "real"}


@pytest.mark.proves("H1")
@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
def test_failure_10_the_same_call_twice_in_one_message_stays_once(name):
    broken = user(name, "go") + calls(name, A, A) + answer(name, "real") + user(name, "?")

    items, kinds = mended(name, broken)

    assert kinds[0] == "duplicate"
    assert spoken(name, items) == {"a": "real"}


@pytest.mark.proves("H1")
@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
def test_two_calls_under_one_id_keep_their_own_results(name):
    other = ("a", "write", {})
    given_ = results(name, ("a", "grep", "first"), ("a", "write", "second"))
    broken = user(name, "go") + calls(name, A, other) + given_ + user(name, "?")

    items, kinds = mended(name, broken)

    assert kinds == ["renamed"]
    assert spoken(name, items) == {"a": "first", "a_2": "second"}


@pytest.mark.proves("H1", "H3")
@every_dialect
def test_an_id_that_comes_back_is_matched_by_its_place(name):
    again = user(name, "x") + calls(name, A) + answer(name, "1") + said(name, "ok")
    broken = again + user(name, "y") + calls(name, A) + user(name, "z")

    items, kinds = mended(name, broken)

    assert "missing" in kinds
    renames = kinds.count("renamed")
    assert renames == (1 if name == "anthropic" else 0)
    texts = [text.removeprefix("Error: ") for text in _all_texts(name, items)]
    assert texts == ["1", INTERRUPTED]


def _all_texts(name, items):
    dialect = dialect_named(name)
    history = dialect.read(json.dumps(items).encode())
    parts = [part for message in history.messages for part in message.of_kind("result")]
    return [dialect.tool_result(part, None).text for part in parts]


@pytest.mark.proves("H1")
@pytest.mark.parametrize("name", ["anthropic", "openai-chat", "openai-responses"])
def test_failure_11_an_empty_id_is_made_from_place_name_and_arguments(name):
    nameless = [("", "grep", {"q": 1}), ("", "grep", {"q": 2})]
    given_ = results(name, ("", "grep", "1"), ("", "grep", "2"))
    broken = user(name, "go") + calls(name, *nameless) + given_ + user(name, "?")

    first, kinds = mended(name, broken)
    second, _ = mended(name, broken + said(name, "ok") + user(name, "more"))

    assert kinds == ["renamed", "renamed"]
    assert list(spoken(name, first).values()) == ["1", "2"]
    ids = list(spoken(name, first))
    assert len(set(ids)) == 2
    assert all(id_.startswith("call_") and len(id_) == 29 for id_ in ids)
    assert second[: len(first)] == first


@pytest.mark.proves("H2")
@every_dialect
@pytest.mark.parametrize("given_", [(), ("1",)], ids=["none came", "one came"])
def test_calls_of_the_last_message_are_not_missing_if_the_caller_says_so(name, given_):
    dialect = dialect_named(name)
    waiting = user(name, "go") + calls(name, A, B) + (answer(name, *given_) if given_ else [])
    history = dialect.read(body(name, waiting))

    assert repair(history, pending=True).history is history
    assert repair(history).counts["missing"] == 2 - len(given_)


@pytest.mark.proves("H2", "H1")
@every_dialect
def test_only_the_last_calls_may_wait(name):
    dialect = dialect_named(name)
    broken = user(name, "go") + calls(name, A) + user(name, "?") + calls(name, B)

    repaired = repair(dialect.read(body(name, broken)), pending=True)

    assert [fix.call_id for fix in repaired.fixes if fix.kind == "missing"] == ["a"]
    assert check(dialect.write(repaired.history), name, pending=True) == []


@pytest.mark.proves("H3", "H5")
@every_dialect
def test_repair_says_how_many_of_each_it_mended(name):
    broken = user(name, "go") + calls(name, A, B) + user(name, "?") + answer(name, "1", "2")
    lost = broken[: len(user(name, "go") + calls(name, A, B)) + 1]
    dialect = dialect_named(name)

    assert repair(dialect.read(body(name, lost))).counts["missing"] == 2
    assert repair(dialect.read(body(name, user(name, "x")))).counts == {}


@pytest.mark.proves("H1")
@every_dialect
def test_a_history_of_nothing_but_an_orphan_still_says_something(name):
    items, _ = mended(name, answer(name, "old"))

    assert len(items) == 1
    assert "(no content)" in json.dumps(items)


@pytest.mark.proves("H1")
@every_dialect
def test_repair_never_makes_a_history_end_with_the_assistant(name):
    broken = user(name, "go") + said(name, "done") + answer(name, "late")

    items, _ = mended(name, broken)

    assert json.dumps(items[-1]).count("(no content)") == 1
    assert "done" in json.dumps(items[-2])


@pytest.mark.proves("P24", "H3")
@every_dialect
def test_a_long_history_with_a_fault_in_every_turn_is_repaired(name):
    items = []
    for number in range(300):
        items += user(name, f"{number}") + calls(name, (f"c{number}", "grep", {}))
    items += user(name, "end")

    mended_, kinds = mended(name, items)

    assert kinds.count("missing") == 300
    assert len(spoken(name, mended_)) == 300


@pytest.mark.proves("H3")
@every_dialect
def test_what_the_user_and_the_assistant_said_is_all_still_there(name):
    words = ["alpha", "beta", "gamma", "delta"]
    broken = (
        user(name, "alpha")
        + calls(name, A)
        + user(name, "beta")
        + said(name, "gamma")
        + answer(name, "x")
        + user(name, "delta")
    )

    items, _ = mended(name, broken)

    text = json.dumps(items)
    assert [word for word in words if word in text] == words


@every_dialect
def test_a_dialect_that_is_none_is_said(name):
    history = dialect_named(name).read(body(name, round_of(name, 1, "x")))
    foreign = type(history)(**{**_fields(history), "dialect": "bedrock"})

    with pytest.raises(HistoryError, match="no dialect 'bedrock'"):
        repair(foreign)


def _fields(history):
    return {name: getattr(history, name) for name in history.__dataclass_fields__}
