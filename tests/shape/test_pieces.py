import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.pieces import ALWAYS, NEVER, Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Source
from tests.shape.shown import MARKER, O200K, lines_of, missing


def shown(
    worths, limit=300, *, text="line {} of a text that is made of alike lines", **more
) -> str:
    items = [Piece(i, i, text.format(i), worth) for i, worth in enumerate(worths, 1)]
    whole = "\n".join(piece.text for piece in items)
    source = Source(whole.encode(), "prose", O200K.count(whole), len(items))
    pieces = Pieces(items, len(items), **more)
    return shape_pieces(pieces, source, Room(limit, O200K), MARKER, "lines").text


@given(st.lists(st.floats(0, 9) | st.just(ALWAYS), min_size=60, max_size=300))
def test_gaps_name_exactly_what_is_not_shown_and_order_is_kept(worths):
    text = shown(worths)
    numbers = [int(line.split()[1]) for line in lines_of(text)]

    assert numbers == sorted(numbers)
    assert missing(text) == {*range(1, len(worths) + 1)} - {*numbers}


def test_what_is_worth_most_is_shown():
    text = shown([0.0] * 100 + [5.0] + [0.0] * 100)

    assert "line 101 of" in text
    assert "line 1 of" in text


def test_what_nobody_looked_at_is_named_as_missing_even_where_there_is_room():
    first, at_gap, third, at_end = shown([1.0, NEVER, 1.0, NEVER], 1_000, rewritten=True).split(
        "\n"
    )

    assert (first[:9], third[:9]) == ("line 1 of", "line 3 of")
    assert at_gap.startswith("[2 of 4 lines omitted, about ")
    assert at_end == "[line 4 omitted #k7q2]"


@pytest.mark.proves("S8")
def test_the_room_is_used():
    assert O200K.count(shown([1.0] * 500, 1_000)) >= 900


def test_the_marker_stands_at_the_head_where_much_is_missing():
    assert shown([1.0] * 500).startswith("[481 of 500 lines omitted, about ")


def test_the_marker_stands_in_the_largest_gap_where_little_is_missing():
    lines = shown([1.0] * 40, 400).split("\n")

    assert lines[0] == "line 1 of a text that is made of alike lines"
    assert lines[-1].startswith("[13 of 40 lines omitted, about ")


def test_a_piece_that_can_be_divided_is_cut_where_the_room_ends():
    text = shown([1.0] * 20, 300, text="{} " + "word " * 60, divisible=True)

    assert text.endswith("[lines 5-20 omitted #k7q2]")
    assert " chars omitted #k7q2]" in text.split("\n")[-2]


def test_what_may_follow_is_shown_where_there_is_room():
    links = ["Links:", *(f"- link {i}: https://example.org/{i}" for i in range(100))]
    text = shown([1.0] * 10, 400, after=links, rewritten=True)

    assert "line 10 of" in text
    assert "- link 3: https://example.org/3" in text


def test_where_every_line_is_shown_and_one_is_cut_the_marker_counts_bytes():
    text = shown([1.0, 1.0, 1.0], 300, text="{} " + "word " * 300)

    first, *cut = text.split("\n")
    hidden = [int(line.split("[")[1].split()[0].replace(",", "")) for line in cut]
    assert all(hidden)
    assert first.startswith(f"[{sum(hidden):,} of 4,508 bytes omitted, about ")


def test_where_every_line_is_shown_without_its_markup_the_marker_counts_that():
    items = [Piece(i, i, f"text {i}", 1.0) for i in (1, 2)]
    source = Source(b"<p>text 1</p>\n<p>text 2</p>\n", "html", 900, 2)
    pieces = Pieces(items, 2, rewritten=True)
    shaped = shape_pieces(pieces, source, Room(200, O200K), MARKER, "blocks")

    assert shaped.text.startswith("[16 of 28 bytes omitted, ")


def test_a_heading_is_shown_once_above_the_pieces_it_belongs_to():
    items = [Piece(i, i, f"  {i}: hit", 1.0, before=f"file{i // 4}.py") for i in range(1, 7)]
    source = Source(b"x" * 4_000, "search", 4_000, 6)
    shaped = shape_pieces(Pieces(items, 6), source, Room(200, O200K), MARKER, "hits")

    assert shaped.text.split("\n") == [
        *("file0.py", "  1: hit", "  2: hit", "  3: hit"),
        *("file1.py", "  4: hit", "  5: hit", "  6: hit"),
    ]
