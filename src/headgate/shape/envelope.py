"""Shape a result as a plain JSON envelope: a preview, a page, or one line for each key.

A text becomes a preview with its sizes, an array a page, an object its keys with short values. The
form is fixed, what stands out is not looked for, and everything fits the room.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from headgate.marker import OMITTED_KEY, Marker, Missing
from headgate.shape.excerpt import Ends
from headgate.shape.fill import Drawn, fill
from headgate.shape.pages import PAGE_ITEMS, Page, Span, shrunk, span_of
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.strings import chars_written, head_of, quoted
from headgate.shape.values import MOST_TURNS, Value
from headgate.slices import depth_of

PREVIEW_BYTES = 100
"""How much of a string is shown as the value of a key."""

NAMED_KEYS = 5
"""Keys of an object inside that are named; more are only counted."""

ELLIPSIS = "…".encode()

PARTS_PER_UNIT = 8
"""No more items or keys than this fit into one unit of room."""

BYTES_PER_TOKEN = 4


def shape_envelope(
    source: Source, room: Room, marker: Marker, *, page: Page | None, page_items: int | None
) -> Shaped:
    """An envelope for what the source is: a string, an array or an object."""
    value = _structured(source)
    if value is not None and value.kind == "array":
        return _array(value, source, room, marker, page or Page(), page_items or PAGE_ITEMS)
    if value is not None and value.kind == "object":
        return _object(value, source, room, marker)
    if value is not None and value.kind == "string":
        said = json.loads(value.raw).encode("utf-8", "replace")
        size = room.meter.estimate(said)
        return _string(value.raw[1:-1], value.string_chars, size, room, marker)
    text = quoted(source.data.decode(errors="replace"))[1:-1]
    return _string(text, chars_written(text), source.size, room, marker)


def preview_of_ends(ends: Ends, size: int, room: Room, marker: Marker) -> Shaped:
    """The envelope of a text that went by."""
    return _string(quoted(ends.start)[1:-1], ends.chars, size, room, marker)


def is_over_page(data: bytes, page: Page | None, page_items: int | None) -> bool:
    """Whether an array has more items than one page, however small they are."""
    if page_items is None or data.lstrip()[:1] != b"[" or depth_of(data, MOST_TURNS) is None:
        return False
    most = page.size if page and page.size else page_items
    return len(Value(data).items) > most


def _structured(source: Source) -> Value | None:
    """The value of a JSON text; None: it is a text, or so deep that it is taken for one."""
    if source.kind != "json":
        return None
    depth = depth_of(source.data, MOST_TURNS)
    value = Value(source.data, depth=depth) if depth else None
    return None if value is None or value.is_bomb else value


def _string(content: bytes, chars: int, size: int, room: Room, marker: Marker) -> Shaped:
    """`content` is the inside of a JSON string."""
    note = (
        f"String truncated to ~{room.limit} {room.meter.unit}. "
        f"Full length: {chars} chars (~{size} {room.meter.unit})."
    )

    def draw(most: int) -> Drawn:
        shown = head_of(content, most)
        fields = {
            "truncated": b"true",
            "totalChars": b"%d" % chars,
            "estimatedTokens": b"%d" % size,
            "preview": b'"%b"' % shown,
            "note": quoted(note),
        }
        how = f"{chars_written(shown)} of {chars} characters"
        return Drawn(_written(fields), how, is_all=len(shown) == len(content))

    return _filled(draw, room, marker, chars)


def _array(
    value: Value, source: Source, room: Room, marker: Marker, asked: Page, page_items: int
) -> Shaped:
    span = span_of(len(value.items), Page(asked.number, asked.size or page_items))
    last = min(span.stop, span.start + room.limit * PARTS_PER_UNIT)
    whole = [bytes(value.items[number]) for number in range(span.start, last)]
    for items in (whole, [_short(Value(raw)) for raw in whole]):
        fitting = _fitting(items, span, room)
        if fitting or not items:
            page = _page_of(span, fitting)
            shown = items[: page.stop - page.start]
            how = f"page {page.number} of {page.pages}, {len(shown)} of {page.total} items"
            return Shaped(_page(page, shown, span.size), how)
    return _alone(room, marker, source.lines, "lines")


def _fitting(items: Sequence[bytes], span: Span, room: Room) -> int:
    """How many of a page's items fit with their envelope."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high + 1) // 2
        page = _page_of(span, middle)
        fits = room.fits(_page(page, items[: page.stop - page.start], span.size))
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _page_of(span: Span, fitting: int) -> Span:
    return span if fitting >= span.stop - span.start else shrunk(span, fitting)


