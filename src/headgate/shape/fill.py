"""Find how many bytes fill a room that is measured in something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headgate.shape.shaper import Room

TRIES = 9
"""Two or three are usual; the rest is for texts whose parts measure very differently."""

SAME = 3
"""When more room has changed nothing so many times, there is nothing more to show."""

FULL = 0.96
AIM = 0.985
"""The search stops at this part of the limit, and aims at that one."""


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
    for _ in range(TRIES):
        drawn = draw(most)
        size = room.size(drawn.text) if drawn else 0
        if drawn and best_size < size <= room.limit:
            best, best_size = drawn, size
        if size <= room.limit:
            low = most
        else:
            high = most
        same, before = (same + 1 if drawn == before else 0), drawn
        if best and (best.is_all or best_size >= FULL * room.limit or same == SAME):
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
