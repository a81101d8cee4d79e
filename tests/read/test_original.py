from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.normalise import normalise
from headgate.read.original import Recent, after_line_end
from tests.read.originals import original

TEXT = b"one\ntwo\n\nfour\nfive"


@pytest.mark.parametrize("chunk_bytes", [1, 3, 4, 7, 1_000])
def test_a_line_is_found_by_the_line_ends_of_its_chunk(chunk_bytes):
    kept = original(TEXT, chunk_bytes=chunk_bytes)

    assert [kept.start_of(line) for line in range(1, 8)] == [0, 4, 8, 9, 14, 18, 18]


@given(st.binary(max_size=200).map(lambda data: data.replace(b"a", b"\n")), st.integers(1, 40))
def test_lines_and_offsets_lead_to_each_other(data, chunk_bytes):
    kept = original(data, chunk_bytes=chunk_bytes)
    starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 0x0A)]

    assert [kept.start_of(line) for line in range(1, len(starts) + 1)] == starts
    assert [kept.line_at(start) for start in starts] == list(range(1, len(starts) + 1))


def test_only_the_chunk_with_the_line_is_read():
    data = b"".join(b"line %d\n" % number for number in range(10_000))
    kept = original(data, chunk_bytes=1_000)
    reads: list[tuple[int, int]] = []

    def read(start: int, stop: int) -> bytes:
        reads.append((start, stop))
        return data[start:stop]

    watched = type(kept)(kept.about, read, exact=False)
    start = watched.start_of(9_001)

    assert data[start:].startswith(b"line 9000\n")
    assert [stop - start for start, stop in reads] == [1_000]


def test_a_line_end_is_found_by_halving_and_by_stepping():
    data = b"x\n" * 50_000

    assert [after_line_end(data, number) for number in (1, 2, 40_000, 50_000)] == [
        2,
        4,
        80_000,
        100_000,
    ]


@pytest.mark.proves("0.4", "R4")
def test_what_is_edited_by_its_text_is_only_made_valid():
    data = b"\x1b[31mred\x1b[0m\r\n\xff"

    assert original(data).shown(data, 0) == b"red\n\\xff"
    assert original(data, exact=True).shown(data, 0) == b"\x1b[31mred\x1b[0m\r\n\\xff"


def test_a_byte_order_mark_in_the_middle_is_text():
    data = "a\n\ufeffb\n".encode()
    kept = original(data)

    assert kept.shown(data[:2], 0) + kept.shown(data[2:], 2) == normalise(data) == b"a\n\\ufeffb\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_line_of_utf_16_is_read_from_the_middle(encoding):
    data = "\ufeffone\ntwö\nthree\n".encode(encoding)
    kept = original(data)
    start, stop = kept.start_of(2), kept.start_of(3)

    assert kept.shown(kept.between(start, stop), start).decode() == "twö\n"


@pytest.mark.proves("K6")
@pytest.mark.parametrize("chunk_bytes", [1, 7, 1_000])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_character_of_utf_16_that_has_the_byte_of_a_line_end_ends_no_line(encoding, chunk_bytes):
    text = ["\u4e0a\u300a\u0a1b\u0a0a one", "\u010a two", "", "\u0a0a"]
    data = "\n".join(["\ufeff", *text]).encode(encoding)
    kept = original(data, chunk_bytes=chunk_bytes)
    starts = [kept.start_of(line) for line in range(2, 7)]

    assert kept.lines == 5
    assert [kept.line_at(start) for start in starts[:-1]] == [2, 3, 4, 5]
    assert [
        kept.shown(kept.between(start, stop), start).decode().removesuffix("\n")
        for start, stop in pairwise(starts)
    ] == text


def test_hidden_selectors_in_a_row_stay_shown_where_a_piece_begins():
    row = "a\ufe0f\ufe0f\ufe0f".encode()
    kept = original(row)

    assert normalise(row) == "a\ufe0f\\ufe0f\\ufe0f".encode()
    assert kept.shown(row[7:], 7) == b"\\ufe0f"
    assert kept.shown(row[1:], 1) == "\ufe0f\\ufe0f\\ufe0f".encode()


def test_what_is_looked_at_again_is_read_once():
    asked: list[tuple[int, int]] = []

    def read(start: int, stop: int) -> bytes:
        asked.append((start, stop))
        return TEXT[start:stop]

    recent = Recent(original(TEXT, chunk_bytes=4).about, read)

    assert [recent(5, 7), recent(4, 8), recent(6, 9)] == [b"wo", b"two\n", b"o\n\n"]
    assert asked == [(4, 8), (8, 12)]
    assert recent(0, 18) == TEXT
    assert asked[2:] == [(0, 18)]


@given(st.binary(max_size=90), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99))))
def test_remembering_changes_nothing_of_what_is_read(data, spans):
    recent = Recent(original(data, chunk_bytes=7).about, lambda start, stop: data[start:stop])

    for start, stop in spans:
        assert recent(start, stop) == data[start:stop]
