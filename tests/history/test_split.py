import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.history.split import cuts
from tests.histories import DIALECTS, body, calls, round_of, said, user

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def history(dialect: str, messages: list[dict]):
    return dialect_named(dialect).read(body(dialect, messages))


@pytest.mark.proves("H12")
@every_dialect
def test_a_cut_may_stand_anywhere_but_between_a_call_and_its_result(dialect):
    read = history(
        dialect, user(dialect, "a") + round_of(dialect, 1, "x", "y") + said(dialect, "b")
    )

    first_call = 1
    last = len(read.messages) - 1
    assert cuts(read) == [0, first_call, last]


@pytest.mark.proves("H12")
def test_a_user_message_is_not_needed():
    story = [m for n in range(5) for m in round_of("anthropic", n, "x")]

    assert cuts(history("anthropic", story)) == [0, 2, 4, 6, 8]


@pytest.mark.proves("H12")
@given(st.sampled_from(DIALECTS), st.lists(st.integers(0, 3), max_size=8))
def test_no_cut_parts_a_call_from_its_result(dialect, shape):
    story = user(dialect, "go")
    for number, width in enumerate(shape):
        story += round_of(dialect, number, *["x"] * width) if width else said(dialect, "hm")
        story += user(dialect, "next") if width == 3 else []
    story += calls(dialect, ("open", "grep", {}))
    read = history(dialect, story)

    for cut in cuts(read):
        before = [p.call_id for m in read.messages[:cut] for p in m.parts if p.kind == "call"]
        answered = [p.call_id for m in read.messages[:cut] for p in m.parts if p.kind == "result"]
        assert sorted(before) == sorted(answered)
