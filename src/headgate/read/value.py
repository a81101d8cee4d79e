"""By JSON path: the values it selects, each with its location where there are several."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.marker import Ask, Marker
from headgate.read.document import (
    Document,
    document_of,
    marker_of_part,
    shape_part,
    short_location,
)
from headgate.read.footer import closed, fitted
from headgate.read.original import Original
from headgate.read.path import Found, find
from headgate.read.request import Request
from headgate.shape.cut import prefix
from headgate.shape.pages import Page, Span, shrunk, span_of
from headgate.shape.shaper import Room
from headgate.slices import compact

MOST_VALUES = 1_000
"""What one path gives; a reader who gets more wants a narrower path."""

MOST_STEPS = 100_000
BYTES_PER_STEP = 256
"""What is looked at for one answer: so many values, and more in a large document, so that it can be
taken apart at least twice; seconds at worst."""

PAGE_VALUES = 50

MANY = "there may be more, which a narrower path finds"


def by_path(request: Request, original: Original, room: Room, marker: Marker) -> str:
    """Show the values that a path selects, a page of them if they do not fit."""
    path = request.path or "$"
    document = document_of(original)
    steps = MOST_STEPS + len(document.data) // BYTES_PER_STEP
    found = find(document.data, path, most=MOST_VALUES, budget=steps)
    if not found.matches:
        words = "nothing at this path" + (
            ", which was not followed to its end" if found.truncated else ""
        )
        return closed("", words, Ask("path", "$"), room, marker)
    asked = Page(request.page or 1, request.page_size or PAGE_VALUES)
    span = span_of(len(found.matches), asked)

    def make(limit: int) -> str:
        rows, shown = _rows(found.matches, span, limit, room)
        words, go_on = _in_words(found, shown), _go_on(path, found, shown, marker)
        if not rows:
            row, inside = _cut(found.matches, span.start, document, Room(limit, room.meter), marker)
            rows, words = [row], f"a part of {words}"
            go_on = go_on if shown.has_more else inside
        return closed("\n".join(rows), words, go_on, room, marker)

    return fitted(make, room, _longest_end(path, found, room, marker))


def _rows(
    matches: Sequence[tuple[str, bytes]], span: Span, limit: int, room: Room
) -> tuple[list[str], Span]:
    """Whole values of a page, as many as fit, and the page they are."""
    rows: list[str] = []
    for location, raw in matches[span.start : span.stop]:
        if len(raw) > limit * 64:
            break
        row = _labelled(location, compact(raw).decode(), len(matches))
        limit -= room.size(f"{row}\n")
        if limit < 0:
            break
        rows.append(row)
    shown = span if len(rows) == span.stop - span.start else shrunk(span, len(rows))
    return rows[: shown.stop - shown.start], shown


def _labelled(location: str, text: str, total: int) -> str:
    return text if total == 1 else f"{short_location(location)}: {text}"


def _cut(
    matches: Sequence[tuple[str, bytes]],
    number: int,
    document: Document,
    room: Room,
    marker: Marker,
) -> tuple[str, Ask | str]:
    """The first value of a page, which alone is too large, and how to go on inside of it."""
    location, raw = matches[number]
    place, offset = short_location(location), document.data.find(raw)
    label = _labelled(location, "", len(matches))
    left = Room(max(room.limit - room.size(label), 1), room.meter)
    inner = marker_of_part(document.marker(marker), place, offset, pages=False)
    shaped = shape_part(raw, left, inner)
    if shaped is not None and left.fits(shaped):
        return label + shaped, "the marker in it says how to go on"
    start = prefix(raw.decode(), left.limit, room.meter)
    rest = max(offset, 0) + len(start.encode())
    return label + start, document.stretch(f"{rest}-{offset + len(raw) - 1}")


def _in_words(found: Found, span: Span) -> str:
    if span.total == 1:
        return f"the value at {short_location(found.matches[0][0])}"
    total = f"the first {span.total:,}" if found.truncated else f"{span.total:,}"
    if span.stop == span.start + 1:
        return f"value {span.stop:,} of {total}"
    return f"values {span.start + 1:,}-{span.stop:,} of {total}"


def _go_on(path: str, found: Found, span: Span, marker: Marker) -> Ask | str:
    if span.has_more:
        size = Ask("page_size", str(span.size))
        return Ask("path", path, Ask("page", str(span.number + 1), size))
    return MANY if found.truncated else marker.end


def _longest_end(path: str, found: Found, room: Room, marker: Marker) -> str:
    total = len(found.matches)
    span = Span(total, total, total - 2, total, total + 1)
    words = f"a part of {_in_words(found, span)}"
    return closed("", words, _go_on(path, found, span, marker), room, marker)
