"""The end of every answer: what it shows and how to go on, inside the limit."""

from __future__ import annotations

from collections.abc import Callable

from headgate.marker import Ask, Marker
from headgate.shape.shaper import Room


def closed(body: str, words: str, go_on: Ask | str, room: Room, marker: Marker) -> str:
    """Put the last line under `body`, shorter where the long form would take half of the room."""
    line = marker.shown(words, go_on)
    if isinstance(go_on, Ask) and (not line.isprintable() or room.size(line) * 2 > room.limit):
        line = marker.shown(words, f"{_short(go_on)} shows more")
    between = "" if not body or body.endswith("\n") else "\n"
    return f"{body}{between}{line}"


def _short(ask: Ask) -> str:
    """How to go on for a reader who remembers what was asked."""
    if ask.name in ("search", "path", "sql") and ask.also:
        return f"the same {ask.name} with {ask.also.argument}"
    return ask.argument


def fitted(make: Callable[[int], str], room: Room, longest_end: str) -> str:
    """What `make` gives for a limit of the body with which the whole fits, its end included."""
    limit = room.limit - room.size(longest_end) - 1
    while True:
        text = make(limit)
        over = room.size(text) - room.limit
        if over <= 0 or limit <= 0:
            return text
        limit = max(limit - over, 0)
