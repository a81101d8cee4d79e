"""By lines and by bytes: what was asked for as far as it fits, and from where it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import RequestError
from headgate.marker import Ask, Marker
from headgate.read.footer import closed, fitted
from headgate.read.original import Original
from headgate.read.piece import BYTES_PER_UNIT, LEAST_BYTES, Piece, code_point, piece_of
from headgate.read.request import Span
from headgate.shape.cut import suffix
from headgate.shape.shaper import Room


def by_lines(span: Span, original: Original, room: Room, marker: Marker) -> str:
    """Show lines from 1, both ends included; after them as many again can be asked for."""
    if span.first is None:
        return _last_lines(span.last or 0, original, room, marker)
    first, last = lines_asked(span, original)
    after = None
    if last < original.lines:
        after = Ask("lines", _range(last + 1, min(2 * last - first + 1, original.lines)))
    stretch = Stretch(first, last, is_open=span.last is None, after=after)
    return show_lines(stretch, original, room, marker)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines to show, and what to ask for when all of them were shown."""

    first: int
    last: int
    is_open: bool = False
    """Whether nobody said where it ends."""
    after: Ask | None = None
    title: str = ""


def show_lines(stretch: Stretch, original: Original, room: Room, marker: Marker) -> str:
    """Show lines as far as they fit, and say how to get the rest."""
    start, stop = original.start_of(stretch.first), original.start_of(stretch.last + 1)

    def make(limit: int) -> str:
        piece = piece_of(original, start, stop, limit, room.meter)
        whole_lines = _ends_line(piece, original)
        words = (_lines_in_words if whole_lines else _bytes_in_words)(piece, original)
        go_on: Ask | str = stretch.after or marker.end
        if not whole_lines:
            go_on = Ask("bytes", f"{piece.stop}-{'' if stretch.is_open else stop - 1}")
        elif piece.stop < stop:
            line = original.line_at(piece.stop)
            rest = f"{line}-" if stretch.is_open else _range(line, stretch.last)
            go_on = Ask("lines", rest)
        return closed(piece.text, stretch.title + words, go_on, room, marker)

    return fitted(make, room, stretch.title + _longest_end(original, room, marker))


def lines_asked(span: Span, original: Original) -> tuple[int, int]:
    """The first and the last line of a span that there are."""
    if span.first is None:
        return max(original.lines - (span.last or 0) + 1, 1), original.lines
    if span.first > original.lines:
        raise RequestError(_too_far("lines", span.first, original.lines))
    return span.first, min(span.last or original.lines, original.lines)


def _range(first: int, last: int) -> str:
    return f"{first}-{last}" if last > first else str(first)


def _last_lines(count: int, original: Original, room: Room, marker: Marker) -> str:
    """The last `count` lines: if they do not fit, the last of them."""
    first, _ = lines_asked(Span(None, count), original)

    def make(limit: int) -> str:
        line = _first_that_fits(first, original, limit, room)
        piece = piece_of(original, original.start_of(line), original.length, limit, room.meter)
        while piece.stop < original.length and line < original.lines:
            line += max(original.lines - original.line_at(piece.stop) + 1, 1)
            line = min(line, original.lines)
            piece = piece_of(original, original.start_of(line), original.length, limit, room.meter)
        if piece.stop < original.length:
            ask = Ask("bytes", f"{piece.stop}-")
            return closed(piece.text, _bytes_in_words(piece, original), ask, room, marker)
        words = _lines_in_words(piece, original)
        if line == 1:
            return closed(piece.text, words, marker.end, room, marker)
        # The last that are kept are not the last that were, and nobody is to take them for that.
        words += f", {marker.end}" if marker.kept == "partly" else ""
        before = Ask("lines", _range(max(line - count, 1), line - 1))
        return closed(piece.text, words, before, room, marker)

    return fitted(make, room, _longest_end(original, room, marker))


