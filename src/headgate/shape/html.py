"""Shape an HTML page: its main text without the markup, its links after it where there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
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

SHARED_LINES = 0.3
"""Where more of the text than this begins on the line of the block before, bytes tell places."""

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

STRONG = 0.5
BELOW = 6
ABOVE = 12
"""How strongly a block is pointed at that brings its section with it: so many blocks below it, and
the heading if it stands so near above."""

TERM_CHARS = 120
BELOW_TERM = 2
"""A block this short is a heading or a term, and always brings these with it."""

SECTION_SHARE = 0.9
"""What of its strength each block passes on to the next."""

START_CHARS = 80
DRESS = " -*#>|.:"
"""How far a block is looked at for how it begins, and what may stand before that."""

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
    asked = _with_section(_pointed(query, page.blocks), page.blocks)
    pointed = {**dict.fromkeys(labelled(texts), LABELLED), **asked}
    pieces = _pieces(page, source, pointed)
    return shape_pieces(pieces, source, room, marker, "blocks of text, its markup left out")


def _pointed(query: Query, blocks: Sequence[Block]) -> Pointed:
    """What the query points at: of alike blocks main text first, then what begins with a word."""

    def rank(number: int) -> tuple[bool, bool, int]:
        start = blocks[number].text[:START_CHARS].lstrip(DRESS).lower()
        return not blocks[number].main, not start.startswith(query.words), number

    order = sorted(range(len(blocks)), key=rank)
    found = pointed_by(query, [blocks[number].text for number in order])
    return {order[place]: strength for place, strength in found.items()}


def _with_section(pointed: Pointed, blocks: Sequence[Block]) -> Pointed:
    """The same with the heading above a block and the blocks below it, as far as they belong to it.

    Who asks for a heading or a term reads on; what is strongly pointed at may go on as a list.
    """
    strengths = dict(pointed)

    def raise_to(number: int, strength: float) -> None:
        strengths[number] = max(strengths.get(number, 0.0), strength)

    for number, strength in pointed.items():
        is_term = len(blocks[number].text) <= TERM_CHARS
        below = BELOW if strength >= STRONG else BELOW_TERM if is_term else 0
        share = strength
        for other in range(number + 1, min(number + 1 + below, len(blocks))):
            if blocks[other].heading:
                break
            share *= SECTION_SHARE
            raise_to(other, share)
        above = range(number - 1, max(number - 1 - ABOVE, -1), -1) if strength >= STRONG else ()
        heading = next((other for other in above if blocks[other].heading), number)
        raise_to(heading, strength * SECTION_SHARE)
    return strengths


def _pieces(page: Webpage, source: Source, pointed: Pointed) -> Pieces:
    places = _lines_of(page.blocks, source.data)
    main = [place for block, place in zip(page.blocks, places, strict=True) if block.main]
    shared = sum(after[0] <= before[1] for before, after in pairwise(main))
    # Where many blocks share a line, it does not tell which of them are missing.
    if by_bytes := shared > SHARED_LINES * len(main):
        places = [(block.first, block.last) for block in page.blocks]
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


def _lines_of(blocks: Sequence[Block], data: bytes) -> list[tuple[int, int]]:
    """The lines that the blocks stand on, from 1."""
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
