"""A history as rounds: what the assistant said, and everything up to the next time it speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from headgate.dialects.history import Message, Part

Place: TypeAlias = tuple[int, int]
"""Of a part: its message's and its own number."""


class Spot(msgspec.Struct, frozen=True, gc=False):
    """A call or a result, and where it stands."""

    place: Place
    part: Part

    @property
    def message(self) -> int:
        """The number of its message."""
        return self.place[0]


@dataclass(slots=True)
class Round:
    """Messages `start` to `tail` are the assistant's, `tail` to `stop` are not."""

    start: int
    tail: int
    stop: int
    calls: list[Spot] = field(default_factory=list)
    results: list[Spot] = field(default_factory=list)
    server_ids: list[str] = field(default_factory=list)


def rounds_of(messages: Sequence[Message]) -> list[Round]:
    """Cut a history where the assistant begins to speak; the first round may begin without it."""
    rounds: list[Round] = []
    current: Round | None = None
    for number, message in enumerate(messages):
        speaks = message.role == "assistant"
        if current is None or (speaks and current.tail < current.stop):
            current = Round(number, number, number)
            rounds.append(current)
        current.stop = number + 1
        if speaks:
            current.tail = number + 1
        for place, part in enumerate(message.parts):
            kind = part.kind
            if kind == "result":
                current.results.append(Spot((number, place), part))
            elif kind == "call" and speaks:
                current.calls.append(Spot((number, place), part))
            elif kind == "server_call" and part.call_id:
                current.server_ids.append(part.call_id)
    return rounds
