"""Which items of a list stand out: loud words, values unlike the others, far numbers, rare keys.

The beginning of the list is read into columns; what is steady there is then looked for in the rest
without reading it. All of it is a hint of what to show, never a claim about the data.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TypeAlias

import msgspec

from headgate.shape.far import FEWEST, far_places
from headgate.shape.hints import HITS_PER_BLOCK, SCANNED_BYTES, places_of
from headgate.shape.items import Items
from headgate.shape.signs import SCANNER, weight
from headgate.slices import NotJson
from headgate.values import value_of

READ_BYTES = 80 * 1024
READ_ITEMS = 800
"""How much of a list is read into columns: about two milliseconds' worth."""

RARE_SHARE = 0.05
"""What at most this share of the items have stands out."""

STEADY_SHARE = 0.97
STEADY_COLUMNS = 3
"""How many fields that hardly ever change are looked for beyond what was read."""

SHORT_LIST = 3
"""Up to so many words are compared as one: `["no-op"]`."""

LEAST_WEIGHT = 3
AROUND_BYTES = 80
"""What of the neighbourhood is asked whether a loud word is meant."""

NAUGHT = re.compile(rb'"?\s*+:\s*+(?:null|false|0|""|\[\s*+\]|\{\s*+\})(?=[\s,}\]])')
"""After the name of a field: it says that there is nothing to say."""

Scores: TypeAlias = dict[int, float]
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of one field, and the numbers of the items that have it."""

    numbers: list[int]
    values: list[object]


def odd_items(items: Items) -> Scores:
    """The items that stand out, and by how much."""
    if len(items) < FEWEST:
        return {}
    scores: defaultdict[int, float] = defaultdict(float)
    raws = _beginning(items)
    columns = _columns(_values(raws))
    few = _few(len(items))
    for found in _unlike(columns, len(raws)), _loud(items), _unsteady(items, raws, columns):
        for number, score in _above_the_many(found, few).items():
            scores[number] += score
    return dict(nlargest(few, scores.items(), key=lambda pair: (pair[1], -pair[0])))


def _above_the_many(found: Scores, few: int) -> Scores:
    """Those that score more than too many do: what many have does not stand out."""
    if len(found) <= few:
        return found
    bar = nlargest(few + 1, found.values())[-1]
    return {number: score for number, score in found.items() if score > bar}


def _few(total: int) -> int:
    return max(2, int(2 * RARE_SHARE * total))


def _beginning(items: Items) -> list[bytes]:
    raws: list[bytes] = []
    left = READ_BYTES
    for number in range(min(len(items), READ_ITEMS)):
        raws.append(items[number])
        left -= len(raws[-1])
        if left < 0:
            break
    return raws


def _values(raws: Sequence[bytes]) -> list[object]:
    """What the items are; None for one that cannot be read."""
    try:
        values = value_of(b"[%b]" % b",".join(raws))
    except NotJson:
        return [_value(raw) for raw in raws]
    return values if isinstance(values, list) else []


def _value(raw: bytes) -> object:
    try:
        return value_of(raw)
    except NotJson:
        return None


def _columns(values: Sequence[object]) -> dict[Path, Column]:
    """Values by field, one level of inner fields too; items that are no objects are one field."""
    columns = _fields(range(len(values)), values, ())
    for path, column in list(columns.items()):
        if path and dict in set(map(type, column.values)):
            columns |= _fields(column.numbers, column.values, path)
    return columns


def _fields(numbers: Iterable[int], values: Iterable[object], path: Path) -> dict[Path, Column]:
    by_keys: defaultdict[tuple[str, ...] | None, list[tuple[int, object]]] = defaultdict(list)
    for number, value in zip(numbers, values, strict=True):
        by_keys[tuple(value) if isinstance(value, dict) else None].append((number, value))
    columns: dict[Path, Column] = {}
    for keys, group in by_keys.items():
        where, objects = zip(*group, strict=True)
        if keys is None:
            if not path:
                columns[path] = Column(list(where), list(objects))
            continue
        # Objects with the same keys are turned into columns at once; one by one takes far longer.
        for name, fields in zip(keys, zip(*map(dict.values, objects), strict=True), strict=True):
            column = columns.setdefault((*path, name), Column([], []))
            column.numbers.extend(where)
            column.values.extend(fields)
    return columns


def _unlike(columns: Mapping[Path, Column], total: int) -> Scores:
    """Items that differ from the others in a field, or in having it."""
    scores: defaultdict[int, float] = defaultdict(float)
    rare = RARE_SHARE * total
    for column in columns.values():
        groups = [*_rare_sorts(column, rare), *_rare_words(column, rare), _far_numbers(column)]
        if len(column.numbers) <= rare:
            groups.append(column.numbers)
        elif 0 < total - len(column.numbers) <= rare:
            groups.append(sorted(set(range(total)).difference(column.numbers)))
        for group in groups:
            for number in group if len(group) <= rare else ():
                scores[number] += math.log(total / len(group))
    return scores


def _rare_sorts(column: Column, rare: float) -> Iterator[list[int]]:
    """Items with a rare sort of value: nothing among numbers, a filled list among empty ones."""
    kinds = set(map(type, column.values))
    if kinds <= {int, float} or (len(kinds) == 1 and all(column.values)):
        return
    sorts: list[object] = [float if each is int else each for each in map(type, column.values)]
    if {str, list, dict} & kinds:
        sorts = [
            (each, bool(value)) if each in (str, list, dict) else each
            for each, value in zip(sorts, column.values, strict=True)
        ]
    yield from _rare_groups(column.numbers, sorts, rare)


def _rare_words(column: Column, rare: float) -> Iterator[list[int]]:
    """Items with a rare one of a few words, numbers or short lists of them."""
    values = [tuple(v) if type(v) is list and len(v) <= SHORT_LIST else v for v in column.values]
    try:
        few = len(set(values)) <= max(4, rare)
    except TypeError:
        return
    if few:
        yield from _rare_groups(column.numbers, values, rare)


def _rare_groups(
    numbers: Sequence[int], values: Sequence[object], rare: float
) -> Iterator[list[int]]:
    for value, count in Counter(values).items():
        if count <= rare:
            yield [number for number, each in zip(numbers, values, strict=True) if each == value]


def _far_numbers(column: Column) -> list[int]:
    """Items whose number lies far from the middle half of the column."""
    if not set(map(type, column.values)) <= {int, float}:
        return []
    numbers = [_real(value) for value in column.values if isinstance(value, int | float)]
    return [column.numbers[place] for place in far_places(numbers)]


def _real(value: float) -> float:
    """A number as one that can be compared with all others; beyond all floats it is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _loud(items: Items) -> Scores:
    """Items that hold a word of errors and failures, where they are few."""
    scores: Scores = {}
    for block, data in items.blocks(SCANNED_BYTES):
        hits = [
            (end, worth)
            for sign, end in SCANNER.hits(data, HITS_PER_BLOCK)
            if (worth := _loudness(data, sign, end)) >= LEAST_WEIGHT
        ]
        numbers = items.numbers_at(block, [end - 1 for end, _ in hits]) if hits else []
        for number, (_, worth) in zip(numbers, hits, strict=True):
            scores[number] = max(scores.get(number, 0), worth)
    return scores


