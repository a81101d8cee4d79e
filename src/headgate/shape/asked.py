"""The values that a query names by their paths, looked up in a JSON document."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.shape.hints import Hints, Steps
from headgate.shape.showing import Steps as Taken
from headgate.shape.values import Value
from headgate.slices import NotJson

MOST_ASKED = 16
LARGEST_BYTES = 4 << 20
"""In a larger document a path is a matter for reading back, not for showing."""

MOST_CHILDREN = 40
"""A path may begin below the top: so many of its values are tried as the beginning."""


def asked_values(value: Value, hints: Hints) -> list[tuple[Taken, Value]]:
    """Where each path leads; one that leads nowhere is left out."""
    if not hints.paths or len(value.raw) > LARGEST_BYTES or value.is_bomb:
        return []
    found: dict[Taken, Value] = {}
    for path in hints.paths[:MOST_ASKED]:
        try:
            led = _follow(value, path, ()) or next(_from_below(value, path), None)
        except NotJson:
            return []
        if led is not None and led[0]:
            found[led[0]] = led[1]
    return list(found.items())


def _from_below(value: Value, path: Steps) -> Iterator[tuple[Taken, Value]]:
    """The path as seen from the values of the outermost object."""
    if value.kind == "object" and len(path) > 1:
        for place, name in enumerate(value.names[:MOST_CHILDREN]):
            if led := _follow(value.member(place), path, (name,)):
                yield led


def _follow(value: Value, path: Steps, taken: Taken) -> tuple[Taken, Value] | None:
    if not path:
        return taken, value
    if value.kind == "array":
        number = _number(path[0], len(value.items))
        return None if number is None else _follow(value.item(number), path[1:], (*taken, number))
    if value.kind != "object":
        return None
    lowered = [name.lower() for name in value.names]
    # A dot may be part of a name: the longest name that fits is meant.
    for count in range(len(path), 0, -1):
        name = ".".join(path[:count])
        if name in lowered:
            place = lowered.index(name)
            steps = (*taken, value.names[place])
            if led := _follow(value.member(place), path[count:], steps):
                return led
    return None


def _number(step: str, total: int) -> int | None:
    if not step.removeprefix("-").isdecimal():
        return None
    number = int(step) + (total if step.startswith("-") else 0)
    return number if 0 <= number < total else None
