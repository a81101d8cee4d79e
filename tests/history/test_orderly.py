import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.history.orderly import is_orderly
from headgate.history.placing import placed_one_by_one
from headgate.history.report import Case
from headgate.testing import lines
from tests.dialects.scripts import broken, render, scripts, written
from tests.histories import DIALECTS, body, calls, results, round_of, said, user

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def orderly(dialect: str, messages: list[dict]) -> bool:
    spoken = dialect_named(dialect)
    return is_orderly(spoken.read(body(dialect, messages)).messages, spoken)


def story(dialect: str) -> list[dict]:
    return [
        *user(dialect, "a"),
        *round_of(dialect, 1, lines(3), lines(4)),
        *round_of(dialect, 2, lines(5)),
        *said(dialect, "b"),
        *user(dialect, "c"),
    ]


@every_dialect
def test_steps_with_their_results_behind_them_are_orderly(dialect):
    assert orderly(dialect, story(dialect))


@every_dialect
def test_a_step_without_its_results_has_to_be_looked_at(dialect):
    step = round_of(dialect, 1, lines(3))

    assert not orderly(dialect, user(dialect, "a") + step[:-1])
    assert not orderly(dialect, user(dialect, "a") + step[:-1] + said(dialect, "b"))


@every_dialect
def test_a_result_that_nobody_waits_for_has_to_be_looked_at(dialect):
    step = round_of(dialect, 1, lines(3))

    assert not orderly(dialect, step[-1:])
    assert not orderly(dialect, user(dialect, "a") + step + said(dialect, "b") + step[-1:])


@pytest.mark.parametrize(
    ("dialect", "together"), [(name, name.startswith("openai")) for name in DIALECTS]
)
def test_results_may_stand_in_several_messages_only_where_the_provider_takes_that(
    dialect, together
):
    two = calls(dialect, ("a", "ls", {}), ("b", "ls", {"path": "."}))
    one_by_one = results(dialect, ("a", "ls", "x")) + results(dialect, ("b", "ls", "y"))

    assert orderly(dialect, user(dialect, "go") + two + one_by_one) is together


def test_a_call_that_the_user_makes_has_to_be_looked_at():
    [made] = calls("anthropic", ("a", "ls", {}))

    assert not orderly("anthropic", [{**made, "role": "user"}])


@pytest.mark.proves("P6", "H3")
@given(st.sampled_from(DIALECTS), st.booleans(), st.data())
def test_what_is_orderly_has_nothing_to_be_placed(dialect, reuse_ids, data):
    items = render(data.draw(scripts(reuse_ids=reuse_ids)), dialect)
    if data.draw(st.booleans()):
        items = data.draw(broken(items, dialect))
    spoken = dialect_named(dialect)
    history = spoken.read(data.draw(written(items, dialect)))

    if is_orderly(history.messages, spoken):
        assert placed_one_by_one(history, Case(spoken, pending=False)) == (history, [])
        assert placed_one_by_one(history, Case(spoken, pending=True)) == (history, [])