def _first_that_fits(first: int, original: Original, limit: int, room: Room) -> int:
    """The first of the last lines that fit together, from `first` on; at least the last one."""
    start = original.start_of(first)
    begin = max(start, original.length - max(LEAST_BYTES, limit * BYTES_PER_UNIT))
    data = original.between(begin, original.length)
    cut = 0 if begin == start else original.ends(data, begin).find(b"\n") + 1
    text = original.shown(data[cut:], begin + cut).decode()
    kept = suffix(text, limit, room.meter)
    whole = kept if kept == text else kept.partition("\n")[2]
    fitting = whole.count("\n") + (not whole.endswith("\n"))
    return min(max(original.lines - fitting + 1, first), original.lines)


def by_bytes(span: Span, original: Original, room: Room, marker: Marker) -> str:
    """Show bytes from 0, both ends included, moved back to where characters begin."""
    first, after = bytes_asked(span, original)
    start, stop = _character(first, original), _character(after, original)
    if stop <= start:
        stop = _next_character(start, original)
    moved = ", moved to whole characters" if (start, stop) != (first, after) else ""

    def make(limit: int) -> str:
        piece = piece_of(original, start, stop, limit, room.meter)
        words = _bytes_in_words(piece, original) + moved
        go_on = _next_bytes(piece, stop, original) or marker.end
        return closed(piece.text, words, go_on, room, marker)

    return fitted(make, room, _longest_end(original, room, marker))


def bytes_asked(span: Span, original: Original) -> tuple[int, int]:
    """Where a span begins, and where it has ended."""
    if span.first is None:
        return max(original.length - (span.last or 0), 0), original.length
    if span.first >= original.length:
        raise RequestError(_too_far("bytes", span.first, original.length))
    after = original.length if span.last is None else min(span.last + 1, original.length)
    return span.first, after


def _next_bytes(piece: Piece, stop: int, original: Original) -> Ask | None:
    if piece.stop >= original.length:
        return None
    if piece.stop < stop < original.length:
        return Ask("bytes", f"{piece.stop}-{stop - 1}")
    if _ends_line(piece, original):
        return Ask("lines", f"{original.line_at(piece.stop)}-")
    return Ask("bytes", f"{piece.stop}-")


def _character(offset: int, original: Original) -> int:
    if offset in (0, original.length):
        return offset
    if original.utf_16:
        return offset - offset % 2
    begin = max(offset - 3, 0)
    return begin + code_point(original.between(begin, offset + 1), offset - begin)


def _next_character(offset: int, original: Original) -> int:
    if original.utf_16:
        return min(offset + 2, original.length)
    data = original.between(offset, offset + 4)
    return offset + next((at for at in range(1, len(data)) if data[at] & 0xC0 != 0x80), len(data))


def _ends_line(piece: Piece, original: Original) -> bool:
    stop = piece.stop
    return stop >= original.length or original.ends_line(stop)


def _lines_in_words(piece: Piece, original: Original) -> str:
    first, last = original.line_at(piece.start), original.line_at(max(piece.stop - 1, 0))
    lines = f"lines {first:,}-{last:,}" if last > first else f"line {first:,}"
    return f"{lines} of {original.lines:,} shown{_open_end(piece, original)}"


def _bytes_in_words(piece: Piece, original: Original) -> str:
    stretch = f"bytes {piece.start:,}-{piece.stop - 1:,} of {original.length:,} shown"
    return f"{stretch}, from line {original.line_at(piece.start):,}{_open_end(piece, original)}"


def _open_end(piece: Piece, original: Original) -> str:
    is_open = piece.stop >= original.length and not piece.text.endswith("\n")
    return ", no line end after it" if is_open else ""


def _longest_end(original: Original, room: Room, marker: Marker) -> str:
    piece = Piece("", original.length, original.length)
    words = f"{_bytes_in_words(piece, original)}, moved to whole characters"
    return closed("", words, Ask("bytes", f"{original.length}-{original.length}"), room, marker)


def _too_far(name: str, first: int, total: int) -> str:
    return (
        f'{name} from {first:,} on were asked for; there are {total:,}: {name}="-50" shows the last'
    )