def _loudness(data: bytes, sign: int, end: int) -> float:
    if NAUGHT.match(data, end):
        return 0
    around = data[max(end - AROUND_BYTES, 0) : end + AROUND_BYTES]
    return weight(data, [(sign, end)], around)


@dataclass(frozen=True, slots=True)
class Steady:
    """A field with the same value nearly everywhere: its name, and name and value as written."""

    name: bytes
    member: bytes


def _steady(raws: Sequence[bytes], columns: Mapping[Path, Column]) -> list[Steady]:
    steady: list[Steady] = []
    for path, column in columns.items():
        if len(path) != 1 or len(column.values) < STEADY_SHARE * len(raws):
            continue
        word = column.values[0]
        if column.values.count(word) < STEADY_SHARE * len(raws) or isinstance(word, list | dict):
            continue
        name = re.escape(msgspec.json.encode(path[0]))
        value = re.escape(msgspec.json.encode(word))
        written = re.search(rb"%b\s*+:\s*+%b" % (name, value), b"\n".join(raws[:20]))
        if written:
            steady.append(Steady(msgspec.json.encode(path[0]), written[0]))
    return steady[:STEADY_COLUMNS]


def _unsteady(items: Items, raws: Sequence[bytes], columns: Mapping[Path, Column]) -> Scores:
    """Items beyond those read in which a steady field has another value."""
    scores: Scores = {}
    if len(raws) == len(items):
        return scores
    steady = _steady(raws, columns)
    for block, data in items.blocks(SCANNED_BYTES) if steady else ():
        for field in steady:
            if data.count(field.member) >= block.count:
                continue
            places = [
                place
                for place in places_of(data, field.name, len(data))
                if not data.startswith(field.member, place)
            ][:HITS_PER_BLOCK]
            for number in items.numbers_at(block, places):
                if number >= len(raws):
                    scores[number] = math.log(1 / RARE_SHARE)
    return scores
