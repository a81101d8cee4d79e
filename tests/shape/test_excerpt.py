import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.marker import Excerpt, Marker
from headgate.measure.meters import meter_for
from headgate.shape.excerpt import Ends, ends_of_source, shape_excerpt, window_bytes
from headgate.shape.shaper import Room, Source
from headgate.types import Amount, chars, utf8_bytes

MARKER = Marker("k7q2", ref="r_aaaaaaaaaaaa", path="/files/call_1.txt")
HEAD = Excerpt("{head}\n[cut of {total:,}]", head_share=1.0)
HALVES = Excerpt(
    "{head}\n[{missing_lines} lines]\n{tail}",
    form_inside="{head}\n[{missing} chars]\n{tail}",
    head_ends="line",
    tail_begins="line",
)


def shaped(text, most, form, cap=None, marker=MARKER):
    room = Room(most.count, meter_for("o200k", most.unit))
    lines = text.count("\n") + (text[-1:] != "\n")
    source = Source(text.encode(), "log", 0, lines)
    ends = ends_of_source(source, window_bytes(room, form, cap))
    return shape_excerpt(ends, room, marker, form, cap).text


def numbered(count):
    return "\n".join(f"line {i}" for i in range(1, count + 1))


def test_a_head_is_as_long_as_the_words_leave_room_for():
    assert shaped("x" * 2_000, chars(600), HEAD) == "x" * 585 + "\n[cut of 2,000]"


def test_pieces_have_their_own_sizes_whatever_the_room():
    form = Excerpt("{head}|{missing} of {total}|{tail}", head=chars(3), tail=utf8_bytes(4))

    assert shaped("a" * 1_000 + "éé", chars(600), form) == "aaa|997 of 1002|éé"


def test_pieces_shrink_together_where_the_room_is_smaller():
    form = Excerpt("{head}|{tail}", head=chars(4_000), tail=chars(1_000))

    text = shaped("a" * 9_000 + "b" * 9_000, chars(601), form)

    assert text == "a" * 480 + "|" + "b" * 120


def test_half_of_the_room_goes_to_each_end_in_whole_lines():
    assert shaped(numbered(1_000), chars(40), HALVES) == "line 1\n[998 lines]\nline 1000"


@given(st.lists(st.sampled_from(["", "a line", "another line of words"]), min_size=60, max_size=90))
def test_the_lines_that_are_missing_are_counted_blank_ones_too(lines):
    text = shaped("\n".join([*lines, "end"]), chars(520), HALVES)

    if found := re.search(r"^\[(\d+) lines\]$", text, re.MULTILINE):
        left = text[: found.start() - 1].count("\n") + 1 + text[found.end() + 1 :].count("\n") + 1
        assert left + int(found[1]) == len(lines) + 1


def test_a_single_line_is_cut_inside_and_counted_in_characters():
    assert shaped("y" * 900, chars(31), HALVES) == "y" * 9 + "\n[882 chars]\n" + "y" * 9


def test_a_piece_ends_at_its_last_line_end_unless_that_is_before_its_half():
    early = "ab\n" + "c" * 900
    late = "a" * 13 + "\n" + "c" * 900

    def first(text, ends):
        form = Excerpt("{head}|", head=chars(20), tail=chars(0), head_ends=ends)
        return shaped(text, chars(600), form)

    assert first(early, "line") == "ab|"
    assert first(early, "half") == "ab\n" + "c" * 17 + "|"
    assert first(late, "half") == "a" * 13 + "|"
    assert first(late, "anywhere") == late[:20] + "|"


def test_what_a_cap_leaves_is_shown_whole_where_it_fits():
    form = Excerpt("{head}|", form_capped="{head}[{missing} gone, {kept} kept]", head_share=1.0)

    assert shaped("z" * 900, chars(600), form, cap=chars(60)) == "z" * 41 + "[859 gone, 41 kept]"


def test_what_a_cap_leaves_is_shortened_as_any_other_text():
    form = Excerpt("{head}|{tail}", form_capped="{head}[cut]", head=chars(5), tail=chars(5))

    assert shaped("z" * 900, chars(512), form, cap=chars(600)) == "zzzzz|[cut]"


def test_what_could_not_be_kept_has_a_form_of_its_own_that_uses_the_room():
    form = Excerpt("{head}", form_unkept="{head}[{note}]", head=chars(5), tail=chars(0))
    lost = dataclasses.replace(MARKER, kept="nowhere", path=None)

    text = shaped("z" * 900, chars(60), form, marker=lost)

    assert text == "z" * 21 + "[not kept, run the tool again for less]"


def test_where_not_even_the_words_fit_the_short_marker_stands():
    form = Excerpt("x" * 900 + "{head}", head_share=1.0)

    assert (
        shaped(numbered(900), chars(512), form)
        == "[900 of 900 lines omitted; r_aaaaaaaaaaaa #k7q2]"
    )


def test_only_the_ends_of_a_large_text_are_looked_at():
    text = "a" * 3_000_000 + "b" * 3_000_000

    assert shaped(text, chars(21), HALVES) == "aa\n[5999996 chars]\nbb"


@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=400).map(lambda text: text * 20),
    st.sampled_from(["tokens", "chars", "bytes"]),
    st.integers(128, 600),
    st.sampled_from([HEAD, HALVES, Excerpt(head=chars(90), tail=utf8_bytes(50))]),
    st.none() | st.integers(512, 5_000).map(chars),
)
def test_an_excerpt_never_exceeds_its_room_and_is_valid_unicode(text, unit, most, form, cap):
    room = Room(most, meter_for("o200k", unit))

    shown = shaped(text, Amount(most, unit), form, cap)

    assert room.fits(shown)
    shown.encode()


@given(st.text("ab\n", min_size=600, max_size=900), st.integers(512, 590))
def test_head_and_tail_never_overlap(text, most):
    form = Excerpt("{head}\0{tail}", head=chars(300), tail=chars(300))

    head, tail = shaped(text, chars(most), form).split("\0")

    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) <= len(text)


@pytest.mark.parametrize("vocab", ["o200k", "chars/4"])
def test_tokens_of_both_halves_fill_most_of_the_room(vocab):
    room = Room(400, meter_for(vocab, "tokens"))
    text = numbered(4_000)
    ends = Ends(text, text, len(text), len(text), 4_000)

    shown = shape_excerpt(ends, room, MARKER, HALVES).text

    assert 0.9 * 400 <= room.size(shown) <= 400
