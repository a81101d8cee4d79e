import pytest

from headgate.marker import Ask, Marker
from headgate.read.footer import closed, fitted
from headgate.shape.shaper import Room
from tests.read.originals import CHARS, MARKER

pytestmark = pytest.mark.proves("K6", "R15")


def test_the_last_line_says_what_is_shown_and_the_exact_next_call():
    text = closed("a\nb\n", "lines 1-2 of 9 shown", Ask("lines", "3-"), Room(500, CHARS), MARKER)

    assert text == (
        "a\nb\n[lines 1-2 of 9 shown; "
        'read_result(ref="r_1f3a9c7be20d", lines="3-") shows more #k7q2]'
    )


def test_a_text_without_line_end_gets_one_before_the_last_line():
    text = closed("ab", "bytes 0-1 of 9 shown", "this is the end", Room(500, CHARS), MARKER)

    assert text == "ab\n[bytes 0-1 of 9 shown; this is the end #k7q2]"


def test_where_room_is_short_only_the_argument_is_named():
    text = closed("", "lines 1-2 of 9 shown", Ask("lines", "3-"), Room(120, CHARS), MARKER)

    assert text == '[lines 1-2 of 9 shown; lines="3-" shows more #k7q2]'


def test_a_page_keeps_its_size_where_room_is_short():
    page = Ask("page", "2", Ask("page_size", "50"))

    assert closed("", "items 1-50 of 90", page, Room(120, CHARS), MARKER) == (
        "[items 1-50 of 90; page=2, page_size=50 shows more #k7q2]"
    )


def test_a_long_pattern_is_not_repeated():
    search = Ask("search", "x" * 900, Ask("lines", "3-"))
    path = Ask("path", "$." + "x" * 900, Ask("page", "2"))
    room = Room(500, CHARS)

    assert closed("", "nothing found in line 1 of 9", search, room, MARKER) == (
        '[nothing found in line 1 of 9; the same search with lines="3-" shows more #k7q2]'
    )
    assert closed("", "value 1 of 9", path, room, MARKER) == (
        "[value 1 of 9; the same path with page=2 shows more #k7q2]"
    )


@pytest.mark.proves("P18")
def test_a_pattern_that_cannot_be_seen_is_not_repeated():
    ask = Ask("search", "a\u202eb", Ask("lines", "3-"))

    text = closed("", "nothing found", ask, Room(500, CHARS), MARKER)

    assert text == '[nothing found; the same search with lines="3-" shows more #k7q2]'


def test_the_command_line_is_told_the_command():
    style = MARKER.style.__class__(reader="cli")
    marker = Marker("k7q2", "r_1f3a9c7be20d", session="nightly", style=style)
    ask = Ask("search", "a|b", Ask("lines", "3-"))

    text = closed("", "1 place found", ask, Room(500, CHARS), marker)

    assert text == (
        "[1 place found; `headgate read r_1f3a9c7be20d --session nightly "
        "--search 'a|b' --lines 3-` shows more #k7q2]"
    )


def test_the_body_shrinks_until_all_of_it_fits():
    tried: list[int] = []

    def make(limit: int) -> str:
        tried.append(limit)
        return "x" * (2 * limit) + "[end]"

    text = fitted(make, Room(100, CHARS), "[end]")

    assert len(text) <= 100
    assert tried[0] == 94
    assert tried == sorted(tried, reverse=True)
