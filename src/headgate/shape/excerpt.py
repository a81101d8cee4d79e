"""Shape a text by a fixed form: pieces of its ends, in the words of a template.

What stands out is not looked for. The pieces have the sizes that the form gives them, and shrink
only where the whole would be larger than its room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headgate.marker import Edge, Excerpt, Left, Marker
from headgate.measure.lengths import bytes_in, chars_in
from headgate.measure.size import lines_in
from headgate.shape.cut import grapheme_after, grapheme_before, prefix, suffix
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.sketch import Sketch
from headgate.types import Amount, Meter

WINDOW_BYTES = 256
"""Bytes of each end that are looked at for each unit of room: a token is rarely longer."""

LEAST_WINDOW_BYTES = 64 * 1024

TRIES = 12
"""Tokens of two pieces and of their sum differ a little: so often the pieces are made shorter."""


@dataclass(frozen=True, slots=True)
class Ends:
    """A text as far as an excerpt can show it; both ends are the whole where that is short."""

    start: str
    end: str
    chars: int
    bytes: int
    lines: int

    @property
    def is_whole(self) -> bool:
        """Whether each end is the whole text."""
        return len(self.start) == self.chars


def ends_of_source(source: Source, window_bytes: int) -> Ends:
    """The ends of a text that is in memory."""
    data = source.data
    if len(data) <= 2 * window_bytes:
        text = data.decode(errors="replace")
        return Ends(text, text, len(text), len(data), source.lines)
    start = data[:window_bytes].decode(errors="ignore")
    end = data[-window_bytes:].decode(errors="ignore")
    return Ends(start, end, chars_in(data), len(data), source.lines)


def ends_of_sketch(sketch: Sketch, length_bytes: int) -> Ends:
    """The ends of a text that went by."""
    start = sketch.head.decode(errors="ignore")
    end = sketch.tail.decode(errors="ignore") if sketch.tail else start
    return Ends(start, end, sketch.chars, length_bytes, sketch.lines)


def window_bytes(room: Room, excerpt: Excerpt, cap: Amount | None = None) -> int:
    """How much of each end can matter."""
    counts = [room.limit, *(a.count for a in (excerpt.head, excerpt.tail, cap) if a)]
    return max(max(counts) * WINDOW_BYTES, LEAST_WINDOW_BYTES)


def shape_excerpt(
    ends: Ends, room: Room, marker: Marker, excerpt: Excerpt, cap: Amount | None = None
) -> Shaped:
    """Fill the form; a cap is applied before, and what it leaves is shown whole if it fits."""
    if marker.kept != "stored" and excerpt.form_unkept:
        # Nobody can look the rest up, so what is missing is counted once, and of the whole.
        most = min(room.limit, cap.count if cap is not None else room.limit)
        hard = Excerpt(excerpt.form_unkept, head_share=1.0)
        return _filled(ends, Room(most, room.meter), marker, hard)
    if cap is not None and _measure(ends, cap, room.meter) > cap.count:
        ends = _capped(ends, cap, room.meter, marker, excerpt)
        if room.fits(ends.start):
            return Shaped(ends.start, f"capped at {cap}")
        shaped = shape_excerpt(ends, room, marker, excerpt)
        return replace(shaped, how=f"capped at {cap}, then {shaped.how}")
    return _filled(ends, room, marker, excerpt)


def _capped(ends: Ends, cap: Amount, meter: Meter, marker: Marker, excerpt: Excerpt) -> Ends:
    """The text that a cap leaves: its head, and the form's own word on it."""
    form = Excerpt(excerpt.form_capped, head_share=1.0)
    text = _filled(ends, Room(cap.count, meter), marker, form).text
    return Ends(text, text, len(text), bytes_in(text), text.count("\n") + 1)


def _filled(ends: Ends, room: Room, marker: Marker, excerpt: Excerpt) -> Shaped:
    for left in _attempts(ends, room, marker, excerpt):
        text = marker.excerpt(_form(excerpt, left), left)
        if room.fits(text):
            return Shaped(text, _in_words(left))
    return Shaped(marker.short(ends.lines, ends.lines, "lines"), "the marker alone")


def _attempts(ends: Ends, room: Room, marker: Marker, excerpt: Excerpt) -> Iterator[Left]:
    """What may be shown, less with each try; at last nothing but the form's words."""
    most = excerpt.head.count if excerpt.head else room.limit
    nothing = Left("", "", ends.chars, ends.bytes, ends.lines, 0, most)
    words = max(room.size(marker.excerpt(form, nothing)) for form in _forms(excerpt))
    spare = room.limit - words
    for _ in range(TRIES):
        if spare <= 0:
            break
        left = _left(ends, spare, room.meter, excerpt)
        yield left
        over = room.size(marker.excerpt(_form(excerpt, left), left)) - room.limit
        spare -= max(over, 1)
    yield nothing


