import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.shape.passages import excerpt, passage_of

MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")


def content(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()


def excerpted(text: str, room: int, *words: str) -> str | None:
    found = excerpt(passage_of(content(text), words), room, MARKER)
    return None if found is None else json.loads(b'"%b"' % found.content)


def output(count: int, **odd: str) -> str:
    lines = [f"step {number} is done" for number in range(1, count + 1)]
    for number, line in odd.items():
        lines[int(number.removeprefix("n")) - 1] = line
    return "\n".join(lines)


@pytest.mark.proves("S4", "S6")
def test_an_error_in_the_middle_of_a_string_is_kept_between_its_ends():
    assert excerpted(output(300, n150="ValueError: no such step"), 400) == (
        "step 1 is done\n"
        "step 2 is done\n"
        "step 3 is done\n"
        "step 4 is done\n"
        "step 5 is done\n"
        "step 6 is done\n"
        "step 7 is done\n"
        "step 8 is done\n"
        "[lines 9-148 omitted #k7q2]\n"
        "step 149 is done\n"
        "ValueError: no such step\n"
        "step 151 is done\n"
        "step 152 is done\n"
        "[lines 153-293 omitted #k7q2]\n"
        "step 294 is done\n"
        "step 295 is done\n"
        "step 296 is done\n"
        "step 297 is done\n"
        "step 298 is done\n"
        "step 299 is done\n"
        "step 300 is done"
    )


def test_lines_that_the_query_points_at_are_kept():
    assert "step 222 is done" in excerpted(output(300), 400, "222")


@given(st.integers(6, 200), st.integers(150, 3_000), st.booleans())
def test_an_excerpt_fits_and_counts_what_it_shows(count, room, ends):
    text = output(count) + ("\n" if ends else "")
    passage = passage_of(content(text), ())

    found = excerpt(passage, room, MARKER)

    if found is not None:
        shown = [
            line
            for line in json.loads(b'"%b"' % found.content).split("\n")
            if "omitted" not in line
        ]
        assert len(found.content) <= room
        assert found.chars == sum(len(line) + 1 for line in shown)
        assert set(shown) <= set(text.split("\n"))


def test_what_stands_before_the_first_gap_is_told_in_bytes():
    passage = passage_of(content(output(300)), ())
    found = excerpt(passage, 400, MARKER)

    assert passage.content[: found.head_bytes].decode() == "".join(
        f"step {number} is done\\n" for number in range(1, 12)
    )


def test_a_backslash_before_an_n_is_no_line_end():
    text = "\n".join(["C:\\new\\names", "b", "c", "d", "e", "f\\\\n"])

    spans = passage_of(content(text), ()).spans

    assert [json.loads(b'"%b"' % content(text)[a:b]) for a, b in spans] == text.split("\n")


@pytest.mark.parametrize("text", ["one line", "a\nb\nc", "x" * 5_000, ""])
def test_what_has_few_lines_is_no_passage(text):
    assert passage_of(content(text), ()) is None


def test_lines_too_long_for_the_room_are_left_to_a_cut_inside():
    assert excerpted("\n".join(["x" * 400] * 20), 600) is None


def test_lone_surrogates_do_no_harm():
    assert passage_of(b"\\ud800\\n" * 10, ()).notable == []
