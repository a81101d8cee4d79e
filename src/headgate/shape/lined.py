"""Shape a text line by line: an outline first, which is what its kind says, then the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from headgate.marker import Marker
from headgate.shape.labels import labelled
from headgate.shape.pieces import Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import Pointed, pointed_by
from headgate.types import Query

MOST_BYTES = 4 << 20
MOST_LINES = 40_000
"""A longer text is shaped as any other: looking at each line would take too long."""

OUTLINED = 30.0
"""What a line of the outline is worth."""

LABELLED_SHARE = 0.08
"""What part of the room goes to lines that have a label of their own."""

POINTED = (12.0, 20.0)
"""What a line is worth that the query points at: the least, and what the best has beyond it."""

NEAR = 8
NEAR_SHARE = 0.8
"""How many lines around it share in that, and how much: who asks for a line reads around it."""

END = 10.0
"""What the first and the last line are worth."""

GAP_BYTES = 36
"""About what the note takes that says which lines are left out."""

Ranked = Callable[[Sequence[str]], Iterable[int]]
"""The lines of an outline, counted from 0, the most telling first."""


@dataclass(frozen=True, slots=True)
class Lining:
    """How the lines of a kind are chosen."""

    outline: Ranked
    outline_share: float
    """What part of the room goes to the outline before all else."""
    head_lean: float
    """Where between the ends a line is worth least: 1.0 shows the start alone, 0.5 both ends."""
    near: int = NEAR
    """How many lines around one that the query points at are shown with it."""
    pointed_share: float = 0.6
    """What part of the room such lines may take from the others."""
    divisible: bool = False
    """Half a line is better than none: it is a sentence."""


def shape_lined(
    source: Source, room: Room, query: Query, marker: Marker, lining: Lining
) -> Shaped | None:
    """Show the outline, what the query points at, and the ends; None if the text is too long."""
    if len(source.data) > MOST_BYTES or source.lines > MOST_LINES:
        return None
    lines = source.data.decode(errors="replace").removesuffix("\n").split("\n")
    worths = ends_first(len(lines), lining.head_lean)
    room_bytes = room.limit * len(source.data) / max(source.size, 1)
    raise_near(worths, pointed_by(query, lines), lines, lining, room_bytes)
    for number in within(labelled(lines), lines, room_bytes * LABELLED_SHARE):
        worths[number] = max(worths[number], OUTLINED)
    for number in within(lining.outline(lines), lines, room_bytes * lining.outline_share):
        worths[number] = max(worths[number], OUTLINED)
    items = [Piece(i, i, text, worths[i - 1]) for i, text in enumerate(lines, 1)]
    pieces = Pieces(items, len(lines), divisible=lining.divisible)
    return shape_pieces(pieces, source, room, marker, "lines")


def within(numbers: Iterable[int], lines: Sequence[str], room_bytes: float) -> Iterable[int]:
    """As many of the lines as there is room for, each with a gap."""
    for number in numbers:
        room_bytes -= len(lines[number]) + GAP_BYTES
        if room_bytes < 0:
            return
        yield number


def ends_first(total: int, head_lean: float) -> list[float]:
    """What lines are worth by their place: the ends most, the rest by how near they are."""
    turn = max(total * head_lean, 1.0)
    rest = total - turn + 1
    return [END * (1 - min(i / turn, (total - 1 - i) / rest)) for i in range(total)]


def raise_near(
    worths: list[float], pointed: Pointed, lines: Sequence[str], lining: Lining, room_bytes: float
) -> None:
    """Make lines worth more that the query points at, and those around them, as many as may be."""
    least, beyond = POINTED
    left = room_bytes * lining.pointed_share
    seen: set[int] = set()
    for number, strength in pointed.items():
        own = least + beyond * strength
        first = max(number - lining.near // 2, 0)
        around = range(first, min(number + lining.near + 1, len(worths)))
        left -= sum(len(lines[other]) + 1 for other in around if other not in seen)
        if left < 0 and seen:
            return
        seen.update(around)
        for other in around:
            worths[other] = max(worths[other], own if other == number else own * NEAR_SHARE)