def _left(ends: Ends, spare: int, meter: Meter, excerpt: Excerpt) -> Left:
    """The pieces that fit into what the words leave."""
    start, end = _pieces(ends, spare, meter, excerpt)
    head = _head(ends.start, start, excerpt.head_ends)
    rest = ends.end[len(head) :] if ends.is_whole else ends.end
    tail = _tail(rest, end[-len(rest) :] if rest else "", excerpt.tail_begins)
    return _counted(head, tail, ends, rest, bytes_in(start))


def _pieces(ends: Ends, spare: int, meter: Meter, excerpt: Excerpt) -> tuple[str, str]:
    """Both ends, each of its own amount or its part of the room; less where both are too much."""
    share = int(spare * excerpt.head_share)
    start = _start_of(ends.start, excerpt.head or Amount(share, meter.unit), meter)
    end = _end_of(ends.end, excerpt.tail or Amount(spare - share, meter.unit), meter)
    wants = meter.count(start), meter.count(end)
    if sum(wants) <= spare:
        return start, end
    share = spare * wants[0] // sum(wants)
    start = _start_of(start, Amount(share, meter.unit), meter)
    return start, _end_of(end, Amount(spare - share, meter.unit), meter)


def _counted(head: str, tail: str, ends: Ends, rest: str, head_bytes: int) -> Left:
    """The pieces, and how many lines of the text they show whole."""
    after = ends.start[len(head) : len(head) + 1]
    cut_head = bool(head) and after not in ("", "\n") and not head.endswith("\n")
    before = rest[len(rest) - len(tail) - 1 : len(rest) - len(tail)]
    cut_tail = bool(tail) and before not in ("", "\n")
    # Cut at a line end, which is then the form's: a blank line before it is shown all the same.
    ended = f"{head}\n" if head.endswith("\n") and after == "\n" else head
    shown = lines_in(ended.encode("utf-8", "replace")) + lines_in(tail.encode("utf-8", "replace"))
    shown = min(shown - cut_head - cut_tail, ends.lines)
    inside = ends.lines - shown <= cut_head + cut_tail
    return Left(head, tail, ends.chars, ends.bytes, ends.lines, shown, head_bytes, inside)


def _head(text: str, piece: str, ends: Edge) -> str:
    """A start of `text`, cut where the edge allows it."""
    if len(piece) == len(text):
        return piece
    cut = piece.rfind("\n")
    wasteful = ends == "half" and bytes_in(piece[:cut]) * 2 < bytes_in(piece)
    if ends != "anywhere" and cut >= 0 and not wasteful:
        return piece[:cut]
    return text[: grapheme_before(text, len(piece))]


def _tail(text: str, piece: str, begins: Edge) -> str:
    """An end of `text`, cut where the edge allows it."""
    if len(piece) == len(text):
        return piece
    cut = piece.find("\n") + 1
    wasteful = begins == "half" and cut * 2 > len(piece)
    if begins != "anywhere" and cut and not wasteful:
        return piece[cut:]
    return text[grapheme_after(text, len(text) - len(piece)) :]


def _start_of(text: str, most: Amount, meter: Meter) -> str:
    if most.unit == "chars":
        return text[: most.count]
    if most.unit == "bytes":
        return text[: most.count].encode("utf-8", "replace")[: most.count].decode(errors="ignore")
    return prefix(text, most.count, meter)


def _end_of(text: str, most: Amount, meter: Meter) -> str:
    if most.count <= 0:
        return ""
    if most.unit == "chars":
        return text[-most.count :]
    if most.unit == "bytes":
        return text[-most.count :].encode("utf-8", "replace")[-most.count :].decode(errors="ignore")
    return suffix(text, most.count, meter)


def _form(excerpt: Excerpt, left: Left) -> str:
    return excerpt.form_inside if excerpt.form_inside and left.inside else excerpt.form


def _forms(excerpt: Excerpt) -> tuple[str, ...]:
    return (excerpt.form, excerpt.form_inside or excerpt.form)


def _measure(ends: Ends, cap: Amount, meter: Meter) -> int:
    if cap.unit == "tokens":
        return meter.count(ends.start) if ends.is_whole else cap.count + 1
    return ends.chars if cap.unit == "chars" else ends.bytes


def _in_words(left: Left) -> str:
    tail = f" and the last {len(left.tail):,}" if left.tail else ""
    return f"the first {len(left.head):,}{tail} of {left.chars:,} characters"
