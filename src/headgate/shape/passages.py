"""Text of many lines inside a JSON string, such as the output of a command: its ends and more.

Lines are kept as the string writes them; which ones matter is found in the text they stand for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from headgate.marker import Marker
from headgate.shape.sketch import sketch_of
from headgate.shape.strings import ESCAPED, chars_written, quoted
from headgate.types import Query

LEAST_LINES = 4
MOST_BYTES = 2 << 20
"""A string is read line by line if it has more lines than this, and is no longer than that."""

MIDDLE_SHARE = 0.4
"""What part of the room goes to lines that stand out between the ends."""

LONG_PART = 6
GAP_PART = 3
"""Where a line, or a word at a gap, takes more than this part of the room, a cut wastes less."""

ENDS = 12
"""How many lines at each end are looked at for that."""

NEAR = (1, -1, 2)
MOST_NEAR = 50
"""Where the lines stand that belong to one that stands out, and for how many they are added."""

LINE_END = b"\\n"


@dataclass(frozen=True, slots=True)
class Passage:
    """The inside of a string as lines: where each stands, and which are worth showing."""

    content: bytes
    spans: list[tuple[int, int]]
    notable: list[int]
    """The lines that stand out, the best first, counted from 0."""

    def length(self, line: int) -> int:
        """What a line takes with its line end."""
        start, stop = self.spans[line]
        return stop - start + len(LINE_END)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a passage with a word at each gap, as the inside of a string."""

    content: bytes
    chars: int
    """How many characters of the passage are in it."""
    head_bytes: int
    """How many bytes of the passage stand before its first gap."""


def passage_of(content: bytes, words: tuple[str, ...]) -> Passage | None:
    """The inside of a string as lines; None if it is not a text of lines."""
    if len(content) > MOST_BYTES or content.count(LINE_END, 0, 1 << 16) <= LEAST_LINES:
        return None
    spans = _spans(content)
    if len(spans) <= LEAST_LINES:
        return None
    text = json.loads(b'"%b"' % content).encode(errors="replace")
    found = sketch_of(text, 0, Query(words)).found.values()
    ranked = sorted(found, key=lambda line: (-line.score, line.number))
    notable = [line.number - 1 for line in ranked if line.number <= len(spans)]
    return Passage(content, spans, notable)


def _spans(content: bytes) -> list[tuple[int, int]]:
    """Where the lines stand; a line end at the end begins none."""
    stops = [*_line_ends(content), len(content)]
    starts = [0, *(stop + len(LINE_END) for stop in stops[:-1])]
    spans = list(zip(starts, stops, strict=True))
    return spans if starts[-1] < len(content) else spans[:-1]


def _line_ends(content: bytes) -> Iterator[int]:
    if b"\\\\" in content:
        # Of backslashes in a row every second one is a character, and an `n` after it is a letter.
        yield from (each.start() for each in ESCAPED.finditer(content) if each[0] == LINE_END)
        return
    at = -len(LINE_END)
    for line in content.split(LINE_END)[:-1]:
        at += len(line) + len(LINE_END)
        yield at


def excerpt(passage: Passage, room_bytes: int, marker: Marker) -> Excerpt | None:
    """The passage in at most `room_bytes`; None where whole lines would waste the room."""
    total = len(passage.spans)
    longest = max(
        map(passage.length, (*range(min(ENDS, total)), *range(max(total - ENDS, 0), total)))
    )
    gap_bytes = len(quoted(marker.gap(total, total + 1))) - 2 + len(LINE_END)
    if longest > room_bytes // LONG_PART or gap_bytes > room_bytes // GAP_PART:
        return None
    left = room_bytes - gap_bytes
    shown, spent = _pick_notable(passage, int(left * MIDDLE_SHARE), gap_bytes)
    _add_ends(passage, shown, left - spent)
    return _excerpt(passage, shown, marker)


def _pick_notable(passage: Passage, room_bytes: int, gap_bytes: int) -> tuple[set[int], int]:
    """The lines between the ends that have room, the best first, and what they take."""
    shown: set[int] = set()
    spent = 0
    near = [line + step for line in passage.notable[:MOST_NEAR] for step in NEAR]
    for line in (*passage.notable, *near):
        if line in shown or not 0 <= line < len(passage.spans):
            continue
        apart = line - 1 not in shown and line + 1 not in shown
        price = passage.length(line) + (gap_bytes if apart else 0)
        if spent + price <= room_bytes:
            shown.add(line)
            spent += price
    return shown, spent


def _add_ends(passage: Passage, shown: set[int], room_bytes: int) -> None:
    """Add lines from both ends in turn, as long as there is room."""
    first, last = 0, len(passage.spans) - 1
    head = tail = 0
    while first <= last:
        at_head = head <= tail
        line = first if at_head else last
        first, last = (first + 1, last) if at_head else (first, last - 1)
        price = 0 if line in shown else passage.length(line)
        if price > room_bytes:
            return
        shown.add(line)
        room_bytes -= price
        head, tail = (head + price, tail) if at_head else (head, tail + price)


def _excerpt(passage: Passage, shown: set[int], marker: Marker) -> Excerpt:
    parts: list[bytes] = []
    chars, after, head_bytes = 0, 0, 0
    for line in (*sorted(shown), len(passage.spans)):
        if line > after:
            head_bytes = head_bytes or passage.spans[after][0]
            parts.append(quoted(marker.gap(after + 1, line))[1:-1])
        if line < len(passage.spans):
            start, stop = passage.spans[line]
            parts.append(passage.content[start:stop])
            chars += chars_written(parts[-1]) + 1
        after = line + 1
    return Excerpt(LINE_END.join(parts), chars, head_bytes)
