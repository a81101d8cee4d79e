"""Show one JSON value in so many bytes: whole where it fits, else cut inside, and still JSON.

Room is handed down the tree: small values are met in full and large ones share the rest, so that a
reader sees the form of the whole before the content of one part. Sizes are bytes here: they add
up, which tokens do not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from headgate.budget import fair_shares
from headgate.marker import OMITTED_KEY, Marker, Missing
from headgate.measure.lengths import chars_in
from headgate.shape.hints import Hints
from headgate.shape.passages import excerpt
from headgate.shape.strings import chars_written, head_of, quoted
from headgate.shape.values import STUB_BYTES, Lines, Value, is_opaque, is_prose, pick_items
from headgate.shape.worth import Pointed
from headgate.slices import NotJson

DEEPEST = 24
"""Levels that are taken apart; what lies deeper and does not fit is shown as text."""

LEAST_CUT_BYTES = 16
"""A cut string that shows less than this of itself says nothing."""

POINTED_SHARE = 0.7
"""What part of an object's room the members that the query points at may take from the others."""

LEAST_FAVOURED_BYTES = 200
"""Less of such a member says little."""

PROSE = 3
"""For how many others a member counts that is written in sentences: it says most of what others
only refer to."""

BETWEEN = " … ".encode()

Steps: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """The largest piece that was left out, and where it is."""

    chars: int
    steps: Steps
    gap: tuple[int, int] | None = None
    """The first and the last missing item of the list at `steps`."""
    text: bytes = b""
    """What was cut at `steps` as text, as written."""
    kept_bytes: int = 0
    """How much of that text's start is shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as JSON text, how many characters of the original are in it, and the largest cut."""

    text: bytes
    chars: int
    cut: Cut | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an object as JSON text, and how many are not among them."""

    texts: list[bytes]
    chars: int
    cut: Cut | None
    missing: int


class Showing:
    """Shows values of one result, with markers of that result."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker

    def show(self, value: Value, room: int, hints: Hints, steps: Steps) -> Shown | None:
        """The value in at most `room` bytes; None if not even a word on it fits."""
        if len(value.raw) <= room:
            return Shown(value.raw, value.chars)
        if value.is_text or value.is_bomb:
            return self.as_text(value, room, steps)
        try:
            if value.kind == "string":
                return self.string(value, room, hints, steps)
            if value.kind == "array" and len(steps) < DEEPEST:
                return self._array(value, room, hints, steps) or self._stub(value, room, steps)
            if value.kind == "object" and len(steps) < DEEPEST:
                return self._object(value, room, hints, steps) or self._stub(value, room, steps)
        except NotJson:
            pass
        return self.as_text(value, room, steps)

    def gap(self, first: int, last: int, what: Missing = "items") -> bytes:
        """An object that stands where items are missing."""
        return b'{"%b":%b}' % (OMITTED_KEY.encode(), quoted(self.marker.gap(first, last, what)))

    def as_text(self, value: Value, room: int, steps: Steps) -> Shown | None:
        """The beginning of the value's JSON text, as a string."""
        start = quoted(value.raw[:room].decode(errors="ignore"))[1:-1]
        cut = self._cut_string(start, room, value.chars)
        if cut is None:
            return None
        text, kept, _ = cut
        kept_bytes = len(value.raw[:room].decode(errors="ignore")[:kept].encode())
        missing = Cut(value.chars - kept, steps, text=value.raw, kept_bytes=kept_bytes)
        return Shown(text, kept, missing)

    def string(self, value: Value, room: int, hints: Hints, steps: Steps) -> Shown | None:
        """A string without its end; without lines between if it is a text of many lines."""
        passage = value.passage(hints)
        excerpted = passage and excerpt(passage, room - 2, self.marker)
        if excerpted:
            missing = value.string_chars - excerpted.chars
            kept = 1 + excerpted.head_bytes
            cut = Cut(missing, steps, text=value.raw, kept_bytes=kept)
            return Shown(b'"%b"' % excerpted.content, excerpted.chars, cut)
        cut_short = self._cut_string(value.raw[1:-1], room, value.string_chars)
        if cut_short is None:
            return None
        text, kept, kept_bytes = cut_short
        missing = value.string_chars - kept
        return Shown(text, kept, Cut(missing, steps, text=value.raw, kept_bytes=1 + kept_bytes))

    def _cut_string(self, content: bytes, room: int, total: int) -> tuple[bytes, int, int] | None:
        """A string cut inside, how many of its characters are left, and in how many bytes."""
        widest = quoted(self.marker.inside(total))[1:-1]
        free = room - len(widest) - 2
        if free < 0:
            return None
        if free < LEAST_CUT_BYTES:
            return b'"%b"' % widest, 0, 0
        head = head_of(content, free - len(BETWEEN))
        kept = chars_written(head)
        word = quoted(self.marker.inside(total - kept))[1:-1]
        return b'"%b%b%b"' % (head, BETWEEN, word), kept, len(head)

    def _stub(self, value: Value, room: int, steps: Steps) -> Shown | None:
        """A word on a value of which nothing is shown."""
        if value.kind == "array":
            word = self.marker.inside(len(value.items), "items")
        else:
            word = self.marker.inside(len(value.members), "keys")
        text = quoted(word)
        return Shown(text, 0, Cut(value.chars, steps)) if len(text) <= room else None

    def items(
        self, listed: Value | Lines, picked: Mapping[int, int], hints: Hints, steps: Steps = ()
    ) -> Iterator[tuple[int, Shown]]:
        """The picked items that can be shown, by number, each in what it may take."""
        for number in sorted(picked):
            if isinstance(listed, Value) and listed.is_compact:
                raw = listed.items[number]
                if len(raw) <= picked[number]:
                    yield number, Shown(raw, chars_in(raw))
                    continue
            inner = hints.into(str(number))
            shown = self.show(listed.item(number), picked[number], inner, (*steps, number))
            if shown is not None:
                yield number, shown

    def _array(self, value: Value, room: int, hints: Hints, steps: Steps) -> Shown | None:
        """The items that are worth it, and a word at each gap."""
        total = len(value.items)
        gap_bytes = len(self.gap(total, total + 1)) + 1
        texts: list[bytes] = []
        chars, cut, after = 0, None, 0
        picked = pick_items(value.items, value.extras(hints), room - gap_bytes - 2, gap_bytes + 1)
        for number, shown in self.items(value, picked, hints, steps):
            if number > after:
                texts.append(self.gap(after, number - 1))
                cut = larger(cut, _gap_cut(value, (after, number - 1), steps))
            texts.append(shown.text)
            chars += shown.chars
            cut = larger(cut, shown.cut)
            after = number + 1
        if after < total:
            texts.append(self.gap(after, total - 1))
            cut = larger(cut, _gap_cut(value, (after, total - 1), steps))
        text = b"[%b]" % b",".join(texts)
        return Shown(text, chars, cut) if chars and len(text) <= room else None

    def _object(self, value: Value, room: int, hints: Hints, steps: Steps) -> Shown | None:
        """Each member that has room for a word on it, and how many have none."""
        key = quoted(omitted_key(value.names))
        widest = len(key) + 2 + len(quoted(self.marker.inside(len(value.members), "keys")))
        shown = self.members(value, room - 2, hints, steps, note_bytes=widest)
        texts = shown.texts
        if shown.missing:
            texts = [b"%b:%b" % (key, quoted(self.marker.inside(shown.missing, "keys"))), *texts]
        text = b"{%b}" % b",".join(texts)
        return Shown(text, shown.chars, shown.cut) if shown.texts and len(text) <= room else None

    def members(
        self, value: Value, room: int, hints: Hints, steps: Steps, *, note_bytes: int = 0
    ) -> Members:
        """The members of an object in at most `room` bytes, a comma after each counted.

        Where some have no room, `note_bytes` are left for a word on them.
        """
        texts: dict[int, bytes] = {}
        shares = _share_members(value, room, hints)
        if note_bytes and len(shares) < len(value.members):
            room -= note_bytes
            shares = _share_members(value, room, hints)
        chars, spare = 0, room - sum(shares.values())
        cut: Cut | None = None
        # The largest comes last: what the others leave over is of most use to it.
        for place in sorted(shares, key=lambda place: _appetite(value.members[place][1])):
            key, raw = value.members[place]
            most = shares[place] + spare - len(key) - 2
            if value.is_compact and len(raw) <= most:
                shown: Shown | None = Shown(bytes(raw), chars_in(bytes(raw)))
            else:
                name = value.names[place]
                shown = self.show(value.member(place), most, hints.into(name), (*steps, name))
            if shown is None:
                spare += shares[place]
                continue
            texts[place] = b"%b:%b" % (key, shown.text)
            spare = most - len(shown.text)
            chars += shown.chars + chars_in(key)
            cut = larger(cut, shown.cut)
        if len(texts) < len(value.members):
            place = next(place for place in range(len(value.members)) if place not in texts)
            cut = larger(cut, Cut(len(value.members[place][1]), (*steps, value.names[place])))
        ordered = [texts[place] for place in sorted(texts)]
        return Members(ordered, chars, cut, len(value.members) - len(texts))


