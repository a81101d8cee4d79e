"""P22: a late real result never disturbs a synthetic one that was already sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.check import check
from headgate.dialects import dialect_named
from headgate.history.mending import INTERRUPTED
from headgate.history.repair import repair
from headgate.history.report import Real
from tests.dialects.scripts import DIALECTS
from tests.histories import body, calls, results, said, user

ASKED = [("a", "grep", {"q": 1}), ("b", "grep", {"q": 2}), ("c", "read", {"path": "x"})]

HELD_APART = [name for name in DIALECTS if name != "openai-responses"]
"""Where results must stand behind their calls, a late one is known by its place alone."""


def interrupted(name, given_):
    """A step with calls of which only some were answered, and the user going on."""
    asked = calls(name, *ASKED)
    answered = [(id_, tool, f"result of {id_}") for id_, tool, _ in ASKED if id_ in given_]
    return user(name, "go") + asked + (results(name, *answered) if answered else [])


def late(name, missing):
    return results(name, *[(i, tool, f"late {i}") for i, tool, _ in ASKED if i in missing])


@pytest.mark.proves("P22", "H1")
@pytest.mark.parametrize("name", HELD_APART)
@given(given_=st.sets(st.sampled_from("abc"), max_size=2), remark=st.booleans(), data=st.data())
def test_what_was_sent_stays_when_the_real_results_come(name, given_, remark, data):
    missing = sorted({"a", "b", "c"} - given_)
    came = sorted(data.draw(st.sets(st.sampled_from(missing), min_size=1)))
    # Without anything behind the calls, an answer could as well be the rest of what they came with.
    goes_on = remark or not given_
    sent = interrupted(name, given_) + (user(name, "and?") if goes_on else [])
    grown = sent + said(name, "well") + late(name, came) + user(name, "so?")
    dialect = dialect_named(name)

    first = repair(dialect.read(body(name, sent)))
    second = repair(dialect.read(body(name, grown)))

    before = [message.raw for message in first.history.messages]
    assert [message.raw for message in second.history.messages][: len(before)] == before
    assert first.counts["missing"] == len(missing)
    taken = [fix for fix in second.fixes if fix.kind == "late"]
    assert sorted(fix.call_id for fix in taken) == came
    texts = {dialect.tool_result(fix.removed, None).text for fix in taken}
    assert texts == {f"late {id_}" for id_ in came}
    assert check(dialect.write(second.history), name) == []


@pytest.mark.proves("P22")
@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("spoke", [True, False], ids=["after an answer", "at once"])
def test_a_synthetic_result_in_the_history_stays_and_the_real_one_is_taken_out(name, spoke):
    dialect = dialect_named(name)
    first = repair(dialect.read(body(name, interrupted(name, {"a", "b"})))).history
    answer = said(name, "well") if spoke else []
    more = dialect.read(body(name, answer + late(name, {"c"}) + user(name, "so?"))).messages
    grown = dialect.read(dialect.write(first.with_messages((*first.messages, *more))))

    second = repair(grown)

    shown = [p for m in second.history.messages for p in m.of_kind("result") if p.call_id == "c"]
    assert [INTERRUPTED in dialect.tool_result(part, None).text for part in shown] == [True]
    [taken] = [fix for fix in second.fixes if fix.removed is not None]
    assert taken.kind == ("late" if spoke else "duplicate")
    assert dialect.tool_result(taken.removed, None).text == "late c"
    assert check(dialect.write(second.history), name) == []


@pytest.mark.proves("P22", "H3")
def test_where_results_may_stand_anywhere_the_caller_says_what_was_sent_as_interrupted():
    name = "openai-responses"
    dialect = dialect_named(name)
    sent = interrupted(name, {"a", "b"}) + user(name, "and?")
    grown = body(name, sent + said(name, "well") + late(name, {"c"}) + user(name, "so?"))
    first = repair(dialect.read(body(name, sent))).history

    untold = repair(dialect.read(grown))
    told = repair(dialect.read(grown), interrupted=lambda asked: asked.call.call_id == "c")

    assert (untold.fixes, dialect.write(untold.history) is untold.history.body) == ((), True)
    before = [message.raw for message in first.messages]
    assert [message.raw for message in told.history.messages][: len(before)] == before
    assert [(fix.kind, fix.call_id) for fix in told.fixes] == [("missing", "c"), ("late", "c")]


@pytest.mark.proves("P22", "H1")
@pytest.mark.parametrize("name", DIALECTS)
def test_a_result_that_is_known_is_the_real_one_and_no_error(name):
    dialect = dialect_named(name)
    history = dialect.read(body(name, interrupted(name, {"a", "b"})))

    repaired = repair(history, known=lambda asked: {"c": Real("the real one")}[asked.came_as])

    [shown] = [
        p for m in repaired.history.messages for p in m.of_kind("result") if p.call_id == "c"
    ]
    assert dialect.tool_result(shown, None).text == "the real one"
    assert not shown.is_error
    assert [(fix.kind, fix.call_id) for fix in repaired.fixes] == [("restored", "c")]
