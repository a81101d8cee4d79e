"""By page: items of an array, or lines of a text."""

from __future__ import annotations

from headgate.marker import Ask, Marker
from headgate.read.document import DOCUMENT_BYTES, document_of, marker_of_part, shape_part
from headgate.read.original import Original
from headgate.read.request import Request
from headgate.read.window import Stretch, show_lines
from headgate.shape.jsonpath import path_of
from headgate.shape.pages import Page, span_of
from headgate.shape.shaper import Room
from headgate.slices import depth_of, key_text, members

PAGE_LINES = 200
"""The size of a page of text for who asks for a page and not for a size."""

START_BYTES = 4_096
"""Where JSON begins within this, it is looked at as JSON."""


def by_page(request: Request, original: Original, room: Room, marker: Marker) -> str:
    """Show a page; one beyond the last is the last."""
    page = Page(request.page or 1, request.page_size)
    return _items(page, original, room, marker) or _lines(page, original, room, marker)


def _items(page: Page, original: Original, room: Room, marker: Marker) -> str | None:
    """A page of an array, or of the list that an object mostly is; None: there is neither."""
    start = original.shown(original.between(0, START_BYTES), 0).lstrip()
    if not start.startswith((b"[", b"{")) or original.length > DOCUMENT_BYTES:
        return None
    document = document_of(original)
    marker = document.marker(marker)
    if start.startswith(b"["):
        return shape_part(document.data, room, marker, page)
    listed = listed_in(document.data)
    if listed is None:
        return None
    location, part = listed
    inner = marker_of_part(marker, location, document.data.find(part), pages=True)
    return shape_part(part, room, inner, page)


def listed_in(document: bytes) -> tuple[str, bytes] | None:
    """The list that an object mostly is, and where it stands in it; None: it is none."""
    if depth_of(document) is None:
        return None
    key, value = max(members(document), key=lambda member: len(member[1]), default=(b"", b""))
    if 2 * len(value) <= len(document) or bytes(memoryview(value)[:1]) != b"[":
        return None
    return path_of([key_text(key)]), bytes(value)


def _lines(page: Page, original: Original, room: Room, marker: Marker) -> str:
    span = span_of(original.lines, Page(page.number, page.size or PAGE_LINES))
    after = None
    if span.has_more:
        after = Ask("page", str(span.number + 1), Ask("page_size", str(span.size)))
    title = f"page {span.number:,} of {span.pages:,}, "
    stretch = Stretch(span.start + 1, span.stop, after=after, title=title)
    return show_lines(stretch, original, room, marker)