def omitted_key(names: Collection[str]) -> str:
    """The key that carries the marker, under a name that the data does not use."""
    return free_key(OMITTED_KEY, names)


def free_key(key: str, names: Collection[str]) -> str:
    """A key of ours, under a name that the data does not use."""
    while key in names:
        key += "_"
    return key


def larger(one: Cut | None, other: Cut | None) -> Cut | None:
    """The one that hides more; of equals the first."""
    if one is None or other is None:
        return one or other
    return other if other.chars > one.chars else one


def _gap_cut(value: Value, gap: tuple[int, int], steps: Steps) -> Cut:
    share = (gap[1] - gap[0] + 1) / len(value.items)
    return Cut(int(value.chars * share), steps, gap=gap)


def _appetite(raw: bytes) -> tuple[bool, int]:
    """Large values after small ones, opaque ones after all."""
    return is_opaque(raw), len(raw)


def _share_members(value: Value, room: int, hints: Hints) -> dict[int, int]:
    """Which members to show and the most each may take, key, colon and comma included.

    Those that the query points at come first, up to their part. Of the others each gets what a word
    on it takes, and those that want more share what is left.
    """
    pointed = value.pointed(hints)
    least_left = room - int(room * POINTED_SHARE)
    shares = _favoured(value, pointed, room - _wanted(value, _others(value, pointed), least_left))
    left = room - sum(shares.values())
    without = (place for place in pointed if place not in shares)
    places = _with_room(value, chain(_others(value, pointed), without), left)
    left -= sum(map(value.least, places))
    more = _shared(value, places, left)
    return shares | {p: value.least(p) + extra for p, extra in zip(places, more, strict=True)}


