"""A result that is there already: the same becomes a reference, a small change the difference.

Both stand only on a result that is whole in the same history, so the model can look at it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from headgate.types import Meter, ToolResult

LEAST = 200
"""Tokens; a reference to less saves nothing."""

WORTH = 2
"""A difference must be at most half of what it stands for."""

MOST_LINES = 20_000
"""Beyond this a difference is not looked for: comparing takes time that grows with the square."""

CONTEXT_LINES = 2

PATH_ARGUMENTS = ("file_path", "path", "filename", "file", "absolute_path", "target_file")
PART_ARGUMENTS = ("offset", "limit", "start_line", "end_line", "view_range", "lines")
"""What a reading tool's arguments are called: the file, and the part of it."""

_PATHS = frozenset(PATH_ARGUMENTS)


class Base(msgspec.Struct, frozen=True, gc=False):
    """An earlier result that stands whole in the history."""

    call_id: str
    tool: str
    target: str
    """What the call was about: the file it read. Empty: not known."""
    original: bytes
    """What it says, byte for byte: nothing is decoded to find it."""

    @property
    def text(self) -> str:
        """What it says."""
        return self.original.decode("utf-8", "replace")


class Bases:
    """The newest earlier result of each text, and of each target: found without looking at all."""

    def __init__(self, bases: Iterable[Base] = ()) -> None:
        self._by_original: dict[bytes, Base] = {}
        self._by_target: dict[str, Base] = {}
        for base in bases:
            self.add(base)

    def add(self, base: Base) -> None:
        """Take in a result that stands behind all others."""
        self._by_original[base.original] = base
        if base.target:
            self._by_target[base.target] = base

    def saying(self, original: bytes) -> Base | None:
        """The newest that says exactly this."""
        return self._by_original.get(original)

    def about(self, target: str) -> Base | None:
        """The newest that is about this."""
        return self._by_target.get(target)


@dataclass(frozen=True, slots=True)
class Repeated:
    """What stands for a result that is there already, and the call that has it."""

    text: str
    base: str


def repeated(original: bytes, target: str, bases: Bases, meter: Meter) -> Repeated | None:
    """What stands for a text that an earlier result holds, whole or nearly; None: nothing does."""
    base, base_of_target = bases.saying(original), bases.about(target)
    if base is None and base_of_target is None:
        return None
    text = original.decode("utf-8", "replace")
    if meter.count(text) < LEAST:
        return None
    if base is not None:
        same = f"[the same as the result of {base.call_id} above ({_named(base)}), unchanged]"
        return Repeated(same, base.call_id)
    return _difference(text, base_of_target, meter) if base_of_target else None


def target_of(result: ToolResult) -> str:
    """What a call was about, by its arguments: the file it reads and the part of it."""
    if _PATHS.isdisjoint(result.arguments):
        return ""
    path = next((result.arguments[n] for n in PATH_ARGUMENTS if n in result.arguments), None)
    if not isinstance(path, str):
        return ""
    where = [f"{n}={result.arguments[n]}" for n in PART_ARGUMENTS if n in result.arguments]
    return " ".join([path, *where])


def _difference(text: str, base: Base, meter: Meter) -> Repeated | None:
    before, after = base.text.splitlines(), text.splitlines()
    if max(len(before), len(after)) > MOST_LINES:
        return None
    changed = difflib.unified_diff(before, after, n=CONTEXT_LINES, lineterm="")
    body = "\n".join(list(changed)[2:])
    head = f"[the same as the result of {base.call_id} above ({_named(base)}) but for:]"
    shown = f"{head}\n{body}"
    if meter.count(shown) * WORTH > meter.count(text):
        return None
    return Repeated(shown, base.call_id)


def _named(base: Base) -> str:
    return f"{base.tool} {base.target}" if base.target else base.tool
