"""JSON values that are taken apart as they are looked at, and what of their parts to show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

from headgate.budget import fair_shares
from headgate.measure.lengths import chars_in
from headgate.shape.hints import Hints, pointed_items, pointed_keys
from headgate.shape.items import Items, items_of, lines_of
from headgate.shape.odd import odd_items
from headgate.shape.passages import Passage, passage_of
from headgate.shape.strings import chars_written
from headgate.shape.worth import Pointed
from headgate.slices import (
    Depth,
    JsonKind,
    compact,
    depth_of,
    is_json,
    kind_of,
    members,
    names_of,
)

COMPACTED_BYTES = 256 * 1024
"""A larger value keeps its whitespace until it is taken apart: most of it is never shown."""

SEARCHED_BYTES = 1 << 20
"""Of an object larger than this only the keys are compared with the query, not the values."""

SHOWN_ITEMS = 10
"""Of a list of at most this many items each one is shown, large ones in part."""

LARGE_PART = 4
"""In a longer list an item is cut that takes more than this part of the room."""

LEAST_ITEM_BYTES = 300
"""An item is not cut to less than this as long as others can be left out instead."""

TAIL_PART = 16
"""Room left at the end of a list is used for a part of the next item if it is more than this."""

POINTED_SHARE = 0.6
ODD_SHARE = 0.25
"""What part of a list's room goes to items far from its beginning."""

MOST_ODD = 10
"""A few examples tell a reader that there are odd ones, and which."""

EXTRAS = 3
"""How many of them there is room for at least, if there are as many."""

LEAST_EXTRA_BYTES = 60

SMALL_PART = 3
"""Where room is scarce, one of them may take this part of it, so that it is shown whole."""

STUB_BYTES = 40
"""What the shortest word on a value takes at most: `"[1,234,567 items omitted #k7q2]"`."""

SHORT_BYTES = 96
"""A value this short is shown whole or not at all: a word on it would take half as much."""

ODD_LINES_SHARE = 0.5
LAST_SHARE = 0.25
LAST_LINES = 200
"""Lines are written one after the other, and the last ones say how it ended."""

FIRST_LINES = 20

OPAQUE_BYTES = 160
"""Of a long string without a space, such as base64, more is shown only where room is left over."""

LONGEST_WORD_BYTES = 12
"""Where words are longer on average, a string is not written in sentences."""

DEEP_BYTES = 32 * 1024
DEEP_PART_BYTES = 2 * 1024
"""What is too deep to be read fast is taken apart only up to this size, and its parts up to that;
beyond it is text. Each level taken apart is one more pass over all that lies below it."""

MOST_TURNS = 2_000
"""What is too deep to be read fast and goes down and up more often than this is not even checked
to be JSON: that would take long, and nobody wrote it to be read."""

Extras: TypeAlias = tuple[tuple[float, list[int]], ...]
"""Numbers of items, the best first, each group with its share of the room."""


