"""Look for a pattern in an original of any size: in parts, bounded in bytes, matches and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headgate.read.original import Original, after_line_end
from headgate.read.pattern import Pattern
from headgate.read.piece import code_point, last_place

MOST_BYTES = 128 * 1024 * 1024
"""What one call looks at; the next one goes on from there."""

MOST_HITS = 200

MOST_NS = 2_000_000_000
"""After two seconds nothing new is begun: a hostile pattern can make RE2 crawl."""

PART_BYTES = 1024 * 1024
LEAST_PART_BYTES = 32 * 1024
PART_STEPS = 1 << 28
"""What is searched at once: less with a large pattern, so that its worst case takes seconds."""

OVERLAP_BYTES = 64 * 1024
"""What two parts of one line share at most, so that a match across their border is found."""

CONTEXT_BYTES = 16
"""What is seen before a place inside a line, so that `^` and `\\b` know that it is inside."""

COLUMNS = 512
COLUMNS_BEFORE = 128
"""Characters shown of a line around its match, and of them those before it."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: a stretch of bytes, and the number of the line it begins in."""

    start: int
    stop: int
    line: int


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch that is searched at once; `text` is `data` as it is shown."""

    start: int
    data: bytes
    text: bytes
    line: int
    search_from: int
    """Before this is context."""
    search_to: int
    """A match that begins here or behind is found in the next part."""
    is_open: bool
    """Whether its last line goes on."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the search can go on: a position in the shown text of a stretch."""

    line: int
    start: int
    stop: int
    position: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A match with the text before it and from it on."""

    line: int
    before: str
    after: str
    opens_line: bool
    closes_line: bool
    near: int
    """The offset in the original, roughly."""
    place: Place
    """Where it is found again."""
    next_place: Place

    @property
    def is_whole_line(self) -> bool:
        """Whether nothing of its line is left out."""
        return self.opens_line and self.closes_line

    def shown(self, columns: int = COLUMNS) -> str:
        """As a reader sees it, with at most so many characters of its line."""
        before = self.before[max(len(self.before) - columns // 4, 0) :]
        after = self.after[: columns - len(before)]
        opening = "" if self.opens_line and before == self.before else "…"
        closing = "" if self.closes_line and after == self.after else "…"
        where = f"{self.line}" if not (opening or closing) else f"{self.line} (byte {self.near})"
        return f"{where}: {opening}{before}{after}{closing}"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, and where the search stopped; None: it saw everything."""

    hits: list[Hit]
    stopped_at: Place | None


def find_hits(
    pattern: Pattern, original: Original, scope: Scope, clock: Callable[[], int]
) -> Found:
    """Search a stretch; `clock` gives nanoseconds."""
    hits: list[Hit] = []
    latest = clock() + MOST_NS
    wanted = max(min(PART_STEPS // pattern.instructions, PART_BYTES), LEAST_PART_BYTES)
    for part in _parts(original, scope, wanted):
        if clock() > latest or part.start - scope.start >= MOST_BYTES:
            here = Place(part.line, part.start, part.start + len(part.data), part.search_from)
            return Found(hits, here)
        for hit in _hits_in(part, pattern):
            if len(hits) == MOST_HITS:
                return Found(hits, hit.place)
            hits.append(hit)
            if clock() > latest:
                return Found(hits, hit.next_place)
    return Found(hits, None)


def offset_of(place: Place, original: Original) -> int:
    """The offset in the original where a place is."""
    data = original.between(place.start, place.stop)
    text = original.shown(data, place.start)
    if text == data:
        return place.start + place.position
    line_start = text.rfind(b"\n", 0, place.position) + 1
    ends = original.ends(data, place.start)
    begin = after_line_end(ends, text.count(b"\n", 0, place.position))
    if line_start == place.position:
        return place.start + begin
    end = ends.find(b"\n", begin)
    line = data[begin : None if end < 0 else end]
    shown = original.shown(line, place.start + begin)
    least = len(shown) - (place.position - line_start)
    at = last_place(
        len(line),
        lambda at: len(original.shown(line[at:], place.start + begin + at)) >= least,
    )
    return place.start + begin + at


def _parts(original: Original, scope: Scope, wanted: int) -> Iterator[Part]:
    at, line = scope.start, scope.line
    while at < scope.stop:
        before = original.between(max(at - CONTEXT_BYTES, 0), at)
        ends = original.ends(before, at - len(before))
        begin = at - len(before) + ends.rfind(b"\n") + 1 if before else at
        data = original.between(begin, min(at + wanted, scope.stop))
        ends = original.ends(data, begin)
        is_open = begin + len(data) < scope.stop
        after = begin + len(data)
        if is_open and (end := ends.rfind(b"\n") + 1):
            data, after, is_open = data[:end], begin + end, False
        elif is_open:
            data = data[: code_point(data, len(data) - 1)]
            overlap = min(OVERLAP_BYTES, wanted // 4)
            after = begin + code_point(data, len(data) - overlap)
        text = original.shown(data, begin)
        search_from = len(original.shown(data[: at - begin], begin)) if at > begin else 0
        shared = len(original.shown(data[after - begin :], after)) if is_open else 0
        yield Part(begin, data, text, line, search_from, len(text) - shared, is_open)
        line += ends.count(b"\n", 0, len(data))
        at = after


def _hits_in(part: Part, pattern: Pattern) -> Iterator[Hit]:
    text, line, counted, at = part.text, part.line, 0, part.search_from
    while at < part.search_to:
        match = pattern.search(text, at, len(text))
        if match is None or match[0] >= part.search_to:
            return
        start = text.rfind(b"\n", 0, match[0]) + 1
        line += text.count(b"\n", counted, start)
        counted = start
        hit = _hit(part, line, at, match)
        yield hit
        at = hit.next_place.position


def _hit(part: Part, line: int, at: int, match: tuple[int, int]) -> Hit:
    """A match that was found from `at` on, with its line or what is around it in a long line."""
    text, (start, stop) = part.text, match
    line_start = text.rfind(b"\n", 0, start) + 1
    line_end = text.find(b"\n", start)
    line_end = len(text) if line_end < 0 else line_end
    before, after = _around(text, start, max(line_start, at), line_end)
    first, last = start - len(before.encode()), start + len(after.encode())
    # In a long line there may be more matches behind what is shown; in others one is enough.
    resume = max(last, stop, start + 1) if last < line_end else line_end + 1
    is_next = resume > line_end and line_end < len(text)
    stretch = part.start, part.start + len(part.data)
    return Hit(
        line,
        before,
        after,
        opens_line=first == line_start and (line_start > 0 or part.search_from == 0),
        closes_line=last == line_end and (line_end < len(text) or not part.is_open),
        near=part.start + first * len(part.data) // len(text),
        place=Place(line, *stretch, first),
        next_place=Place(line + is_next, *stretch, min(resume, len(text))),
    )


def _around(text: bytes, at: int, start: int, stop: int) -> tuple[str, str]:
    """What is shown before and after `at`: all of it, or so many columns."""
    if stop - start <= 4 * COLUMNS:
        before = text[start:at].decode(errors="ignore")
        after = text[at:stop].decode(errors="ignore")
        if len(before) + len(after) <= COLUMNS:
            return before, after
    before = text[max(start, at - 4 * COLUMNS_BEFORE) : at].decode(errors="ignore")
    after = text[at : min(stop, at + 4 * COLUMNS)].decode(errors="ignore")
    before = before[max(len(before) - COLUMNS_BEFORE, 0) :]
    return before, after[: COLUMNS - len(before)]
