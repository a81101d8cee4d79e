import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headgate.shape.repeats import inner_runs, shape_repeats
from headgate.shape.shaper import Room, Shaped, Source
from headgate.types import Query
from tests.shape.shown import MARKER, O200K, lines_of, missing

NOTE = (
    "[each gap leaves out only lines that differ from those before it in nothing but digits #k7q2]"
)


def shaped(text: str, limit: int, *words: str, kind="log") -> Shaped | None:
    data = text.encode()
    source = Source(data, kind, O200K.estimate(data), data.count(b"\n") + 1)
    return shape_repeats(source, Room(limit, O200K), Query(words), MARKER)


@pytest.mark.proves("S5")
def test_a_line_that_comes_again_is_shown_once_with_its_exact_count():
    text = "start\n" + "waiting for the lock of the database\n" * 500 + "got it\ndone"

    assert shaped(text, 200) == Shaped(
        "start\n"
        "waiting for the lock of the database\n"
        "[line 2 comes 500 times, up to 501 #k7q2]\n"
        "got it\n"
        "done",
        "the whole, repeated lines counted",
    )


@pytest.mark.proves("S5")
def test_lines_that_differ_in_digits_only_leave_room_for_all_that_differs():
    lines = [f"10:{i // 60:02}:{i % 60:02} worker {i:04} is alive" for i in range(2_000)]
    lines[700] = "10:11:40 worker 0700 gave up"
    lines[1_300] = "10:21:40 worker 1300 was late by 12345 ms"
    shown = shaped("\n".join(lines), 400).text

    assert shown.split("\n")[1] == NOTE
    assert lines[700] in shown
    assert lines[1_300] in shown
    assert lines[0] in shown
    assert lines[1_999] in shown
    assert 360 <= O200K.count(shown) <= 400


@pytest.mark.proves("S4", "S5")
def test_a_line_that_the_query_points_at_is_shown_among_alike_ones():
    lines = [f"worker {i:04} is alive and has nothing to do" for i in range(2_000)]

    assert lines[1_234] in shaped("\n".join(lines), 300, "1234").text


def test_rounds_of_several_lines_repeat_too():
    assert inner_runs([b"a", b"b"] * 6) == [(2, 10)]
    assert inner_runs([b"x", *[b"a"] * 9, b"y"]) == [(2, 9)]
    assert inner_runs([b"a", b"b", b"c", b"d", b"e"] * 3) == []


@pytest.mark.proves("S5")
def test_a_text_that_does_not_repeat_is_left_to_others():
    assert shaped("\n".join(f"{'ab' * (i % 37)} {i * i}" for i in range(900)), 300) is None
    assert shaped("x\n" * 2_000, 200, kind="csv") is None


@pytest.mark.proves("S5", "R10")
@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 300)), min_size=1, max_size=6),
    st.integers(150, 400),
)
def test_every_line_that_is_left_out_has_its_like_before_it(runs, limit):
    lines = [f"{letter * 9} {i:05}" for letter, count in runs for i in range(count)]
    done = shaped("\n".join(lines), limit)
    if done is None:
        return

    assert O200K.count(done.text) <= limit
    if NOTE in done.text and done.text.startswith("[") and not done.text.startswith(NOTE):
        numbers = missing(done.text)
        kept = [line for line in lines_of(done.text) if line != NOTE]
        assert len(kept) + len(numbers) == len(lines)
        assert all(lines[n - 1][:9] == lines[n - 2][:9] for n in numbers)


@pytest.mark.proves("S5")
def test_blank_lines_in_a_row_are_said_to_be_blank():
    text = "start\n" + "\n" * 30_000 + "end\n"

    assert shaped(text, 100, kind="prose") == Shaped(
        "start\n[lines 2-30001 are blank #k7q2]\nend", "the whole, repeated lines counted"
    )


@pytest.mark.proves("S5")
def test_a_line_that_comes_a_million_times_is_counted_to_the_last():
    text = "y\n" * 1_000_003

    assert shaped(text, 100, kind="prose") == Shaped(
        "y\n[line 1 comes 1,000,003 times, up to 1000003 #k7q2]",
        "the whole, repeated lines counted",
    )


SAID_ONCE = re.compile(r"\[line (\d+) comes ([\d,]+) times, up to (\d+) #k7q2]")
SAID_BLANK = re.compile(r"\[lines (\d+)-(\d+) are blank #k7q2]")


def spelled_out(shown: str) -> list[str]:
    lines: list[str] = []
    for line in shown.split("\n"):
        if found := SAID_ONCE.fullmatch(line):
            first, times, last = (int(number.replace(",", "")) for number in found.groups())
            assert (first, last) == (len(lines), len(lines) + times - 1)
            lines += [lines[-1]] * (times - 1)
        elif found := SAID_BLANK.fullmatch(line):
            assert int(found[1]) == len(lines) + 1
            lines += [""] * (int(found[2]) - len(lines))
        else:
            lines.append(line)
    return lines


@pytest.mark.proves("S5")
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "tick", "tock ö", "a b c"]), st.integers(1, 5_000)),
        min_size=1,
        max_size=12,
    )
)
def test_what_is_counted_can_be_spelled_out_again(runs):
    lines = [line for line, times in runs for _ in range(times)]
    found = shaped("\n".join(lines) + "\n", 300, kind="prose")

    assume(found is not None and found.how == "the whole, repeated lines counted")
    assert found is not None
    assert spelled_out(found.text) == lines


@pytest.mark.proves("S4", "S8")
def test_a_line_of_a_repetition_with_a_number_far_from_the_others_is_shown():
    lines = [
        f"10:{i // 60:02}:{i % 60:02} GET /items/{i * 7919 % 99991} 200 {5 + i % 9}.{i % 10}ms"
        for i in range(600)
    ]
    lines[377] = "10:06:17 GET /items/4711 200 1902.8ms"
    shown = shaped("\n".join(lines), 300).text

    assert lines[377] in shown.split("\n")