def _page(span: Span, items: Sequence[bytes], asked_size: int) -> str:
    note = f"Page {span.number}/{span.pages}. {span.total} total items."
    if span.has_more:
        # A page that had to be smaller than asked: the next one begins where this one ends.
        smaller = f", pageSize={span.size}" if span.size != asked_size else ""
        note += f" Pass page={span.number + 1}{smaller} for next page."
    fields = {
        "paginated": b"true",
        "totalItems": b"%d" % span.total,
        "page": b"%d" % span.number,
        "pageSize": b"%d" % span.size,
        "totalPages": b"%d" % span.pages,
        "hasMore": b"true" if span.has_more else b"false",
        "items": b"[%b]" % b",".join(items),
        "note": quoted(note),
    }
    return _written(fields)


def _object(value: Value, source: Source, room: Room, marker: Marker) -> Shaped:
    total = len(value.members)
    names = _free_names(value.names)
    places = range(min(total, room.limit * PARTS_PER_UNIT))
    members = [b"%b:%b" % (value.members[at][0], _short(value.member(at))) for at in places]

    def drawn(count: int) -> str:
        numbers = (b"true", b"%d" % total, b"%d" % source.size, b"%d" % (total - count))
        *first, last = (b"%b:%b" % pair for pair in zip(names, numbers, strict=True))
        return (b"{%b}" % b",".join([*first, *members[:count], last])).decode()

    low, high = 0, len(members)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if room.fits(drawn(middle)) else (low, middle - 1)
    if not low and total:
        return _alone(room, marker, source.lines, "lines")
    return Shaped(drawn(low), f"{low} of {total} keys, large values in short")


def _short(value: Value) -> bytes:
    """A value as the one-line preview of a key: `"[Array(5)]"`, `"{Object: id, name}"`."""
    if value.kind == "array":
        return quoted(f"[Array({len(value.items)})]")
    if value.kind == "object":
        names = list(dict.fromkeys(value.names))
        more = ", ..." if len(names) > NAMED_KEYS else ""
        named = ", ".join(name[:PREVIEW_BYTES] for name in names[:NAMED_KEYS])
        return quoted(f"{{Object: {named}{more}}}" if names else "{Object}")
    if value.kind == "string" and len(value.raw) > PREVIEW_BYTES + 2:
        return b'"%b%b"' % (head_of(value.raw[1:-1], PREVIEW_BYTES), ELLIPSIS)
    return bytes(value.raw)


def _free_names(names: Sequence[str]) -> list[bytes]:
    """Our own keys, under names that the data does not use."""
    taken, free = set(names), []
    for name in ("_summarized", "_totalKeys", "_estimatedTokens", "_truncatedKeys"):
        while name in taken:
            name += "_"
        free.append(quoted(name))
    return free


def _filled(draw: Callable[[int], Drawn], room: Room, marker: Marker, chars: int) -> Shaped:
    drawn = fill(draw, room, BYTES_PER_TOKEN if room.meter.unit == "tokens" else 1)
    return Shaped(drawn.text, drawn.how) if drawn else _alone(room, marker, chars, "chars")


def _alone(room: Room, marker: Marker, total: int, what: Missing) -> Shaped:
    """Where not even the envelope fits."""
    word = quoted(marker.short(total, total, what))
    return Shaped(_written({OMITTED_KEY: word}), "the marker alone")


def _written(fields: Mapping[str, bytes]) -> str:
    members = (b"%b:%b" % (quoted(name), text) for name, text in fields.items())
    return (b"{%b}" % b",".join(members)).decode()
