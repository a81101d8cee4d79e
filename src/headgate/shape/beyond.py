"""The part of a long page that is not read as a whole: only what the query points at in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from headgate.shape.hints import places_of
from headgate.shape.webpage import Block, read_page
from headgate.types import Query

BEFORE_BYTES = 500
AFTER_BYTES = 1_500
"""How much of a page is read on each side of a word: a term stands above what is said of it."""

MOST_HITS = 40
"""A word that stands there more often points at nothing."""

MOST_PLACES = 24
"""So many places are read, those of the rarest words."""

INSIDE_BYTES = 64 * 1024
"""How far back the tag is looked for that a place stands in."""


def blocks_beyond(data: bytes, stop: int, query: Query) -> list[Block]:
    """The blocks around words of the query beyond `stop`, and an empty one for all between them."""
    blocks: list[Block] = []
    at = stop
    for start, end in _windows(data, stop, query):
        if start > at:
            blocks.append(unread(at, start))
        for block in read_page(data[start:end]).blocks:
            block.first, block.last, block.main = block.first + start, block.last + start, True
            blocks.append(block)
        at = end
    if at < len(data):
        blocks.append(unread(at, len(data)))
    return blocks


def unread(start: int, stop: int) -> Block:
    """What stands for a part of a page that was not read."""
    return Block("", start, stop - 1, 0.0, heading=False)


def _windows(data: bytes, stop: int, query: Query) -> Iterator[tuple[int, int]]:
    """The parts to read, in order, from one tag to another."""
    start = end = stop
    for place in sorted(_places(data, stop, query)):
        before, after = max(place - BEFORE_BYTES, end), place + AFTER_BYTES
        if before > end:
            if end > start:
                yield start, end
            start = max(data.rfind(b"<", end, before), end)
        end = data.find(b"<", after)
        if end < 0:
            end = len(data)
    if end > start:
        yield start, end


def _places(data: bytes, stop: int, query: Query) -> list[int]:
    """Where words of the query stand in what a reader sees, the rarest first."""
    words = {word.lower().encode(errors="replace") for word in (*query.phrases, *query.words)}
    if not words or stop >= len(data):
        return []
    lowered = data[stop:].lower()
    found = [[*islice(places_of(lowered, word, MOST_HITS + 1), MOST_HITS + 1)] for word in words]
    rare = sorted((len(hits), hits) for hits in found if len(hits) <= MOST_HITS)
    places = dict.fromkeys(stop + hit for _, hits in rare for hit in hits)
    return [*islice((place for place in places if _is_seen(data, place)), MOST_PLACES)]


def _is_seen(data: bytes, place: int) -> bool:
    """Whether a place is not inside a tag, nor in an element whose text is not for readers."""
    start = max(place - INSIDE_BYTES, 0)
    if data.rfind(b"<", start, place) > data.rfind(b">", start, place):
        return False
    return all(
        data.rfind(b"<" + name, start, place) <= data.rfind(b"</" + name, start, place)
        for name in (b"script", b"style")
    )
