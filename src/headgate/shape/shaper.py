"""What every shaper takes and gives.

Shaping is a pure function of text, room, kind and query. A new shaper is one new file and one line
in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from headgate.marker import Ask, Marker
from headgate.types import Kind, Meter, Query


@dataclass(frozen=True, slots=True)
class Source:
    """A result's text as it arrives at a shaper: valid UTF-8, normalised, too big for its room."""

    data: bytes
    kind: Kind
    size: int
    """In the unit of the room's meter; an estimate where the text is large."""
    lines: int


@dataclass(frozen=True, slots=True)
class Room:
    """How much may be shown, marker included, and how it is measured."""

    limit: int
    meter: Meter

    def size(self, text: str) -> int:
        """The exact size of a text."""
        return self.meter.count(text)

    def fits(self, text: str) -> bool:
        """Whether the text may be shown as it is."""
        return self.meter.count(text) <= self.limit


@dataclass(frozen=True, slots=True)
class Shaped:
    """What is left of a text: at most the room, its markers included."""

    text: str
    how: str
    """In words, for `headgate explain`: `head, tail and 37 lines between`."""


class Shaper(Protocol):
    """Cuts a source down to its room."""

    def __call__(self, source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
        """Return at most `room.limit`, whatever the source."""
        ...


def by_lines(ask: Ask) -> Ask:
    """For a text that is shown with other bytes than it came with, but with the same lines."""
    return Ask("lines", "1-") if ask.name == "bytes" else ask
