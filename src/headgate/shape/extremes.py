"""Which items of a list have the most and the least of a field that the query asks about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from headgate.shape.items import Items
from headgate.slices import kind_of, members, names_of

SUPERLATIVES = frozenset(
    {
        *("most", "least", "max", "maximum", "min", "minimum", "top", "best", "worst", "peak"),
        *("highest", "lowest", "largest", "smallest", "biggest", "greatest", "longest", "shortest"),
        *("latest", "earliest", "newest", "oldest", "fastest", "slowest", "heaviest", "lightest"),
        *(
            "cheapest",
            "strongest",
            "weakest",
            "warmest",
            "coldest",
            "hottest",
            "deepest",
            "nearest",
        ),
    }
)
"""Words that ask for one end of something; which end is good, only the field knows."""

MOST_FIELDS = 2
MOST_ITEMS = 50_000
"""How many fields are compared, and in how many items: a tenth of a second at most."""

FIRST_ITEMS = 8
"""The fields are those of the first items."""

LEAST_PART_CHARS = 4
"""So much of a word of a name says which is meant: `weigh` asks about `Weight_in_lbs`."""

NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
DATE = re.compile(r"\d{4}-\d\d")


def asked_fields(names: Iterable[str], words: Collection[str]) -> list[str]:
    """The fields that a superlative is asked of: a word is their name, or a part of it."""
    if SUPERLATIVES.isdisjoint(words):
        return []
    return [name for name in names if any(_says(word, name) for word in words)][:MOST_FIELDS]


def asked_extremes(items: Items, words: Collection[str]) -> list[int]:
    """The items with the most and the least of each field that a superlative is asked of."""
    found: list[int] = []
    for name in asked_fields(_fields(items), words):
        numbers, dates = _column(items, name)
        for column in numbers, dates:
            if len(column) > 1:
                found += max(column, key=column.__getitem__), min(column, key=column.__getitem__)
    return found


def _fields(items: Items) -> Iterator[str]:
    """What the first items have."""
    seen: set[str] = set()
    for number in range(min(len(items), FIRST_ITEMS)):
        if kind_of(items[number].strip()) == "object":
            names = names_of([key for key, _ in members(items[number])])
            yield from (name for name in names if name not in seen)
            seen.update(names)


def _says(word: str, name: str) -> bool:
    parts = [name, *NAME_PART.findall(name)]
    if len(word) < LEAST_PART_CHARS:
        return word in map(str.lower, parts)
    return any(part.lower().startswith(word) for part in parts)


def _column(items: Items, name: str) -> tuple[dict[int, float], dict[int, str]]:
    """What the items have in a field, by their number: those with a number, those with a date."""
    fields = [("field", object, None)]
    decoder = msgspec.json.Decoder(msgspec.defstruct("Item", fields, rename={"field": name}))
    numbers: dict[int, float] = {}
    dates: dict[int, str] = {}
    for number in range(min(len(items), MOST_ITEMS)):
        try:
            (value,) = msgspec.structs.astuple(decoder.decode(items[number]))
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers[number] = value
        elif isinstance(value, str) and DATE.match(value):
            dates[number] = value
    return numbers, dates
