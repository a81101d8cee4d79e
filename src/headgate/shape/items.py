"""A long list without one object per item: an array's items, or the lines of JSON lines.

The list is cut into blocks once; after that an item costs the splitting of its own block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from headgate.slices import NotJson, count_items, end_of, items, offsets

BLOCK_BYTES = 1 << 16
"""Split in a tenth of a millisecond, so that going back to any block is cheap."""

BLOCK_ITEMS = 1_024
LEAST_BLOCK_BYTES = 1 << 12
"""Of tiny items a block is smaller: splitting takes time by the item."""

CUT_TRIES = 16
"""How many places are tried for the end of a block before the rest is taken as one."""

BORDER_BYTES = 24
"""How much of an item's beginning tells a border of the list from one inside an item."""

Splitter: TypeAlias = Callable[[bytes], Sequence[bytes]]
Starts: TypeAlias = Callable[[bytes, Sequence[bytes]], list[int]]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of whole items: its numbers, and where it stands in the list's bytes."""

    first: int
    count: int
    start: int
    stop: int


class Items(Sequence[bytes]):
    """The items of a list as bytes, by number."""

    def __init__(
        self, data: bytes, blocks: Sequence[Block], split: Splitter, starts: Starts
    ) -> None:
        self._data = data
        self._blocks = blocks
        self._firsts = [block.first for block in blocks]
        self._total = blocks[-1].first + blocks[-1].count
        self._split = split
        self._starts = starts
        self._held: tuple[int, Sequence[bytes]] = (-1, ())
        self._held_first = 0
        self._held_starts: tuple[int, list[int]] = (-1, [])

    def __len__(self) -> int:
        return self._total

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]  # no caller wants a slice
        return bytes(self._slice(index))

    def length(self, index: int) -> int:
        """How many bytes an item has."""
        return len(self._slice(index))

    def blocks(self, most_bytes: int) -> Iterator[tuple[Block, bytes]]:
        """The blocks and their bytes, as many as begin within `most_bytes`."""
        for block in self._blocks:
            if block.start > most_bytes:
                break
            yield block, self._data[block.start : block.stop]

    def numbers_at(self, block: Block, places: Sequence[int]) -> list[int]:
        """The numbers of the items that stand at these places of a block's bytes."""
        which = bisect_right(self._firsts, block.first) - 1
        if self._held_starts[0] != which:
            data = self._data[block.start : block.stop]
            self._held_starts = which, self._starts(data, self._slices(which))
        starts = self._held_starts[1]
        return [block.first + max(bisect_right(starts, place) - 1, 0) for place in places]

    def _slice(self, index: int) -> bytes:
        # Items are mostly asked for one after the other.
        if 0 <= index - self._held_first < len(self._held[1]):
            return self._held[1][index - self._held_first]
        if not 0 <= index < self._total:
            raise IndexError(index)
        which = bisect_right(self._firsts, index) - 1
        return self._slices(which)[index - self._firsts[which]]

    def _slices(self, which: int) -> Sequence[bytes]:
        if self._held[0] != which:
            block = self._blocks[which]
            self._held = which, self._split(self._data[block.start : block.stop])
            self._held_first = block.first
        return self._held[1]


def items_of(raw: bytes) -> Items:
    """The items of a valid JSON array, without whitespace around it."""
    return Items(raw, _blocks(raw), _split_items, _item_starts)


def lines_of(data: bytes) -> Items:
    """The lines of a text; a line end at its end begins no line."""
    data = data.removesuffix(b"\n")
    blocks, start, first = [], 0, 0
    while start <= len(data):
        stop = data.find(b"\n", start + BLOCK_BYTES)
        stop = len(data) if stop < 0 else stop
        count = data.count(b"\n", start, stop) + 1
        blocks.append(Block(first, count, start, stop))
        first += count
        start = stop + 1
    return Items(data, blocks, _split_lines, _line_starts)


def _split_items(block: bytes) -> Sequence[bytes]:
    return items(b"[%b]" % block)


def _item_starts(block: bytes, slices: Sequence[bytes]) -> list[int]:
    return [start - 1 for start in offsets(b"[%b]" % block, slices)]


def _split_lines(block: bytes) -> Sequence[bytes]:
    return block.split(b"\n")


def _line_starts(block: bytes, slices: Sequence[bytes]) -> list[int]:
    return list(accumulate((len(line) + 1 for line in slices), initial=0))[:-1]


def _blocks(raw: bytes) -> list[Block]:
    """Cut a long array without splitting it as a whole.

    A block ends where a border like the first one stands and what lies before it reads as whole
    items, which it does only outside of every item.
    """
    border = _border(raw) if len(raw) > 2 * BLOCK_BYTES else b""
    seen = raw.count(border, 0, BLOCK_BYTES) if border else 0
    block_bytes = min(max(BLOCK_ITEMS * BLOCK_BYTES // (seen + 1), LEAST_BLOCK_BYTES), BLOCK_BYTES)
    blocks, first, start = [], 0, 1
    while border and len(raw) - start > 2 * block_bytes:
        cut = _cut(raw, start, border, block_bytes)
        if cut is None:
            break
        stop, count = cut
        blocks.append(Block(first, count, start, stop))
        first += count
        start = raw.index(b",", stop) + 1
    rest = len(_split_items(raw[start:-1]))
    return [*blocks, Block(first, rest, start, len(raw) - 1)]


def _cut(raw: bytes, start: int, border: bytes, block_bytes: int) -> tuple[int, int] | None:
    """The end of the block that begins at `start`, and how many items it has."""
    stop = start + block_bytes
    for _ in range(CUT_TRIES):
        stop = raw.find(border, stop + 1)
        if stop < 0:
            return None
        count = count_items(b"[%b]" % raw[start:stop])
        if count is not None:
            return stop, count
    return None


def _border(raw: bytes) -> bytes:
    """What stands between the first two items, and how both of them begin."""
    window = raw[1:BLOCK_BYTES].lstrip()
    try:
        first = end_of(window, 0)
    except NotJson:
        return b""
    rest = window[first:].lstrip().removeprefix(b",").lstrip()
    between = window[first : len(window) - len(rest)]
    begin = window[: window.find(b":", 0, BORDER_BYTES) + 1]
    if not begin.startswith(b"{") or not rest.startswith(begin):
        begin = b""
    return between + begin
