import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.normalise import normalise, only_unicode
from headgate.read.piece import code_point, last_place, piece_of
from tests.read.originals import CHARS, O200K, odd_bytes, original


@pytest.mark.proves("P16", "S1")
@settings(max_examples=settings.default.max_examples // 2)
@given(odd_bytes, st.booleans())
def test_pieces_put_together_show_what_the_whole_shows(data, exact):
    kept = original(data, exact=exact)
    shown, start = [], 0
    while start < len(data):
        piece = piece_of(kept, start, len(data), 60, CHARS)
        assert CHARS.count(piece.text) <= 60
        assert piece.stop > start
        shown.append(piece.text)
        start = piece.stop

    whole = only_unicode(data) if exact else normalise(data)
    assert "".join(shown) == whole.decode()


def test_whole_lines_are_shown_while_they_fit():
    kept = original(b"one\ntwo\nthree\n")

    piece = piece_of(kept, 0, 14, 9, CHARS)

    assert (piece.text, piece.stop) == ("one\ntwo\n", 8)


def test_a_line_that_is_too_long_is_cut_between_graphemes():
    family = "👩‍👧‍👦"
    data = (family * 5 + "\n").encode()

    piece = piece_of(original(data), 0, len(data), 12, CHARS)

    assert piece.text == family * 2
    assert piece.stop == 2 * len(family.encode())


def test_a_grapheme_longer_than_the_room_is_cut_all_the_same():
    data = ("e" + "\u0301" * 100).encode()

    piece = piece_of(original(data), 0, len(data), 10, CHARS)

    assert piece.text == "e" + "\u0301" * 9


def test_overwritten_states_are_passed_over():
    data = b"".join(b"%3d %%\r" % percent for percent in range(100)) * 40 + b"done " * 30 + b"\n"

    piece = piece_of(original(data), 0, len(data), 50, CHARS)

    assert piece.text == "done " * 10
    assert data[piece.stop :] == b"done " * 20 + b"\n"


def test_megabytes_of_progress_leave_what_they_ended_with():
    data = b"".join(b"%8d of 400000 bytes\r" % done for done in range(200_000)) + b"done\n"

    piece = piece_of(original(data, chunk_bytes=1 << 18), 0, len(data), 100, O200K)

    assert len(data) > 4_000_000
    assert piece.text == "done\n"
    assert piece.stop == len(data)


def test_no_cut_falls_inside_an_escape():
    data = b"\x1b[38;5;196mred\x1b[0m" * 100

    piece = piece_of(original(data), 0, len(data), 31, CHARS)

    assert 25 <= len(piece.text) <= 31
    assert piece.text + normalise(data[piece.stop :]).decode() == "red" * 100


@pytest.mark.parametrize(
    ("data", "at", "start"),
    [
        (b"abc", 1, 1),
        ("aé".encode(), 2, 1),
        ("日".encode(), 2, 0),
        ("👩".encode(), 3, 0),
        (b"\x80\x80\x80\x80\x80", 4, 4),
        (b"abc", 3, 3),
    ],
)
def test_a_place_moves_back_to_where_its_character_begins(data, at, start):
    assert code_point(data, at) == start


def test_the_last_place_is_found_by_halving():
    assert last_place(1_000, lambda at: at <= 617) == 617
    assert last_place(1_000, lambda at: False) == 0
