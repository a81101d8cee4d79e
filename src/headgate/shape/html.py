"""Shape an HTML page: its main text without the markup, its links after it where there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from headgate.marker import Marker
from headgate.shape.beyond import blocks_beyond
from headgate.shape.labels import labelled
from headgate.shape.pieces import ALWAYS, NEVER, Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.webpage import Block, Webpage, read_page
from headgate.shape.worth import Pointed, pointed_by
from headgate.types import Query, Unit

MOST_BYTES = 4 << 20
"""A longer page is shaped as any text: whoever serves that much serves no page."""

LINKS_SHARE = 0.06
"""What part of the room is kept for links: a few ways to go on."""

MAIN = 20.0
LISTED = 15.0
"""What the main text is worth, and what lists of links in it are."""

LATER = 10.0
"""What the last block loses: a page is read from the top."""

ELSEWHERE = 1.0
LINKED = 0.8
"""Text that stands around the main text; and above which share of links it is a menu."""

POINTED = 6.0
"""What a block gains that the query points at."""

TERM_CHARS = 120
BELOW = 2
BELOW_SHARE = 0.8
"""A block this short is a heading or a term; how many below it share in what it gains, and how
much."""

BEYOND = 0.5
"""As how late a block counts that was read only because the query may point at it."""

LABELLED = 1.0
"""How strongly a label that stands nowhere else points at its block."""

CHARS_PER_UNIT: Mapping[Unit, int] = MappingProxyType({"tokens": 16, "chars": 3, "bytes": 3})
"""How much of a page of very many tags is read for each unit of room: about three times as much as
can be shown."""

LINK_TEXT_CHARS = 80
ADDRESS_CHARS = 300


def shape_html(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show the main text of a page; None if it has no text, and is to be shaped as any other."""
    if len(source.data) > MOST_BYTES:
        return None
    page = read_page(source.data, room.limit * CHARS_PER_UNIT[room.meter.unit])
    page.blocks.extend(blocks_beyond(source.data, page.stop, query))
    if not page.blocks:
        return None
    texts = [block.text for block in page.blocks]
    asked = _with_what_follows(pointed_by(query, texts), texts)
    pointed = {**dict.fromkeys(labelled(texts), LABELLED), **asked}
    by_bytes = source.lines * 2 < len(page.blocks)
    pieces = _pieces(page, source, pointed, by_bytes=by_bytes)
    return shape_pieces(pieces, source, room, marker, "blocks of text, its markup left out")


def _with_what_follows(pointed: Pointed, texts: Sequence[str]) -> Pointed:
    """The same with the blocks below a short one: who asks for a heading or a term reads on."""
    strengths = dict(pointed)
    for number, strength in pointed.items():
        if len(texts[number]) <= TERM_CHARS:
            for other in range(number + 1, min(number + 1 + BELOW, len(texts))):
                strengths[other] = max(strengths.get(other, 0.0), strength * BELOW_SHARE)
    return strengths


def _pieces(page: Webpage, source: Source, pointed: Pointed, *, by_bytes: bool) -> Pieces:
    places = _places(page.blocks, source.data, by_bytes=by_bytes)
    total = len(source.data) if by_bytes else source.lines
    items = [
        Piece(first, last, block.text, _worth(page, i, pointed))
        for i, (block, (first, last)) in enumerate(zip(page.blocks, places, strict=True))
        if block.main or block.linked < LINKED or i in pointed
    ]
    if page.title and not any(page.title in piece.text for piece in items[:40]):
        items.insert(0, Piece(1, 0, f"title: {page.title}", ALWAYS))
    return Pieces(
        items,
        total,
        what="bytes" if by_bytes else "lines",
        rewritten=True,
        divisible=True,
        largest_part=1,
        after=_links(page),
        after_share=LINKS_SHARE,
    )


def _worth(page: Webpage, number: int, pointed: Pointed) -> float:
    block = page.blocks[number]
    if not block.text:
        return NEVER
    is_beyond = block.first >= page.stop and number in pointed
    worth = -LATER * (BEYOND if is_beyond else number / len(page.blocks))
    if block.main:
        worth += LISTED if block.linked >= LINKED else MAIN
    else:
        worth += ELSEWHERE
    return worth + POINTED * pointed.get(number, 0.0)


def _places(blocks: list[Block], data: bytes, *, by_bytes: bool) -> list[tuple[int, int]]:
    """Where the blocks stand in the source: their bytes, or the lines those are on."""
    if by_bytes:
        return [(block.first, block.last) for block in blocks]
    places: list[tuple[int, int]] = []
    line, at = 1, 0
    for block in blocks:
        line += data.count(b"\n", at, block.first)
        at = max(block.first, at)
        places.append((line, line + data.count(b"\n", block.first, block.last)))
    return places


def _links(page: Webpage) -> list[str]:
    seen: set[str] = set()
    lines = ["Links:"]
    for block in page.blocks:
        for link in block.links if block.main else ():
            if link.address not in seen and len(link.address) <= ADDRESS_CHARS:
                seen.add(link.address)
                lines.append(f"- {link.text[:LINK_TEXT_CHARS]}: {link.address}")
    return lines if len(lines) > 1 else []
