import random

import pytest

from headgate.read.hits import COLUMNS, MOST_BYTES, Found, Scope, find_hits, offset_of
from headgate.read.original import Original
from headgate.read.pattern import pattern_of
from headgate.types import About
from tests.read.originals import original

pytestmark = pytest.mark.proves("K6", "P17")

MIB = 1024 * 1024


def found_in(kept: Original, pattern: str, clock=lambda: 0) -> Found:
    return find_hits(pattern_of(pattern), kept, Scope(0, kept.length, 1), clock)


def lines_found(data: bytes, pattern: str) -> list[int]:
    return [hit.line for hit in found_in(original(data, chunk_bytes=MIB), pattern).hits]


def test_lines_that_match_are_found_by_number():
    assert lines_found(b"one\ntwo\nthree\n\nfive", "t|^$|five$") == [2, 3, 4, 5]


def test_a_line_is_found_once_however_often_it_matches():
    assert lines_found(b"aaa\nb\nAaa\n", "a") == [1, 3]


def test_colours_hide_no_word():
    [hit] = found_in(original(b"\x1b[31mER\x1b[0mROR here\r\n"), "error here$").hits

    assert hit.shown() == "1: ERROR here"


def test_no_match_is_lost_at_the_edge_of_a_part():
    line = b"x" * 99 + b"\n"
    data = bytearray(line * 40_000)
    edges = [MIB * part + back for part in (1, 2, 3) for back in (-150, -1, 0, 50, 150)]
    wanted = sorted({at // 100 for at in edges})
    for number in wanted:
        data[number * 100 : number * 100 + 6] = b"needle"

    assert lines_found(bytes(data), "needle") == [number + 1 for number in wanted]


@pytest.mark.parametrize("back", [0, 1, 3, 5, 6, 7, 65_536, 65_537, 131_072])
def test_no_match_is_lost_at_the_edge_of_a_part_of_one_long_line(back):
    data = bytearray(b"x" * (3 * MIB))
    for edge in (MIB, 2 * MIB):
        data[edge - back : edge - back + 6] = b"needle"

    found = found_in(original(bytes(data), chunk_bytes=MIB), "needle").hits

    assert [data.index(b"needle", hit.near) for hit in found] == [MIB - back, 2 * MIB - back]


def test_the_start_of_a_part_is_no_start_of_a_line():
    data = b"needle " * (3 * MIB // 7)

    assert len(found_in(original(data, chunk_bytes=MIB), "^needle").hits) == 1
    assert len(found_in(original(data, chunk_bytes=MIB), "needle $").hits) == 1


def test_of_a_long_line_only_what_is_around_the_match_is_shown():
    data = b"a" * 2_000 + b"needle" + b"b" * 2_000

    [hit] = found_in(original(data), "needle").hits

    text = hit.shown()
    assert text == "1 (byte 1872): …" + "a" * 128 + "needle" + "b" * (COLUMNS - 134) + "…"
    assert data[hit.near : hit.near + 128 + 6] == b"a" * 128 + b"needle"


def test_a_hit_can_be_shown_shorter():
    [hit] = found_in(original(b"a" * 2_000 + b"needle" + b"b" * 2_000), "needle").hits

    assert hit.shown(16) == "1 (byte 1872): …aaaaneedlebbbbbb…"


def test_a_long_line_is_found_at_each_place_that_matches():
    data = b"".join(b"needle %d " % number + b"x" * 1_000 for number in range(50))

    found = found_in(original(data), "needle").hits

    assert [hit.shown().partition("needle ")[2].partition(" ")[0] for hit in found] == [
        str(number) for number in range(50)
    ]


def test_two_hundred_places_are_found_and_the_next_one_is_known():
    found = found_in(original(b"hit\n" * 1_000), "hit")

    assert len(found.hits) == 200
    assert found.stopped_at is not None
    assert found.stopped_at.line == 201


class Endless:
    """An original of any size that takes no memory: one block again and again."""

    def __init__(self, block: bytes, blocks: int) -> None:
        self.block = block
        self.read_bytes = 0
        about = About(
            *(
                "r_1f3a9c7be20d",
                "",
                len(block) * blocks,
                block.count(b"\n") * blocks,
                "c",
                "bash",
                0,
            ),
            chunk_bytes=len(block),
            chunk_lines=(block.count(b"\n"),) * blocks,
        )
        self.original = Original(about, self.read, exact=False)

    def read(self, start: int, stop: int) -> bytes:
        self.read_bytes += stop - start
        first = start // len(self.block)
        blocks = self.block * (stop // len(self.block) - first + 1)
        return blocks[start - first * len(self.block) : stop - first * len(self.block)]


def test_no_more_than_the_bound_is_read_and_the_rest_is_known():
    endless = Endless(b"x" * 1_023 + b"\n", 1024 * 1024)

    found = found_in(endless.original, "needle")

    assert endless.original.length == 8 * MOST_BYTES
    assert found.stopped_at is not None
    assert found.stopped_at.line == MOST_BYTES // 1024 + 1
    assert endless.read_bytes < 1.1 * MOST_BYTES


def test_when_time_is_up_nothing_more_is_begun():
    seconds = iter(range(1_000))
    kept = original(b"x" * 99 + b"\n" + (b"x" * 99 + b"\n") * 100_000, chunk_bytes=MIB)

    found = found_in(kept, "needle", lambda: next(seconds) * 1_000_000_000)

    assert found.stopped_at is not None
    assert found.stopped_at.line == 2 * MIB // 100 - 1 + 1
    assert found.hits == []


def test_the_place_of_a_hit_is_found_in_the_original_bytes():
    random.seed(7)
    words = [random.choice(["plain ", "\x1b[31mred\x1b[0m ", "\x00", "é "]) for _ in range(3_000)]
    data = ("".join(words) + "needle" + "".join(words)).encode()
    kept = original(data)

    [hit] = found_in(kept, "needle").hits

    offset = offset_of(hit.place, kept)
    assert 0 <= data.index(b"needle") - offset < 600
