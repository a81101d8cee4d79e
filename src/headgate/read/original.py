"""One kept original: its bytes, its lines, and how it is shown."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from headgate.normalise import normalise, only_unicode
from headgate.types import About

Read: TypeAlias = Callable[[int, int], bytes]
"""The bytes from the first offset up to the second, fewer at the end."""

NEAR_BYTES = 4_096
"""From this distance on a line end is stepped to, not counted to."""

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MARKS = (*UTF_16_MARKS, codecs.BOM_UTF8)
"""Byte order marks: they mean something at the very start, and are text anywhere else."""

SELECTOR = re.compile(rb"(?:\xef\xb8[\x80-\x8f]|\xf3\xa0[\x84-\x87][\x80-\xbf])")
"""A variation selector: the first in a row is shown as it is, what follows it is not."""


REMEMBERED_CHUNKS = 4
"""Lines asked for lie in one chunk or two, and are looked at from both ends."""


class Recent:
    """Reads by chunks and remembers the last few: one answer looks at the same place repeatedly."""

    def __init__(self, about: About, read: Read) -> None:
        self._read = read
        self._chunk_bytes = about.chunk_bytes
        self._chunks: dict[int, bytes] = {}

    def __call__(self, start: int, stop: int) -> bytes:
        """The bytes from the first offset up to the second, fewer at the end."""
        first, behind = start // self._chunk_bytes, -(-stop // self._chunk_bytes)
        if start < 0 or behind - first > REMEMBERED_CHUNKS // 2:
            return self._read(start, stop)
        block = b"".join([self._chunk(number) for number in range(first, behind)])
        begin = first * self._chunk_bytes
        return block[start - begin : stop - begin]

    def _chunk(self, number: int) -> bytes:
        known = self._chunks.pop(number, None)
        if known is None:
            at = number * self._chunk_bytes
            known = self._read(at, at + self._chunk_bytes)
        self._chunks[number] = known
        if len(self._chunks) > REMEMBERED_CHUNKS:
            del self._chunks[next(iter(self._chunks))]
        return known


@dataclass(frozen=True, slots=True)
class Original:
    """What was kept under one ref, to be read in pieces. Lines end with `\\n` and nothing else."""

    about: About
    read: Read
    exact: bool
    """Whether it is only made valid Unicode, because somebody will edit by its exact text."""
    utf_16: bytes = b""
    """The byte order mark of a text in UTF-16."""

    @property
    def length(self) -> int:
        """In bytes."""
        return self.about.length

    @property
    def lines(self) -> int:
        """How many, a last one without line end included."""
        return self.about.lines

    def between(self, start: int, stop: int) -> bytes:
        """A stretch of it as it came."""
        return self.read(start, min(stop, self.length))

    def shown(self, data: bytes, start: int) -> bytes:
        """How `data`, which stands at `start`, is shown to a reader: valid UTF-8."""
        show = only_unicode if self.exact else normalise
        if self.utf_16:
            return show(self._whole_units(data, start))
        context = self._context(data, start) if start else b""
        return show(context + data)[len(context) :] if context else show(data)

    def _context(self, data: bytes, start: int) -> bytes:
        """What `data` must be seen with to show as it does in its place."""
        if data.startswith(MARKS):
            return b"\n"
        if not SELECTOR.match(data):
            return b""
        before = self.between(max(start - 4, 0), start)
        found = SELECTOR.search(before)
        return found[0] if found and found.end() == len(before) else b""

    def ends(self, data: bytes, start: int) -> bytes:
        """Bytes as long as `data`, which stands at `start`, with 0x0a only where a line ends.

        In UTF-16 it is a half of many characters, too.
        """
        if not self.utf_16 or b"\n" not in data:
            return data
        first = start - start % 2
        units = self.between(first, start + len(data) + 1)
        low, high = (0, 1) if self.utf_16 == codecs.BOM_UTF16_LE else (1, -1)
        only = bytearray(data)
        for found in re.finditer(b"\n", data):
            at = start + found.start() - first
            if at % 2 != low or units[at + high : at + high + 1] != b"\0":
                only[found.start()] = 0
        return bytes(only)

    def ends_line(self, offset: int) -> bool:
        """Whether a line ends just before `offset`."""
        return self.ends(self.between(offset - 1, offset), offset - 1) == b"\n"

    def _whole_units(self, data: bytes, start: int) -> bytes:
        # A line end is found by its one byte 0x0a, so a piece may begin or stop inside of its unit.
        if not data:
            return b""
        stop = start + len(data)
        data = data[start % 2 :] + (self.between(stop, stop + 1) if stop % 2 else b"")
        return data if start == 0 else self.utf_16 + data

    def start_of(self, line: int) -> int:
        """The offset where a line begins; behind the last line, the length."""
        ends = line - 1
        if ends <= 0:
            return 0
        if line > self.lines:
            return self.length
        for chunk, ends_here in enumerate(self.about.chunk_lines):
            if ends_here >= ends:
                at = chunk * self.about.chunk_bytes
                chunk_ends = self.ends(self.between(at, at + self.about.chunk_bytes), at)
                return at + after_line_end(chunk_ends, ends)
            ends -= ends_here
        return self.length

    def line_at(self, offset: int) -> int:
        """The number of the line that the byte at `offset` belongs to."""
        chunk, rest = divmod(offset, self.about.chunk_bytes)
        ends = sum(self.about.chunk_lines[:chunk])
        return 1 + ends + self.ends(self.between(offset - rest, offset), offset - rest).count(b"\n")


def original_of(about: About, read: Read, *, exact: bool) -> Original:
    """Look at how the original begins, and make it readable."""
    mark = read(0, min(2, about.length))
    read = Recent(about, read)
    if mark not in UTF_16_MARKS:
        return Original(about, read, exact)
    return _in_utf_16(Original(about, read, exact, mark))


def _in_utf_16(kept: Original) -> Original:
    """Count its lines anew: the store has counted bytes."""
    size = kept.about.chunk_bytes
    starts = range(0, kept.length, size)
    ends = tuple(kept.ends(kept.between(at, at + size), at).count(b"\n") for at in starts)
    last = kept.length - kept.length % 2 - 2
    is_open = not kept.ends(kept.between(last, kept.length), last).count(b"\n")
    return replace(kept, about=replace(kept.about, lines=sum(ends) + is_open, chunk_lines=ends))


def after_line_end(data: bytes, number: int) -> int:
    """The offset behind the line end of this number; halving, because counting is fast."""
    start, stop = 0, len(data)
    while stop - start > NEAR_BYTES:
        middle = (start + stop) // 2
        ends = data.count(b"\n", start, middle)
        if ends >= number:
            stop = middle
        else:
            start, number = middle, number - ends
    for _ in range(number):
        start = data.index(b"\n", start) + 1
    return start
