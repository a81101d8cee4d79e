"""An original as one JSON document, and parts of it whose markers point into the whole."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from headgate.errors import RequestError
from headgate.marker import Ask, Marker
from headgate.read.original import Original
from headgate.shape.envelope import shape_envelope
from headgate.shape.jsons import shape_json
from headgate.shape.pages import Page
from headgate.shape.shaper import Room, Source
from headgate.slices import depth_of
from headgate.types import NO_QUERY

DOCUMENT_BYTES = 256 * 1024 * 1024
"""A larger document is not taken apart in memory."""

PLAIN_NAME = re.compile(r"\['([A-Za-z_][A-Za-z0-9_]*)'\]")


@dataclass(frozen=True, slots=True)
class Document:
    """A whole original as it is shown, to be taken apart."""

    data: bytes
    bytes_hold: bool = True
    """Whether each byte stands where it stands in the original: it was shown as it came."""
    lines_hold: bool = True
    """Whether each line has the number that it has in the original."""

    def stretch(self, span: str) -> Ask:
        """What to ask for to read bytes of it: lines of the original, where they stand elsewhere.

        `span` is as one asks for it, `0-4095` or `4096-`.
        """
        if self.bytes_hold:
            return Ask("bytes", span)
        if not self.lines_hold:
            return Ask("lines", "1-")
        first, last = (self._line(int(end)) if end else "" for end in span.split("-"))
        return Ask("lines", str(first) if last == first else f"{first}-{last}")

    def marker(self, marker: Marker) -> Marker:
        """The marker of a shaped document, which asks for what is there in the original."""

        def in_original(ask: Ask) -> Ask:
            return self.stretch(ask.value) if ask.name == "bytes" else ask

        return marker if self.bytes_hold else replace(marker, within=in_original)

    def _line(self, offset: int) -> int:
        return 1 + self.data.count(b"\n", 0, offset)


def document_of(original: Original) -> Document:
    """The whole as it is shown; `RequestError` if it is too large to be taken apart."""
    if original.length > DOCUMENT_BYTES:
        raise RequestError(
            f"the result has {original.length:,} bytes; beyond {DOCUMENT_BYTES:,} it is not taken "
            "apart as JSON: read it by lines, bytes or search"
        )
    data = original.between(0, original.length)
    shown = original.shown(data, 0)
    # Of UTF-16 lines are counted by a byte that may be a half of any character.
    return Document(shown, bytes_hold=shown == data, lines_hold=not original.utf_16)


def shape_part(part: bytes, room: Room, marker: Marker, page: Page | None = None) -> str | None:
    """A JSON value in the room, still JSON; None if it is no JSON."""
    source = Source(part, "json", room.meter.estimate(part), part.count(b"\n") + 1)
    if page is not None and marker.style.plain_pages and depth_of(part) is not None:
        return shape_envelope(source, room, marker, page=page, page_items=None).text
    shaped = shape_json(source, room, NO_QUERY, marker, page=page)
    return shaped.text if shaped else None


def marker_of_part(marker: Marker, location: str, offset: int, pages: bool) -> Marker:
    """The marker for a value at `location`; `pages` says that a page of it can be asked for."""

    def in_document(ask: Ask) -> Ask:
        if ask.name == "path":
            return replace(ask, value=location + ask.value.removeprefix("$"))
        if ask.name == "bytes":
            first, _, last = ask.value.partition("-")
            start = max(offset + int(first), 0)
            return Ask("bytes", f"{start}-{offset + int(last) if last else ''}")
        if ask.name == "page" and ask.also and not pages:
            size = int(ask.also.value)
            start = (int(ask.value) - 1) * size
            return Ask("path", f"{location}[{start}:{start + size}]")
        return ask

    def into_whole(ask: Ask) -> Ask:
        moved = in_document(ask)
        return marker.within(moved) if marker.within else moved

    return replace(marker, within=into_whole)


def short_location(location: str) -> str:
    """A normalised path as people write it, `$.items[3]`; what cannot be seen, as its escape."""
    plain = PLAIN_NAME.sub(r".\1", location)
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in plain)
