"""A piece of an original that fits: whole lines, or a part of one line that is too long.

Pieces that follow each other show, put together, what the whole would show. Only where a carriage
return overwrites more than a terminal's line could ever hold, a piece may show what it overwrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headgate.read.original import Original, after_line_end
from headgate.shape.cut import prefix
from headgate.terminal import STATE_CHARS
from headgate.types import Meter

LEAST_BYTES = 64 * 1024
BYTES_PER_UNIT = 8
"""What is read at first: enough for most texts to fill their limit."""

MOST_BYTES = 4 * 1024 * 1024
"""What one piece looks at: colours and progress bars can take this much to say little."""

AHEAD_BYTES = 512 * 1024
"""How far inside a line is looked for what overwrites it: more than any state that can be."""

OVERWRITING = re.compile(rb"[\r\b\x9b]|\x1b\[(?:[01]?G|[0-9]{3}[0-9]*D)")
"""What goes back in its line, and may overwrite what stands there."""

OPEN_CHARS = 64
"""The end of a part may show otherwise once more is seen: a cut escape, a joined character."""

TRIES = 8
"""How many places side by side are tried: more than a tag or a character has bytes."""

SKIPS = 256
"""How many parts with nothing to see are passed over before an answer shows nothing but its end."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What is shown of the bytes from `start` up to `stop`."""

    text: str
    start: int
    stop: int


def piece_of(original: Original, start: int, stop: int, limit: int, meter: Meter) -> Piece:
    """As much of the bytes from `start` as measures at most `limit`; at least one character."""
    piece = Piece("", start, start)
    for _ in range(SKIPS):
        at = piece.stop
        lines = _whole_lines(original, at, stop, limit, meter)
        piece = lines or _part_of_line(original, at, stop, limit, meter)
        if piece.text or piece.stop >= stop:
            break
    return Piece(piece.text, start, piece.stop)


def _whole_lines(
    original: Original, start: int, stop: int, limit: int, meter: Meter
) -> Piece | None:
    """Whole lines while they fit; None if not even one does."""
    window = max(LEAST_BYTES, limit * BYTES_PER_UNIT)
    while True:
        data = original.between(start, min(stop, start + window))
        if start + len(data) < stop:
            data = data[: original.ends(data, start).rfind(b"\n") + 1]
        text = original.shown(data, start).decode()
        if data and meter.count(text) <= limit:
            if start + len(data) >= stop or window >= MOST_BYTES:
                return Piece(text, start, start + len(data))
        elif data or window >= AHEAD_BYTES:
            break
        window *= 4
    kept = prefix(text, limit, meter)
    kept = kept[: kept.rfind("\n") + 1]
    if not kept:
        return None
    ends = original.ends(data, start)
    return Piece(kept, start, start + after_line_end(ends, kept.count("\n")))


def _part_of_line(original: Original, start: int, stop: int, limit: int, meter: Meter) -> Piece:
    """The start of a line that is too long."""
    data, is_whole = _line(original, start, stop)
    overwritten = OVERWRITING.search(data) is not None
    near = max(LEAST_BYTES, limit * BYTES_PER_UNIT)
    if not overwritten and near < len(data):
        data, is_whole = data[: code_point(data, near)], False
    shown = original.shown(data, start)
    text = shown.decode()
    held_back = 0 if is_whole else STATE_CHARS if overwritten else OPEN_CHARS
    kept = 0
    for begin in _starts(text, max(len(text) - held_back, 0), limit, meter):
        kept = len(begin.encode())
        cut = _cut(original, data, start, shown, kept)
        if cut:
            rest = original.shown(data[cut:], start + cut)
            return Piece(shown[: len(shown) - len(rest)].decode(), start, start + cut)
    cut = code_point(data, max(len(data) * kept // len(shown), 4))
    return Piece(shown[:kept].decode(), start, start + cut)


def _starts(text: str, settled: int, limit: int, meter: Meter) -> Iterator[str]:
    """What fits, best first: of what is settled, of all, and with no regard to graphemes."""
    yield prefix(text[:settled], limit, meter)
    yield prefix(text, limit, meter)
    length = min(len(text), max(limit, 1))
    while length > 1 and meter.count(text[:length]) > limit:
        length //= 2
    yield text[:length]


def _line(original: Original, start: int, stop: int) -> tuple[bytes, bool]:
    """The line up to its end, or as far as anything can overwrite its start."""
    data = original.between(start, min(stop, start + AHEAD_BYTES))
    end = original.ends(data, start).find(b"\n") + 1
    if end:
        return data[:end], True
    if start + len(data) >= stop:
        return data, True
    return data[: code_point(data, len(data) - 1)], False


def _cut(original: Original, data: bytes, start: int, shown: bytes, most: int) -> int:
    """Where to cut `data` so that its rest shows an end of `shown`, with at most `most` before."""
    if most == len(shown):
        return len(data)
    if shown == data:
        return most

    def rest(at: int) -> bytes:
        return original.shown(data[at:], start + at)

    def reaches(at: int) -> bool:
        return len(rest(at)) >= len(shown) - most

    def is_good(at: int) -> bool:
        return reaches(at) and shown.endswith(rest(at))

    # Inside an escape or a tag the rest shows more than it should. So the place is looked for by
    # its length, then around there, and only then by halving what is not the same everywhere.
    near = last_place(len(data), reaches)
    around = (at for at in _before(near) if is_good(at))
    return next(around, None) or _last_good(len(data), is_good)


def _last_good(stop: int, is_good: Callable[[int], bool]) -> int:
    """A late place that is good, where most places between good ones may not be."""
    found = 0
    while stop - found > 1:
        middle = (found + stop) // 2
        near = range(middle, max(middle - TRIES, found), -1)
        place = next((at for at in near if is_good(at)), None)
        if place is None:
            stop = middle
        else:
            found = place
    return found


def last_place(stop: int, holds: Callable[[int], bool]) -> int:
    """The last place before `stop` that `holds`, found by halving; 0 if there seems to be none."""
    found = 0
    while stop - found > 1:
        middle = (found + stop) // 2
        if holds(middle):
            found = middle
        else:
            stop = middle
    return found


def _before(at: int) -> list[int]:
    """Places at `at` and before it, ever farther from each other."""
    backs = [*range(TRIES), *(TRIES << doubled for doubled in range(at.bit_length()))]
    return [at - back for back in backs if back < at]


def code_point(data: bytes, at: int) -> int:
    """The start of the UTF-8 character around the byte at `at`; `at` itself in other bytes."""
    for start in range(at, max(at - 4, -1), -1):
        if start >= len(data) or data[start] & 0xC0 != 0x80:
            return start
    return at
