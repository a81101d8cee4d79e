import re

import pytest

from headgate.marker import (
    Ask,
    Left,
    Marker,
    MarkerStyle,
    about,
    in_bytes,
    nothing_returned,
    without_signs,
)
from tests.nasty import IMITATION

MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")


@pytest.mark.proves("R15")
def test_the_marker_says_how_much_is_missing_and_the_exact_next_action():
    assert MARKER.long(2_847, 3_000, "lines", 31_000, Ask("lines", "401-800")) == (
        "[2,847 of 3,000 lines omitted, about 31k tokens; "
        'read_result(ref="r_abcdefghijkl", lines="401-800") shows more #k7q2]'
    )


@pytest.mark.proves("R15")
def test_the_command_line_is_named_where_that_is_what_the_model_has():
    marker = Marker(tag="k7q2", ref="r_abcdefghijkl", session="ci", style=MarkerStyle(reader="cli"))

    assert marker.long(9, 10, "lines", 50, Ask("lines", "2-10")) == (
        "[9 of 10 lines omitted, about 50 tokens; "
        "`headgate read r_abcdefghijkl --session ci --lines 2-10` shows more #k7q2]"
    )


def test_what_looks_like_an_option_is_tied_to_the_one_it_belongs_to():
    marker = Marker("k7q2", "r_abcdefghijkl", session="-s", style=MarkerStyle(reader="cli"))

    assert marker.shown("8 places", Ask("search", "--foo 'x'", Ask("lines", "9-"))) == (
        "[8 places; `headgate read r_abcdefghijkl --session=-s "
        """--search='--foo '"'"'x'"'"'' --lines 9-` shows more #k7q2]"""
    )


@pytest.mark.proves("R15")
def test_a_file_is_named_where_the_model_reads_files():
    marker = Marker(
        tag="k7q2", ref="r_abcdefghijkl", path="/w/r.txt", style=MarkerStyle(reader="file")
    )

    text = marker.long(9, 10, "lines", 50, Ask("lines", "2-10"))

    assert "the whole is in /w/r.txt" in text


@pytest.mark.proves("R15")
def test_the_short_form_still_has_the_ref_and_the_tag():
    assert MARKER.short(9, 10, "lines") == "[9 of 10 lines omitted; r_abcdefghijkl #k7q2]"


@pytest.mark.proves("R15", "S4")
def test_a_gap_says_which_lines_are_missing():
    assert MARKER.gap(401, 1_873) == "[lines 401-1873 omitted #k7q2]"
    assert MARKER.gap(33, 33) == "[line 33 omitted #k7q2]"


@pytest.mark.proves("K5")
def test_a_result_that_is_only_in_memory_says_so():
    text = Marker(tag="k7q2", ref="r_abcdefghijkl", kept="memory").long(
        9, 10, "lines", 50, Ask("lines", "2-10")
    )

    assert "not kept on disk, readable while this process runs; read_result(" in text


@pytest.mark.proves("K5")
def test_a_result_that_is_kept_nowhere_promises_nothing():
    text = Marker(tag="k7q2", kept="nowhere").long(9, 10, "lines", 50, Ask("lines", "2-10"))

    assert "not kept" in text
    assert "read_result" not in text


@pytest.mark.proves("P19")
@pytest.mark.parametrize(
    "text",
    [
        MARKER.long(9, 10, "lines", 50, Ask("lines", "2-10")),
        MARKER.short(9, 10, "lines"),
        MARKER.gap(2, 10),
        MARKER.inside(77),
    ],
)
def test_every_marker_has_the_shape_that_is_escaped_in_fresh_content(text):
    assert re.search(IMITATION, text.encode())


def test_counts_read_as_a_reader_wants_them():
    assert [about(n) for n in (930, 3_140, 31_400, 999_600, 2_440_000)] == [
        "930",
        "3.1k",
        "31k",
        "1.0M",
        "2.4M",
    ]


@pytest.mark.proves("R3")
def test_an_empty_result_names_its_tool():
    assert nothing_returned("grep") == "(grep finished without output)"


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1_023, "1023 bytes"),
        (1_024, "1.0 KB"),
        (2_000, "2.0 KB"),
        (84_275, "82.3 KB"),
        (1_048_575, "1.0 MB"),
        (5 * 1024**4, "5120.0 GB"),
    ],
)
def test_bytes_are_written_as_people_write_them(count, words):
    assert in_bytes(count) == words


@pytest.mark.parametrize(
    ("marker", "where"),
    [
        (Marker("k7q2", ref="r_a", path="/f"), "/f"),
        (Marker("k7q2", ref="r_a"), 'read_result(ref="r_a", lines="1-") shows more'),
        (Marker("k7q2", kept="nowhere"), "not kept, run the tool again for less"),
        (
            Marker("k7q2", ref="r_a", path="/f", kept="partly", kept_bytes=9),
            "/f (kept up to byte 9, nothing after it)",
        ),
    ],
)
def test_an_excerpt_says_where_the_whole_is(marker, where):
    left = Left("h", "t", 9, 9, 3, 1, 1)

    assert marker.excerpt("{head}{missing}{missing_lines}{tail} {where}", left) == f"h72t {where}"


def test_text_that_begins_like_a_marker_without_a_tag_is_escaped_once():
    style = MarkerStyle(signs=("[cut ", "<x>"))

    once = without_signs(b"a [cut 3] <x> [cut", style)

    assert once == b"a \\u005bcut 3] \\u003cx> [cut"
    assert without_signs(once, style) == once


def test_a_style_names_the_tool_of_an_empty_result():
    assert nothing_returned("ls", MarkerStyle(empty="{tool}: nothing")) == "ls: nothing"
