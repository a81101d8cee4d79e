"""Takes a change of a JSON file back by what it says, where the lines around ours are others now.

Agent CLIs write their settings anew whenever one of them changes: in another order, with other
commas, on other lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headgate.errors import RequestError
from headgate.install import jsonc
from headgate.install.plan import Change

ABSENT = object()
"""Told from null, which is a value."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One value of ours at a path, and what stood there; in a list it is one item more."""

    path: Path
    ours: object
    was: object
    is_item: bool = False


def taken_back(current: str, change: Change) -> str | None:
    """The file without our values; None where they are no JSON, or somebody changed them since."""
    try:
        steps = list(_steps(jsonc.load(change.before or ""), jsonc.load(change.after or "")))
        text: str | None = current
        for step in reversed(steps):
            text = _undone(text, step) if text is not None else None
        if text is not None:
            jsonc.load(text)
    except RequestError:
        return None
    return text


def _steps(was: object, ours: object, path: Path = ()) -> Iterator[Step]:
    """What we changed, each container before what is in it."""
    if was is ABSENT and isinstance(ours, Mapping | list) and ours:
        empty: object = {} if isinstance(ours, Mapping) else []
        yield Step(path, empty, ABSENT)
        was = empty
    if isinstance(was, Mapping) and isinstance(ours, Mapping):
        for key in [*ours, *(key for key in was if key not in ours)]:
            yield from _steps(was.get(key, ABSENT), ours.get(key, ABSENT), (*path, key))
    elif isinstance(was, list) and isinstance(ours, list) and ours[: len(was)] == was:
        yield from (Step(path, item, ABSENT, is_item=True) for item in ours[len(was) :])
    elif was != ours:
        yield Step(path, ours, was)


def _undone(text: str, step: Step) -> str | None:
    found: object = jsonc.load(text)
    for key in step.path:
        found = found.get(key, ABSENT) if isinstance(found, Mapping) else ABSENT
    if step.is_item:
        return _without_item(text, step, found)
    if found == step.was:
        return text
    if step.was is not ABSENT:
        return jsonc.put(text, step.path, step.was) if found == step.ours else None
    if found == step.ours:
        return jsonc.take(text, step.path)
    # We made it for what is in it, and others have put something there since.
    is_theirs_too = step.ours in ({}, []) and type(found) is type(step.ours)
    return text if is_theirs_too else None


def _without_item(text: str, step: Step, found: object) -> str | None:
    if found is ABSENT or found == []:
        return text
    if not isinstance(found, list) or step.ours not in found:
        return None  # it was taken out, or changed: nobody can tell
    return jsonc.take(text, (*step.path, found.index(step.ours)))
