"""Which items of a list have the most and the least of what the query asks about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from headgate.shape.items import Items
from headgate.slices import kind_of, members, names_of
from headgate.values import is_too_deep

MOST = frozenset(
    {
        *("most", "max", "maximum", "peak", "highest", "largest", "biggest", "greatest", "longest"),
        *("latest", "newest", "heaviest", "warmest", "hottest", "tallest", "richest", "busiest"),
    }
)
LEAST = frozenset(
    {
        *("least", "min", "minimum", "lowest", "smallest", "shortest", "earliest", "lightest"),
        *("cheapest", "coldest", "poorest", "rarest"),
    }
)
SUPERLATIVES = frozenset(
    {
        *MOST,
        *LEAST,
        *("top", "best", "worst", "oldest", "youngest", "fastest", "slowest", "strongest"),
        *("weakest", "deepest", "nearest"),
    }
)
"""Words that ask for one end of something; of some only the field knows which end that is."""

MOST_FIELDS = 3
MOST_UNNAMED = 6
"""How many fields are compared, and how many where none is named: `heaviest` may mean a mass."""

MOST_ITEMS = 50_000
"""In how many items: a tenth of a second."""

FIRST_ITEMS = 8
"""The fields are those of the first items."""

LEAST_PART_CHARS = 4
"""So much of a word or of a name says which is meant: `weigh` asks about `Weight_in_lbs`, and
`inflation` about `infl`."""

NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
DATE = re.compile(r"\d{4}-\d\d")
NUMBER = b"-0123456789"


def asked_fields(names: Iterable[str], words: Collection[str]) -> list[str]:
    """The fields that a superlative is asked of: a word is their name, or a part of it."""
    if SUPERLATIVES.isdisjoint(words):
        return []
    said = {name: {word for word in words if _says(word, name)} for name in names}
    # `point` names the melting point, too, but `boiling point` only one of them.
    asked = [name for name in said if said[name] and not any(said[name] < o for o in said.values())]
    return sorted(asked, key=lambda name: name.lower() not in words)[:MOST_FIELDS]


def asked_ends(least: int, most: int, words: Collection[str]) -> list[int]:
    """Of what has the least and the most of something: what is asked for, or both."""
    ends = [] if MOST.isdisjoint(words) else [most]
    ends += [] if LEAST.isdisjoint(words) else [least]
    return ends or [most, least]


def unnamed_fields(numeric: Sequence[str], words: Collection[str]) -> Sequence[str]:
    """The fields that a superlative may mean that names none."""
    return () if SUPERLATIVES.isdisjoint(words) else numeric[:MOST_UNNAMED]


def asked_extremes(items: Items, words: Collection[str]) -> list[int]:
    """The items with the most and the least of each field that a superlative is asked of.

    Where it names none, of the first fields that are numbers.
    """
    if SUPERLATIVES.isdisjoint(words):
        return []
    fields = _fields(items)
    numeric = [name for name, raw in fields.items() if raw[:1] in NUMBER]
    found: list[int] = []
    asked = asked_fields(fields, words) or unnamed_fields(numeric, words)
    for column in _columns(items, asked):
        if len(column) > 1:
            found += asked_ends(
                min(column, key=column.__getitem__), max(column, key=column.__getitem__), words
            )
    return found


def _fields(items: Items) -> Mapping[str, bytes]:
    """What the first items have, and what of it."""
    fields: dict[str, bytes] = {}
    for number in range(min(len(items), FIRST_ITEMS)):
        if kind_of(items[number].strip()) == "object":
            found = members(items[number])
            names = names_of([key for key, _ in found])
            fields = {**dict(zip(names, (bytes(raw) for _, raw in found), strict=True)), **fields}
    return fields


def _says(word: str, name: str) -> bool:
    parts = [part.lower() for part in (name, *NAME_PART.findall(name))]
    if len(word) < LEAST_PART_CHARS:
        return word in parts
    long = [part for part in parts if len(part) >= LEAST_PART_CHARS]
    return any(part.startswith(word) or word.startswith(part) for part in long)


def _columns(items: Items, names: Sequence[str]) -> list[dict[int, float] | dict[int, str]]:
    """What the items have in each field, by their number: the numbers, and the dates."""
    fields = [(f"field_{place}", object, None) for place in range(len(names))]
    renamed = {field: name for (field, _, _), name in zip(fields, names, strict=True)}
    decoder = msgspec.json.Decoder(msgspec.defstruct("Item", fields, rename=renamed))
    numbers: list[dict[int, float]] = [{} for _ in names]
    dates: list[dict[int, str]] = [{} for _ in names]
    for number in range(min(len(items), MOST_ITEMS) if names else 0):
        if is_too_deep(items[number]):
            continue
        try:
            values = msgspec.structs.astuple(decoder.decode(items[number]))
        except (msgspec.DecodeError, RecursionError):
            continue
        for place, value in enumerate(values):
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers[place][number] = value
            elif isinstance(value, str) and DATE.match(value):
                dates[place][number] = value
    return [*numbers, *dates]
