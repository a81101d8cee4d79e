"""Find how many bytes fill a room that is measured in something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headgate.shape.shaper import Room

TRIES = 9
"""Two or three are usual; the rest is for texts whose parts measure very differently."""

SAME = 3
"""When more room has changed nothing so many times, there is nothing more to show."""

AIM = 0.985
FULL = 0.97
EASIER = 0.01
LEAST = 0.92
"""The search aims at one part of the limit and is content with another, a little less each time."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A text that was made for so many bytes."""

    text: str
    how: str
    is_all: bool = False
    """Nothing is left out: more room would change nothing."""


def fill(draw: Callable[[int], Drawn | None], room: Room, bytes_per_unit: float) -> Drawn | None:
    """The fullest drawing found that fits the room; None if none fits."""
    best: Drawn | None = None
    before: Drawn | None = None
    best_size, low, high, same = 0, 0, 0, 0
    most = max(int(room.limit * bytes_per_unit), 1)
    for tries in range(1, TRIES + 1):
        drawn = draw(most)
        size = room.size(drawn.text) if drawn else 0
        if drawn and best_size < size <= room.limit:
            best, best_size = drawn, size
        if drawn and size > room.limit:
            high = most
            # What was drawn may be all there is, and far less than there was room for.
            most = min(most, len(drawn.text.encode()))
        else:
            low = most
        full = max(FULL - EASIER * tries, LEAST) * room.limit
        same, before = (same + 1 if drawn == before else 0), drawn
        if best and (best.is_all or best_size >= full or same == SAME):
            break
        most = _next(most, low, high, room.limit / size if size else 2.0)
        if most in (low, high):
            break
    return best


def _next(most: int, low: int, high: int, ratio: float) -> int:
    """By proportion, which is nearly right; but always between what fits and what does not."""
    aimed = int(most * ratio * AIM)
    if not high:
        return max(min(aimed, 4 * most), low + 1 + low // 16)
    return aimed if low < aimed < high else (low + high) // 2
