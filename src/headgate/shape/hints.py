"""What the query points at inside JSON: by words, and by paths such as `items[3].name`."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from headgate.shape.extremes import asked_extremes
from headgate.shape.items import Items
from headgate.shape.worth import SHORT_WORD, Pointed, Reason, best_first
from headgate.types import Query

MOST_WORDS = 32
"""More words than this are a story, not a query; the first ones say what it is about."""

LEAST_WORD_CHARS = 2

SCANNED_BYTES = 16 << 20
"""How much of a long list is searched for words."""

HITS_PER_BLOCK = 500
"""A word that stands in everything points at nothing."""

COMMON_SHARE = 0.2
SEEN_ITEMS = 100
"""A word in more than this share of the items, and in so many, does not tell them apart."""

NAMED_SCORE = 100.0
NUMBER_SCORE = 3.0
"""What a path names comes before all that a word may mean; a number may mean an item's."""

LONGEST_WORD_CHARS = 200

PATH = re.compile(r"\$?\.?[\w-]*(?:\[-?\d+\]|\[?['\"][^'\"]+['\"]\]|\.[\w-]+|\[[\w-]+\])+")
STEP = re.compile(r"\[(-?\d+)\]|['\"]([^'\"]+)['\"]|([\w-]+)")
NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)


Steps: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Hints:
    """The words of a query, and the paths it names, seen from one value of a document."""

    words: tuple[bytes, ...] = ()
    paths: tuple[Steps, ...] = ()

    def into(self, step: str) -> Hints:
        """The hints as seen from the value under a name, or under a number written as text."""
        if not self.paths:
            return self
        return Hints(self.words, tuple(self.named.get(step.lower(), ())))

    @cached_property
    def looked_for(self) -> tuple[bytes, ...]:
        """The words, and each as a value of its own: what is called so, not what speaks of it."""
        return (*self.words, *(b'"%b"' % word for word in self.words))

    @cached_property
    def named(self) -> dict[str, list[Steps]]:
        """The names and numbers that paths go through from here, and how they go on."""
        named: dict[str, list[Steps]] = {}
        for path in self.paths:
            # A dot may be part of a name: `a.b.c` can mean `$.a.b.c`, `$['a.b'].c` or `$['a.b.c']`.
            for taken in range(1, len(path) + 1):
                named.setdefault(".".join(path[:taken]), []).append(path[taken:])
        return named


def hints_of(query: Query) -> Hints:
    """Read the words of a query, those that look like paths also as paths."""
    words, paths = [], []
    for word in query.words[:MOST_WORDS]:
        word = word.strip(" \t?!,;:()").lower()[:LONGEST_WORD_CHARS]
        if PATH.fullmatch(word):
            paths.append(tuple("".join(step) for step in STEP.findall(word)))
        if len(word) >= LEAST_WORD_CHARS:
            words.append(word.encode(errors="replace"))
            # Many programs write all but ASCII as escapes.
            words.append(json.dumps(word)[1:-1].encode())
    return Hints(tuple(dict.fromkeys(words)), tuple(dict.fromkeys(paths)))


def pointed_items(items: Items, hints: Hints) -> Pointed:
    """The items that the query points at, the best first, and how strongly."""
    total = len(items)
    words = [word.decode() for word in hints.words]
    reasons = [
        Reason(numbers, math.log(1 + total / len(numbers)))
        for numbers in _by_word(items, hints.looked_for).values()
        if len(numbers) <= max(3, COMMON_SHARE * total)
    ]
    meant = [(word, NUMBER_SCORE) for word in words]
    meant += [(name, NAMED_SCORE) for name in hints.named]
    reasons += [
        Reason((number,), score)
        for said, score in meant
        if (number := _number(said, total)) is not None
    ]
    reasons += [Reason((n,), math.log(1 + total)) for n in asked_extremes(items, words)]
    return best_first(reasons)


def _number(word: str, total: int) -> int | None:
    """The item that a word numbers, from the end if it is negative."""
    if not NUMBER.fullmatch(word):
        return None
    number = int(word) + (total if word.startswith("-") else 0)
    return number if 0 <= number < total else None


def pointed_keys(names: Sequence[str], values: Sequence[bytes], hints: Hints) -> Pointed:
    """The places of the members that the query points at, the best first, and how strongly.

    It calls one by its name (of a path by its last part), by a part of its name that few have, or
    by a word in few of the values.
    """
    if not hints.words and not hints.paths:
        return {}
    lowered = [name.lower() for name in names]
    calls = [*_calls(hints)]
    wanted: set[str] = set().union(*calls)
    lasts = [name.rpartition("/")[2] for name in lowered]
    reasons = [
        Reason([place for name in called for place in places.get(name, ())], NAMED_SCORE)
        for places in (_places(lowered, wanted), _places(lasts, wanted))
        for called in calls
    ]
    for texts in [name.encode(errors="replace") for name in lowered], values:
        joined = b"\0".join(texts)
        ends = [*accumulate(len(text) + 1 for text in texts)]
        found = (_holding(joined, ends, word) for word in hints.looked_for)
        reasons += [Reason(held, math.log(1 + len(names) / len(held))) for held in found if held]
    return best_first([reason for reason in reasons if reason.places])


def _places(names: Sequence[str], wanted: Set[str]) -> Mapping[str, list[int]]:
    """Where each of the wanted names stands."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if name in wanted:
            places.setdefault(name, []).append(place)
    return places


def _calls(hints: Hints) -> Iterator[set[str]]:
    """The names that each word, or the paths, may stand for."""
    yield {*hints.named}
    for word in map(bytes.decode, hints.words):
        yield {word, *word.split(".")}


def _holding(joined: bytes, ends: Sequence[int], word: bytes) -> list[int]:
    """The texts that a word begins in; none if they are too many."""
    most = max(1, int(COMMON_SHARE * len(ends)))
    holding: list[int] = []
    at = joined.find(word)
    while at >= 0:
        if _begins(joined, at, word):
            holding.append(bisect_right(ends, at))
            if len(holding) > most:
                return []
            at = ends[holding[-1]] - 1
        at = joined.find(word, at + 1)
    return holding


def _by_word(items: Items, words: tuple[bytes, ...]) -> dict[bytes, set[int]]:
    numbers: dict[bytes, set[int]] = {word: set() for word in words}
    for block, data in items.blocks(SCANNED_BYTES) if words else ():
        lowered = data.lower()
        for word in [word for word in numbers if word in lowered]:
            places = [
                place
                for place in places_of(lowered, word, HITS_PER_BLOCK)
                if _begins(lowered, place, word)
            ]
            numbers[word].update(items.numbers_at(block, places))
            if len(numbers[word]) > max(SEEN_ITEMS, COMMON_SHARE * (block.first + block.count)):
                del numbers[word]
    return {word: found for word, found in numbers.items() if found}


def _begins(data: bytes, place: int, word: bytes) -> bool:
    """Whether a word begins here; a number, or a very short word, must also end with it."""
    if place and data[place - 1 : place].isalnum():
        return False
    return (len(word) > SHORT_WORD and not word.isdigit()) or not data[
        place + len(word) : place + len(word) + 1
    ].isalnum()


def places_of(data: bytes, word: bytes, most: int) -> Iterator[int]:
    """Where `word` stands in `data`, at most so many times."""
    at = data.find(word)
    while at >= 0 and most > 0:
        yield at
        at = data.find(word, at + len(word))
        most -= 1
