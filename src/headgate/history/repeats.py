"""A result that is there already: the same becomes a reference, a small change becomes the difference.

Both stand only on a result that is whole in the same history, so the model can look at it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.types import Meter

LEAST = 200
"""Tokens; a reference to less saves nothing."""

WORTH = 2
"""A difference must be at most half of what it stands for."""

MOST_LINES = 20_000
"""Beyond this a difference is not looked for: comparing takes time that grows with the square."""

CONTEXT_LINES = 2


@dataclass(frozen=True, slots=True)
class Base:
    """An earlier result that stands whole in the history."""

    call_id: str
    tool: str
    target: str
    """What the call was about: the file it read. Empty: not known."""
    text: str


def repeated(text: str, target: str, bases: Sequence[Base], meter: Meter) -> str | None:
    """What stands for a text that an earlier result holds, whole or nearly; None: nothing does."""
    if meter.count(text) < LEAST:
        return None
    for base in reversed(bases):
        if base.text == text:
            return f"[the same as the result of {base.call_id} above ({_named(base)}), unchanged]"
    base_of_target = next((b for b in reversed(bases) if target and b.target == target), None)
    return _difference(text, base_of_target, meter) if base_of_target else None


def _difference(text: str, base: Base, meter: Meter) -> str | None:
    before, after = base.text.splitlines(), text.splitlines()
    if max(len(before), len(after)) > MOST_LINES:
        return None
    changed = difflib.unified_diff(before, after, n=CONTEXT_LINES, lineterm="")
    body = "\n".join(list(changed)[2:])
    head = f"[the same as the result of {base.call_id} above ({_named(base)}) but for:]"
    shown = f"{head}\n{body}"
    return shown if meter.count(shown) * WORTH <= meter.count(text) else None


def _named(base: Base) -> str:
    return f"{base.tool} {base.target}" if base.target else base.tool
