"""Times that a CI service puts before each line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.shape import Room, Source, shape
from headgate.shape.kinds import recognise
from headgate.shape.stamps import unstamped
from headgate.types import Query
from tests.shape.shown import missing

O200K = meter_for("o200k", "tokens")
MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")
NOTE = (
    "[the time before each line is left out: 2026-11-15T10:00:00.0000000Z to "
    "2026-11-15T10:{last}.0000000Z #k7q2]"
)


def stamped(lines: list[str], before: str = "") -> str:
    return "\n".join(
        f"{before}2026-11-15T10:{i // 60:02}:{i % 60:02}.0000000Z {line}"
        for i, line in enumerate(lines)
    )


def a_run(tests: int) -> list[str]:
    lines = ["============ test session starts ============"]
    lines += [f"tests/test_a.py::test_{i} PASSED" for i in range(tests)]
    lines += ["FAILED tests/test_a.py::test_last - assert 1 == 2"]
    return [*lines, f"============ 1 failed, {tests} passed in 2.31s ============"]


def shaped(text: str, limit: int, *words: str) -> str:
    data = text.encode()
    source = Source(data, recognise(data), O200K.estimate(data), data.count(b"\n") + 1)
    room = Room(limit, O200K)
    return shape(source, room, Query(words), MARKER, keep="relevant", is_error=False).text


def test_the_times_go_and_one_line_says_so():
    shown = shaped(stamped(a_run(400)), 500).split("\n")

    assert shown[0] == NOTE.format(last="06:42")
    assert "============ test session starts ============" in shown
    assert shown[-1] == "============ 1 failed, 400 passed in 2.31s ============"
    assert not any("Z " in line for line in shown[1:])


def test_a_text_that_fits_without_them_is_there_to_its_last_line():
    lines = a_run(40)
    text = stamped(lines)

    assert shaped(text, O200K.count(text) // 2) == "\n".join([NOTE.format(last="00:42"), *lines])


@pytest.mark.proves("S3")
def test_what_stands_after_them_says_what_it_is():
    assert recognise(stamped(a_run(40)).encode()) == "test"
    assert recognise(stamped(a_run(40), "test (3.11)\tRun pytest\t").encode()) == "test"


def test_a_step_is_named_where_it_begins():
    text = stamped(["a", "b"], "build\tSet up\t") + "\n" + stamped(["c", "d"], "build\tTest\t")

    assert unstamped(text.encode()) == b"build\tSet up\ta\nb\nbuild\tTest\tc\nd"


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-15T10:00:00Z started\n2026-11-15T10:00:01Z done",
        "2026-11-15 10:00:00,123 INFO started\n2026-11-15 10:00:01,456 INFO done",
        "2026-11-15T10:00:00.1234567Z started\n  at once\n  with two parts\n  and a third",
        "",
    ],
    ids=["seconds", "milliseconds", "one", "empty"],
)
def test_times_that_a_program_wrote_stay(text):
    data = text.encode()

    assert unstamped(data) is data


def test_who_asks_how_long_it_took_gets_the_times():
    shown = shaped(stamped(a_run(400)), 500, "step", "slow")

    assert "left out" not in shown
    assert shown.endswith(
        "10:06:42.0000000Z ============ 1 failed, 400 passed in 2.31s ============"
    )


def test_where_the_note_would_take_much_of_the_room_the_times_stay():
    shown = shaped(stamped(a_run(400)), 150)

    assert "left out" not in shown
    assert O200K.count(shown) <= 150


@pytest.mark.proves("P2", "S4")
@settings(max_examples=settings.default.max_examples // 4)
@given(st.integers(3, 300), st.integers(180, 900))
def test_the_limit_holds_and_gaps_name_the_lines_as_they_came(count, limit):
    lines = [f"worker {i} is done with part {i * 7919}" for i in range(count)]
    text = stamped(lines)
    shown = shaped(text, limit)

    assert O200K.count(shown) <= limit
    numbers = [lines.index(line) + 1 for line in shown.split("\n") if line in lines]
    assert numbers == sorted(numbers)
    assert not {*numbers} & missing(shown)