def _others(value: Value, pointed: Pointed) -> Iterator[int]:
    return (place for place in range(len(value.members)) if place not in pointed)


def _wanted(value: Value, places: Iterable[int], most: int) -> int:
    """What these members want together, or `most` if it is more."""
    wanted = 0
    for place in places:
        wanted += value.least(place) + value.more(place)
        if wanted >= most:
            return most
    return wanted


def _favoured(value: Value, places: Iterable[int], room: int) -> dict[int, int]:
    """Give each of these members what it wants, but no more than half of what is left.

    What is left over in the end goes to those that got less, the first of them first.
    """
    shares: dict[int, int] = {}
    for place in places:
        share = min(value.least(place) + value.more(place), max(room // 2, LEAST_FAVOURED_BYTES))
        if max(share, value.least(place)) > room:
            break
        shares[place] = max(share, value.least(place))
        room -= shares[place]
    for place, share in shares.items():
        more = min(value.least(place) + value.more(place) - share, room)
        shares[place] += more
        room -= more
    return shares


def _shared(value: Value, places: Sequence[int], room: int) -> list[int]:
    """What each of these members gets beyond its least; one in sentences counts for several."""
    parts = [PROSE if is_prose(value.members[place][1]) else 1 for place in places]
    wants = [
        want
        for place, count in zip(places, parts, strict=True)
        for want in _parted(value.more(place), count)
    ]
    shares = iter(fair_shares(wants, room))
    return [sum(next(shares) for _ in range(count)) for count in parts]


def _parted(want: int, count: int) -> list[int]:
    each, rest = divmod(want, count)
    return [each + (i < rest) for i in range(count)]


def _with_room(value: Value, places: Iterable[int], room: int) -> list[int]:
    """Those of the members for which there is room for a word on each, the first before others."""
    found: list[int] = []
    for place in places:
        least = value.least(place)
        if least <= room:
            found.append(place)
            room -= least
        elif room < STUB_BYTES:
            break
    return found
