"""By search: matching lines with their numbers, a little around them where it fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.marker import Ask, Marker
from headgate.read.footer import closed, fitted
from headgate.read.hits import COLUMNS, Found, Hit, Place, Scope, find_hits, offset_of
from headgate.read.original import Original
from headgate.read.pattern import Pattern, pattern_of
from headgate.read.request import Request
from headgate.read.window import bytes_asked, lines_asked
from headgate.shape.shaper import Room

CONTEXT_LINES = (2, 1)
"""Lines shown before and after a match: as many as fit for all matches alike."""

CONTEXT_HITS = 50
"""With more matches than this a reader wants the matches."""

CONTEXT_BYTES = 4_096
CONTEXT_COLUMNS = 160

LEAST_COLUMNS = 16


def by_search(
    request: Request, original: Original, room: Room, marker: Marker, clock: Callable[[], int]
) -> str:
    """Show what matches a pattern, in the lines or bytes asked for."""
    pattern = pattern_of(request.search or "")
    # Colours would hide words from a pattern, and a carriage return would hide the end of a line.
    seen = replace(original, exact=False)
    scope = _scope(request, seen)
    found = find_hits(pattern, seen, scope, clock)

    def make(limit: int) -> str:
        texts = _fitting(found.hits, limit, room)
        go_on = _go_on(found, len(texts), scope, seen)
        words = _in_words(len(texts), go_on, scope, seen, pattern)
        body = _body(found.hits, texts, limit, seen, room)
        ask = _ask(pattern, go_on, scope, seen) if go_on else marker.end
        return closed(body, words, ask, room, marker)

    return fitted(make, room, _longest_end(pattern, seen, room, marker))


def _scope(request: Request, original: Original) -> Scope:
    if request.bytes is not None:
        start, stop = bytes_asked(request.bytes, original)
    elif request.lines is not None:
        first, last = lines_asked(request.lines, original)
        start, stop = original.start_of(first), original.start_of(last + 1)
    else:
        start, stop = 0, original.length
    return Scope(start, stop, original.line_at(start))


@dataclass(frozen=True, slots=True)
class GoOn:
    """From where a search goes on: a line, or an offset inside of it."""

    line: int
    offset: int
    opens_line: bool


def _go_on(found: Found, shown: int, scope: Scope, original: Original) -> GoOn | None:
    """Where the first thing is that was not shown or not looked at."""
    place = found.hits[shown].place if shown < len(found.hits) else found.stopped_at
    if place is not None:
        go_on = _resolved(place, original)
        if go_on.offset < scope.stop:
            return go_on
    if scope.stop >= original.length:
        return None
    opens = original.ends_line(scope.stop)
    return GoOn(original.line_at(scope.stop), scope.stop, opens)


def _resolved(place: Place, original: Original) -> GoOn:
    offset = offset_of(place, original)
    opens = offset == 0 or original.ends_line(offset)
    return GoOn(place.line, offset, opens)


def _ask(pattern: Pattern, go_on: GoOn, scope: Scope, original: Original) -> Ask:
    is_bounded = go_on.offset < scope.stop < original.length
    if go_on.opens_line:
        last = original.line_at(scope.stop - 1) if is_bounded else ""
        return Ask("search", pattern.text, Ask("lines", f"{go_on.line}-{last}"))
    last = scope.stop - 1 if is_bounded else ""
    return Ask("search", pattern.text, Ask("bytes", f"{go_on.offset}-{last}"))


def _in_words(
    shown: int, go_on: GoOn | None, scope: Scope, original: Original, pattern: Pattern
) -> str:
    if go_on is not None and not go_on.opens_line:
        where = f"bytes {scope.start:,}-{go_on.offset - 1:,} of {original.length:,}"
    else:
        last = original.line_at(go_on.offset - 1 if go_on else scope.stop - 1)
        lines = f"lines {scope.line:,}-{last:,}" if last > scope.line else f"line {scope.line:,}"
        where = f"{lines} of {original.lines:,}"
    case = "case ignored" if pattern.ignores_case else "case as written"
    places = "1 place" if shown == 1 else f"{shown:,} places" if shown else "nothing"
    return f"{places} found in {where}, {case}"


def _fitting(hits: Sequence[Hit], limit: int, room: Room) -> list[str]:
    """As many hits as fit; of the first at least the match."""
    texts: list[str] = []
    for hit in hits:
        text = hit.shown()
        limit -= room.size(f"{text}\n")
        if limit < 0:
            break
        texts.append(text)
    if hits and not texts:
        texts = [_first(hits[0], limit + room.size(f"{hits[0].shown()}\n"), room)]
    return texts


def _first(hit: Hit, limit: int, room: Room) -> str:
    columns = COLUMNS
    while columns > LEAST_COLUMNS and room.size(hit.shown(columns)) >= limit:
        columns //= 2
    return hit.shown(columns)


def _body(
    hits: Sequence[Hit], texts: Sequence[str], limit: int, original: Original, room: Room
) -> str:
    """The hits, with lines around them if all were found and it fits."""
    body = "\n".join(texts)
    if len(texts) < len(hits) or len(hits) > CONTEXT_HITS:
        return body
    whole = [hit.line for hit in hits if hit.is_whole_line]
    for count in CONTEXT_LINES:
        wider = _merged(hits, texts, _lines_around(whole, count, original))
        if room.size(wider) < limit:
            return wider
    return body


def _merged(hits: Sequence[Hit], texts: Sequence[str], around: Mapping[int, str]) -> str:
    rows = [(hit.line, text) for hit, text in zip(hits, texts, strict=True)]
    taken = {hit.line for hit in hits}
    rows += [(line, f"{line}- {text}") for line, text in around.items() if line not in taken]
    return "\n".join(text for _, text in sorted(rows, key=lambda row: row[0]))


def _lines_around(lines: Sequence[int], count: int, original: Original) -> dict[int, str]:
    """The lines before and after these, by number."""
    near = {line + away for line in lines for away in range(-count, count + 1)}
    return {line: _line(line, original) for line in near if 1 <= line <= original.lines}


def _line(number: int, original: Original) -> str:
    start = original.start_of(number)
    data = original.between(start, start + CONTEXT_BYTES)
    end = original.ends(data, start).find(b"\n") + 1
    text = original.shown(data[:end] if end else data, start).decode().removesuffix("\n")
    return text if len(text) <= CONTEXT_COLUMNS else f"{text[:CONTEXT_COLUMNS]}…"


def _longest_end(pattern: Pattern, original: Original, room: Room, marker: Marker) -> str:
    scope = Scope(original.length, original.length, original.lines)
    go_on = GoOn(original.lines, original.length, opens_line=False)
    words = _in_words(200, go_on, scope, original, pattern)
    ask = Ask("search", pattern.text, Ask("bytes", f"{original.length}-{original.length}"))
    return closed("", words, ask, room, marker)
