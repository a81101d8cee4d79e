"""Shape JSON so that it stays JSON: whole without its whitespace, else a page or a preview.

An array becomes a page in an envelope, an object keeps its form with large values cut inside, a
string becomes a preview. The marker is the value of a key. What is shown of the original is shown
byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from headgate.budget import fair_shares
from headgate.marker import OMITTED_KEY, Ask, Marker, Missing
from headgate.measure.lengths import chars_in
from headgate.shape.alike import as_tables
from headgate.shape.asked import asked_values
from headgate.shape.fill import Drawn, fill
from headgate.shape.hints import Hints, hints_of
from headgate.shape.jsonpath import path_of
from headgate.shape.others import MOST_SHOWN, OTHERS_SHARE, Others, others_of
from headgate.shape.pages import Page, Span, shrunk, span_of
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.showing import Cut, Showing, Shown, Steps, free_key, larger, omitted_key
from headgate.shape.strings import quoted
from headgate.shape.values import (
    LARGE_PART,
    LEAST_ITEM_BYTES,
    MOST_TURNS,
    Lines,
    Value,
    pick_first,
    pick_items,
)
from headgate.slices import compact, depth_of
from headgate.types import Query

MOST_BYTES_PER_UNIT = 64
"""JSON with more bytes than this for each unit of room will not fit whole, whatever its spaces."""

BYTES_PER_TOKEN = 3
"""Of JSON, roughly, where the meter does not count tokens."""

MARKER_PART = 4
"""The long marker is used where it takes at most this part of the limit."""

NEXT_LINES = 200
"""How many lines the marker proposes to read next."""

ASKED_KEY = "_asked"
ASKED_SHARE = 0.6
"""The key that carries what the query asked for by path, and how much of the room it may take."""

OTHERS_KEY = "others"
"""The key that carries the names of items without room."""

CHECKED_BYTES = 4 << 20
"""What is larger and too deep to be read fast is shown as its beginning, whatever follows there."""

WHOLE = "the whole, without the whitespace between its tokens"

TABLES = "the whole, alike objects as tables with the keys once"
MOST_SAVED = 6
"""JSON that measures more than so many times its room does not fit as tables, either."""


def shape_json(
    source: Source, room: Room, query: Query, marker: Marker, *, page: Page | None = None
) -> Shaped | None:
    """Shape JSON or JSON lines; None if it is neither, and is to be shaped as text."""
    drawing = _Drawing(source, room, marker, hints_of(query))
    if source.kind == "jsonl" and b"\n" in source.data.strip():
        lines = Lines(source.data)
        if not lines.are_json:
            return None
        whole = _whole(source, room, lines.compacted)
        return whole or drawing.filled(lambda most: drawing.lines(lines, most))
    depth = depth_of(source.data, MOST_TURNS if len(source.data) <= CHECKED_BYTES else 0)
    if depth is None:
        return None
    if page is None and (whole := _whole(source, room, lambda: compact(source.data))):
        return whole
    if page is None and (tables := _tables(source, room, marker)):
        return tables
    value = Value(source.data, depth=depth)
    if page is None:
        drawing.ask(value)
    if value.is_bomb:
        return drawing.filled(lambda most: drawing.preview(value, most))
    return drawing.filled(
        lambda most: drawing.value(value, most, page), lambda most: drawing.preview(value, most)
    )


def _whole(source: Source, room: Room, compacted: Callable[[], bytes]) -> Shaped | None:
    """The whole without the whitespace between its tokens, if that is enough."""
    if len(source.data) > room.limit * MOST_BYTES_PER_UNIT:
        return None
    text = compacted().decode(errors="replace")
    return Shaped(text, WHOLE) if room.fits(text) else None


def _tables(source: Source, room: Room, marker: Marker) -> Shaped | None:
    """The whole with its alike objects as tables, if that is enough."""
    if source.size > room.limit * MOST_SAVED:
        return None
    text = as_tables(compact(source.data), marker)
    if text is None or not room.fits(text.decode(errors="replace")):
        return None
    return Shaped(text.decode(errors="replace"), TABLES)


class _Drawing:
    """Draws one source in a given number of bytes, with its marker and its envelope."""

    def __init__(self, source: Source, room: Room, marker: Marker, hints: Hints) -> None:
        self.source = source
        self.room = room
        self.marker = marker
        self.hints = hints
        self.asked: Sequence[tuple[Steps, Value]] = ()
        self.others: Others | None = None
        self.showing = Showing(marker)
        self.chars = chars_in(source.data)
        in_tokens = room.meter.unit == "tokens"
        self.density = BYTES_PER_TOKEN if in_tokens else 1
        self.tokens = source.size if in_tokens else len(source.data) // BYTES_PER_TOKEN
        self.applied = f"applied_max_{room.meter.unit}"

    def filled(self, *ways: Callable[[int], Drawn | None]) -> Shaped:
        """The fullest drawing of the first way that fits; if none does, the marker alone."""
        for draw in ways:
            drawn = fill(draw, self.room, self.density)
            if drawn is not None:
                return Shaped(drawn.text, drawn.how)
        what: Missing = "lines" if self.source.kind == "jsonl" else "chars"
        total = self.source.lines if what == "lines" else self.chars
        word = self.marker.short(total, total, what)
        return Shaped(_object({OMITTED_KEY: quoted(word)}).decode(), "the marker alone")

    def ask(self, value: Value) -> None:
        """Look up what the query names by path, to show it by itself, and what items are called."""
        self.asked = asked_values(value, self.hints)
        if self.asked:
            self.hints = replace(self.hints, paths=())
        self.others = others_of(value) if value.kind == "array" and not value.is_bomb else None

    def answers(self, most: int) -> bytes:
        """What was asked for, each value under its path; nothing if nothing was."""
        names = [quoted(path_of(steps)) for steps, _ in self.asked]
        wants = [len(value.raw) for _, value in self.asked]
        left = int(most * ASKED_SHARE) - sum(len(name) + 2 for name in names)
        shares = fair_shares(wants, max(left, 0))
        members = []
        for name, (steps, value), share in zip(names, self.asked, shares, strict=True):
            shown = self.showing.show(value, share, self.hints, steps)
            if shown is not None and share:
                members.append(b"%b:%b" % (name, shown.text))
        return b"{%b}" % b",".join(members) if members else b""

    def value(self, value: Value, most: int, page: Page | None) -> Drawn | None:
        """A value by what it is."""
        if value.kind == "array":
            return self.asked_page(value, most, page) if page else self.first_page(value, most)
        return self.object(value, most) if value.kind == "object" else self.preview(value, most)

    def first_page(self, value: Value, most: int) -> Drawn | None:
        """The first items of an array, and beside them others that are worth it."""
        total = len(value.items)
        match_bytes = len(b'{"index":%d,"item":},' % total)
        answers = self.answers(most)
        left = self._left_for_items(most, total) - len(answers) - len(ASKED_KEY) - 4

        def shown_in(room_bytes: int, whole_bytes: int = 0) -> dict[int, Shown]:
            extras = value.extras(self.hints)
            picked = pick_items(value.items, extras, room_bytes, match_bytes, whole_bytes)
            return dict(self.showing.items(value, picked, self.hints))

        shown = shown_in(left)
        rows: list[bytes] = []
        others = self.others if len(shown) < MOST_SHOWN * total else None
        if others:
            fewer = shown_in(int(left * (1 - OTHERS_SHARE)), left // LARGE_PART)
            spent = sum(len(one.text) + match_bytes for one in fewer.values())
            rows = others.rows((n for n in range(total) if n not in fewer), left - spent)
            shown = fewer if rows else shown
        stop = _end_of_run(shown, 0)
        if stop == total and _largest(shown.values()) is None:
            text = b"[%b]" % b",".join(shown[number].text for number in range(total))
            return Drawn(text.decode(), WHOLE, is_all=True)
        aside = {ASKED_KEY: answers, OTHERS_KEY: others.table(rows) if others and rows else b""}
        return self._page(span_of(total, Page(1, stop)), shown, aside) if stop else None

    def asked_page(self, value: Value, most: int, asked: Page) -> Drawn | None:
        """The page of an array that was asked for, or as much of it as fits."""
        span = span_of(len(value.items), asked)
        picked = _pick_page(value, span, self._left_for_items(most, span.total))
        shown = dict(self.showing.items(value, picked, self.hints))
        fitting = _end_of_run(shown, span.start) - span.start
        if not fitting and span.total:
            return None
        fits = fitting == span.stop - span.start
        page = span if fits else shrunk(span, fitting)
        drawn = self._page(page, {n: shown[n] for n in range(page.start, page.stop)}, {})
        return replace(drawn, is_all=fits and _largest(shown.values()) is None)

    def _left_for_items(self, most: int, total: int) -> int:
        widest = Span(total, max(total, 1), 0, total, 10 * total + 1)
        marker = self._widest(Ask("page", f"{total}"))
        return most - len(self._envelope(widest, marker, [], [], {}))

    def _page(self, span: Span, shown: Mapping[int, Shown], aside: Mapping[str, bytes]) -> Drawn:
        items = [shown[number].text for number in range(span.start, span.stop)]
        matches = [
            b'{"index":%d,"item":%b}' % (number, shown[number].text)
            for number in sorted(shown)
            if not span.start <= number < span.stop
        ]
        marker = b""
        cut = _largest(shown.values())
        missing = span.total - len(shown)
        if span.has_more:
            ask = Ask("page", str(span.number + 1), Ask("page_size", str(span.size)))
            marker = quoted(self._main(missing, span.total, "items", missing / span.total, ask))
        elif cut is not None:
            chars = sum(each.chars for each in shown.values())
            marker = self._chars_missing(chars, self.chars, cut)
        how = f"page {span.number} of {span.pages}, {len(items)} of {span.total} items"
        if matches:
            how += f", and {len(matches)} more that stand out"
        if aside.get(OTHERS_KEY):
            how += ", others by name"
        return Drawn(self._envelope(span, marker, items, matches, aside).decode(), how)

    def _envelope(
        self,
        span: Span,
        marker: bytes,
        items: Sequence[bytes],
        matches: Sequence[bytes],
        aside: Mapping[str, bytes],
    ) -> bytes:
        fields = {
            OMITTED_KEY: marker,
            "page": b"%d" % span.number,
            "page_size": b"%d" % span.size,
            "total_items": b"%d" % span.total,
            "total_pages": b"%d" % span.pages,
            "has_more": b"true" if span.has_more else b"false",
            self.applied: b"%d" % self.room.limit,
            ASKED_KEY: aside.get(ASKED_KEY, b""),
            "items": b"[%b]" % b",".join(items),
            "matches": b"[%b]" % b",".join(matches) if matches else b"",
            OTHERS_KEY: aside.get(OTHERS_KEY, b""),
        }
        return _object({name: text for name, text in fields.items() if text})

    def object(self, value: Value, most: int) -> Drawn | None:
        """An object with a marker as its first member."""
        key = omitted_key(value.names)
        total = len(value.members)
        answers = self.answers(most)
        own = {free_key(ASKED_KEY, value.names): answers} if answers else {}
        reserved = len(_object({key: self._widest(Ask("path", "$" + 40 * ".")), **own})) + 1
        shown = self.showing.members(value, most - reserved, self.hints, ())
        if not shown.texts and total:
            return None
        how = f"{len(shown.texts)} of {total} keys, large values in part"
        if shown.cut is None:
            text = b"{%b}" % b",".join(shown.texts)
            return Drawn(text.decode(), WHOLE, is_all=True)
        if shown.missing:
            share = 1 - shown.chars / max(self.chars, 1)
            ask = self._ask(shown.cut)
            marker = quoted(self._main(shown.missing, total, "keys", share, ask))
        else:
            marker = self._chars_missing(shown.chars, self.chars, shown.cut)
        text = b"{%b}" % b",".join([_object({key: marker, **own})[1:-1], *shown.texts])
        return Drawn(text.decode(), how)

    def preview(self, value: Value, most: int) -> Drawn | None:
        """The beginning of a value that has no parts, or too many levels of them."""
        is_string = value.kind == "string"
        total = value.string_chars if is_string else value.chars
        fields = {
            OMITTED_KEY: self._widest(Ask("bytes", f"{len(self.source.data)}-")),
            "total_chars": b"%d" % total,
            "estimated_tokens": b"%d" % self.tokens,
            self.applied: b"%d" % self.room.limit,
            "preview": b"",
        }
        left = most - len(_object(fields))
        if is_string:
            shown = self.showing.string(value, left, self.hints, ())
        else:
            shown = self.showing.as_text(value, left, ())
        if shown is None or shown.cut is None:
            return None
        fields[OMITTED_KEY] = self._chars_missing(shown.chars, total, shown.cut)
        fields["preview"] = shown.text
        return Drawn(_object(fields).decode(), f"{shown.chars} of {total} characters")

    def lines(self, lines: Lines, most: int) -> Drawn | None:
        """The first, the last and the notable lines, with a line of JSON at each gap."""
        total = len(lines.items)
        gap_bytes = len(self.showing.gap(total, total + 1, "lines")) + 1
        widest = len(_object({OMITTED_KEY: self._widest(Ask("lines", f"{total}-{total}"))})) + 1
        left = most - widest - gap_bytes
        picked = pick_items(lines.items, lines.extras(self.hints), left, gap_bytes + 1)
        shown = dict(self.showing.items(lines, picked, self.hints))
        texts: list[bytes] = []
        gaps: list[tuple[int, int]] = []
        after = 0
        for number in (*sorted(shown), total):
            if number > after:
                gaps.append((after + 1, number))
                texts.append(self.showing.gap(after + 1, number, "lines"))
            if number < total and shown[number].text:
                texts.append(shown[number].text)
            after = number + 1
        if not shown:
            return None
        return self._drawn_lines(texts, gaps, shown, total)

    def _drawn_lines(
        self,
        texts: list[bytes],
        gaps: Sequence[tuple[int, int]],
        shown: Mapping[int, Shown],
        total: int,
    ) -> Drawn:
        missing = total - len(shown)
        how = f"{len(shown)} of {total} lines"
        cut = _largest(shown.values())
        if gaps:
            first, last = gaps[0][0], min(gaps[0][1], gaps[0][0] + NEXT_LINES - 1)
            ask = Ask("lines", f"{first}-{last}")
            marker = quoted(self._main(missing, total, "lines", missing / total, ask))
        elif cut is not None:
            chars = sum(each.chars for each in shown.values())
            marker = self._chars_missing(chars, self.chars, cut)
        else:
            return Drawn(b"\n".join(texts).decode(), WHOLE, is_all=True)
        return Drawn(b"\n".join([_object({OMITTED_KEY: marker}), *texts]).decode(), how)

    def _chars_missing(self, shown: int, total: int, cut: Cut) -> bytes:
        missing = max(total - shown, 0)
        share = missing / max(total, 1)
        return quoted(self._main(missing, total, "chars", share, self._ask(cut)))

    def _main(self, missing: int, total: int, what: Missing, share: float, ask: Ask) -> str:
        """The marker of the whole; the long form where the limit has room for it."""
        long = self.marker.long(missing, total, what, int(self.tokens * share), ask)
        if self.room.size(long) * MARKER_PART <= self.room.limit:
            return long
        return self.marker.short(missing, total, what)

    def _widest(self, ask: Ask) -> bytes:
        """A marker no shorter than the one that will stand there."""
        return quoted(self._main(self.chars, self.chars, "chars", 1.0, ask))

    def _ask(self, cut: Cut) -> Ask:
        """What to ask for to see what the largest cut hides."""
        at = self.source.data.find(cut.text) if cut.text else -1
        if at >= 0:
            return Ask("bytes", f"{at + cut.kept_bytes}-{at + len(cut.text) - 1}")
        if cut.gap is None and not cut.steps:
            return Ask("bytes", f"0-{len(self.source.data) - 1}")
        if cut.gap is None:
            return Ask("path", path_of(cut.steps))
        return Ask("path", path_of((*cut.steps, slice(cut.gap[0], cut.gap[1] + 1))))


def _pick_page(value: Value, span: Span, room_bytes: int) -> dict[int, int]:
    """What each item of a page may take; the first page has as many as fit whole."""
    numbers = range(span.start, span.stop)
    if span.start == 0 or room_bytes < len(numbers) * LEAST_ITEM_BYTES:
        return pick_first(value.items, numbers, room_bytes)
    wants = [value.items.length(number) for number in numbers]
    shares = fair_shares(wants, room_bytes - len(numbers))
    return dict(zip(numbers, shares, strict=True))


def _end_of_run(shown: Mapping[int, Shown], start: int) -> int:
    """The first number from `start` on that is not shown."""
    while start in shown:
        start += 1
    return start


def _largest(shown: Iterable[Shown]) -> Cut | None:
    largest: Cut | None = None
    for each in shown:
        largest = larger(largest, each.cut)
    return largest


def _object(fields: Mapping[str, bytes]) -> bytes:
    return b"{%b}" % b",".join(b"%b:%b" % (quoted(name), text) for name, text in fields.items())