class Value:
    """A JSON value, taken apart when it is asked for its parts, and only once."""

    def __init__(
        self,
        raw: bytes,
        *,
        is_compact: bool = False,
        is_text: bool = False,
        is_part: bool = False,
        depth: Depth | None = "plain",
    ) -> None:
        self.is_compact = is_compact or len(raw) <= COMPACTED_BYTES
        self.is_text = is_text
        """It is no JSON at all, and has no parts."""
        self.is_part = is_part
        self.depth = depth
        self.raw = compact(raw) if self.is_compact and not is_compact else raw.strip()
        self._parts: dict[int, Value] = {}
        self._extras: Extras | None = None
        self._pointed: Pointed | None = None
        self._passages: tuple[Passage | None, ...] = ()

    @cached_property
    def kind(self) -> JsonKind:
        """What it is."""
        return kind_of(self.raw)

    @cached_property
    def is_bomb(self) -> bool:
        """Whether it is so deep, and so large, that taking it apart level by level takes long."""
        if len(self.raw) <= (DEEP_PART_BYTES if self.is_part else DEEP_BYTES):
            return False
        return (self.depth or depth_of(self.raw, turns=0)) != "plain"

    @cached_property
    def chars(self) -> int:
        """How many characters it is written in."""
        return chars_in(self.raw)

    @cached_property
    def string_chars(self) -> int:
        """How many characters the string stands for."""
        return chars_written(self.raw[1:-1])

    @cached_property
    def items(self) -> Items:
        """Its items."""
        return items_of(self.raw)

    @cached_property
    def members(self) -> Sequence[tuple[bytes, bytes]]:
        """Its members, keys as written."""
        return members(self.raw)

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of its members."""
        return names_of([key for key, _ in self.members])

    def least(self, place: int) -> int:
        """What a member takes at least, with its key, a colon and a comma."""
        key, raw = self.members[place]
        return len(key) + 2 + _least(raw)

    def more(self, place: int) -> int:
        """What a member wants beyond that; one of an opaque string is soon content."""
        raw = self.members[place][1]
        return max((OPAQUE_BYTES if is_opaque(raw) else len(raw)) - _least(raw), 0)

    def item(self, number: int) -> Value:
        """One of its items."""
        if number not in self._parts:
            self._parts[number] = self._part(self.items[number])
        return self._parts[number]

    def member(self, place: int) -> Value:
        """The value of one of its members."""
        if place not in self._parts:
            self._parts[place] = self._part(bytes(self.members[place][1]))
        return self._parts[place]

    def _part(self, raw: bytes) -> Value:
        depth: Depth | None = "plain" if self.depth == "plain" else None
        return Value(raw, is_compact=self.is_compact, is_part=True, depth=depth)

    def extras(self, hints: Hints) -> Extras:
        """Its items that are worth showing wherever they stand."""
        if self._extras is None:
            self._extras = extras_of(self.items, hints)
        return self._extras

    def passage(self, hints: Hints) -> Passage | None:
        """The string as lines, if it is a text of many."""
        if not self._passages:
            words = tuple(word.decode() for word in hints.words)
            self._passages = (passage_of(self.raw[1:-1], words),)
        return self._passages[0]

    def pointed(self, hints: Hints) -> Pointed:
        """The places of the members that the query points at, the best first."""
        if self._pointed is None:
            searched = len(self.raw) <= SEARCHED_BYTES and bool(hints.words)
            values = [bytes(raw).lower() for _, raw in self.members] if searched else []
            self._pointed = pointed_keys(self.names, values, hints)
        return self._pointed


class Lines:
    """JSON lines, seen as a list of values; one that is no JSON is left as it is."""

    def __init__(self, data: bytes) -> None:
        self.items = lines_of(data)
        self._parts: dict[int, Value] = {}
        self._extras: Extras | None = None

    @property
    def are_json(self) -> bool:
        """Whether the first lines, or most of them, are JSON."""
        first = [self.items[number] for number in range(min(len(self.items), FIRST_LINES))]
        filled = [line for line in first if line.strip()]
        return 2 * sum(map(is_json, filled)) > len(filled)

    def compacted(self) -> bytes:
        """All lines without the whitespace between tokens, blank ones left out."""
        lines = (self.item(number).raw for number in range(len(self.items)))
        return b"\n".join(line for line in lines if line)

    def item(self, number: int) -> Value:
        """One of the lines."""
        if number not in self._parts:
            line = self.items[number]
            depth = depth_of(line, MOST_TURNS)
            is_text = depth is None
            self._parts[number] = Value(line, is_compact=is_text, is_text=is_text, depth=depth)
        return self._parts[number]

    def extras(self, hints: Hints) -> Extras:
        """Lines that are worth showing wherever they stand, and the last ones."""
        if self._extras is None:
            last = range(len(self.items) - 1, max(len(self.items) - LAST_LINES, 0), -1)
            pointed, (share, odd) = extras_of(self.items, hints, ODD_LINES_SHARE)
            # What stands beside a line often says why: a program writes one line after the other.
            beside = (number + by for number in odd for by in (-1, 1))
            near = [*odd, *(number for number in beside if 0 <= number < len(self.items))]
            self._extras = (pointed, (share, near), (LAST_SHARE, list(last)))
        return self._extras


def extras_of(items: Items, hints: Hints, odd_share: float = ODD_SHARE) -> Extras:
    """The items that a query points at and those that stand out, the best first."""
    odd = odd_items(items)
    return (
        (POINTED_SHARE, list(pointed_items(items, hints))),
        (odd_share, sorted(odd, key=lambda number: (-odd[number], number))[:MOST_ODD]),
    )


def pick_items(
    items: Items, extras: Extras, room_bytes: int, aside_bytes: int, whole_bytes: int = 0
) -> dict[int, int]:
    """Which items of a list to show, and the most each may take.

    Those at the beginning, and those worth showing wherever they stand; each of the latter costs
    `aside_bytes` more, to say where it stands. Up to `whole_bytes` none is cut at the beginning.
    """
    picked: dict[int, int] = {}
    left = room_bytes
    for share, numbers in extras:
        one = min(LEAST_ITEM_BYTES, left // SMALL_PART)
        budget = max(int(left * share), one + aside_bytes)
        most = max(budget // max(min(len(numbers), EXTRAS), 1) - aside_bytes, one)
        for number in numbers if most >= LEAST_EXTRA_BYTES else ():
            cost = min(items.length(number), most) + aside_bytes
            if number in picked:
                continue
            if cost > budget:
                break
            picked[number] = cost - aside_bytes
            budget -= cost
            left -= cost
    others = (number for number in range(len(items)) if number not in picked)
    return picked | pick_first(items, others, left, whole_bytes)


def pick_first(
    items: Items, numbers: Iterable[int], room_bytes: int, whole_bytes: int = 0
) -> dict[int, int]:
    """The first of these items: whole, or large ones in part; at the end a part of one more."""
    parts = len(items) if len(items) <= SHOWN_ITEMS else LARGE_PART
    most = max(LEAST_ITEM_BYTES, whole_bytes, room_bytes // max(parts, 1) - 1)
    shares: dict[int, int] = {}
    large: dict[int, int] = {}
    left = room_bytes
    for number in numbers:
        length = items.length(number)
        share = min(length, most)
        if share + 1 > left:
            share = left - 1 if left > max(room_bytes // TAIL_PART, LEAST_EXTRA_BYTES) else 0
        if share <= 0:
            break
        shares[number] = share
        left -= share + 1
        if share < length:
            large[number] = length
    lent = sum(shares[number] for number in large)
    more = fair_shares(list(large.values()), lent + max(left, 0))
    return shares | dict(zip(large, more, strict=True))


def _least(raw: bytes) -> int:
    """What a value takes at least: all of a short one, of others a word on it."""
    return len(raw) if len(raw) <= SHORT_BYTES else STUB_BYTES


def is_opaque(raw: bytes) -> bool:
    """Whether it is a long string without a space: base64, a key, minified code."""
    start = _start_of_long_string(raw)
    return bool(start) and b" " not in start and b"\\n" not in start


def is_prose(raw: bytes) -> bool:
    """Whether it is a long string of words."""
    start = _start_of_long_string(raw)
    return start.count(b" ") * LONGEST_WORD_BYTES > len(start)


def _start_of_long_string(raw: bytes) -> bytes:
    """What is looked at to tell what a string is; nothing of a short one, or of another value."""
    start = bytes(memoryview(raw)[: 2 * OPAQUE_BYTES])
    return start if len(raw) > 2 * OPAQUE_BYTES and start.startswith(b'"') else b""
