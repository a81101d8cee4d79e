"""Shape a text line by line: an outline first, which is what its kind says, then the rest."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.marker import Marker
from headgate.shape.gutter import unpadded, without_gutter
from headgate.shape.labels import labelled
from headgate.shape.names import naming
from headgate.shape.pieces import Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import QUESTION_WORDS, Pointed, pointed_by
from headgate.types import Query

MOST_BYTES = 4 << 20
MOST_LINES = 40_000
"""A longer text is shaped as any other: looking at each line would take too long."""

OUTLINED = 30.0
"""What a line of the outline is worth."""

LONGEST_LINE = 0.7
"""Where one line would take this part of the room, cutting it well matters more than its kind."""

LABELLED_SHARE = 0.08
"""What part of the room goes to lines that have a label of their own."""

POINTED = (12.0, 20.0)

FOCUSED = 1.0
"""How strongly each line of a part is pointed at that the query names as a whole."""

ABOVE = 100
"""How far up the line is looked for that it stands under."""

QUESTION_SHARE = 0.8
QUESTION_NAMES = 0.5
"""Of a question: what part of the room its answer may take, and what is left of that for names."""

NEAR = 8
NEAR_SHARE = 0.8
"""How many lines around it share in that, and how much: who asks for a line reads around it."""

END = 10.0
"""What the first and the last line are worth."""

NAMES_CHARS = 32 * 1024
"""How much of each end of a text is looked at for names."""

MORE_THAN_ROOM = 1.5
"""How much more of each end is looked at than the room can hold: lines measure differently."""

GAP_BYTES = 36
"""About what the note takes that says which lines are left out."""

Ranked = Callable[[Sequence[str]], Iterable[int]]
"""The lines of an outline, counted from 0, the most telling first."""


Focus = Callable[[Sequence[str], Pointed, Query], Iterable[range]]
"""The parts of a text that the query names, found by the lines that it points at."""


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
    pointed: tuple[float, float] = POINTED
    """What such a line is worth: the least, and what the best has beyond it."""
    pointed_share: float = 0.6
    """What part of the room such lines may take from the others."""
    divisible: bool = False
    """Half a line is better than none: it is a sentence."""
    names_share: float = 0.0
    """What part of the room goes to lines that name files, addresses and the like."""
    focus: Focus | None = None
    """How parts are found that the query names as a whole."""

    def for_a_question(self) -> Lining:
        """More room for the answer, in more places, and less for what may be of use."""
        return replace(
            self,
            pointed_share=max(self.pointed_share, QUESTION_SHARE),
            names_share=self.names_share * QUESTION_NAMES,
            near=min(self.near, max(self.near // 2, NEAR)),
        )


def shape_lined(
    source: Source, room: Room, query: Query, marker: Marker, lining: Lining
) -> Shaped | None:
    """Show the outline, what the query points at, and the ends; None if the text is too long."""
    lines = lines_to_choose(source, room)
    if lines is None:
        return None
    room_bytes = bytes_for(room, source)
    worths: dict[int, float] = {}
    pointed = pointed_by(query, lines)
    if pointed and len(query.words) <= QUESTION_WORDS:
        lining = lining.for_a_question()
    if lining.focus is not None:
        pointed = focused(pointed, lining.focus(lines, pointed, query))
    raise_near(worths, pointed, lines, lining, room_bytes)
    shares = [(labelled(lines), LABELLED_SHARE), (lining.outline(lines), lining.outline_share)]
    if lining.names_share:
        shares.append((naming(lines, near_ends(lines, NAMES_CHARS)), lining.names_share))
    for ranked, share in shares:
        for number in within(ranked, lines, room_bytes * share):
            worths[number] = max(worths.get(number, 0.0), OUTLINED)
    items = with_ends(lines, worths, room_bytes, lining.head_lean)
    pieces = Pieces(items, len(lines), divisible=lining.divisible)
    return shape_pieces(pieces, source, room, marker, f"of {len(lines):,} lines")


def lines_to_choose(source: Source, room: Room) -> Sequence[str] | None:
    """The lines of a text; None if it is too long, or one of them, to choose among them."""
    if len(source.data) > MOST_BYTES or source.lines > MOST_LINES:
        return None
    lines = unpadded(source.data.decode(errors="replace").removesuffix("\n").split("\n"))
    too_long = max(map(len, lines)) > bytes_for(room, source) * LONGEST_LINE
    return None if too_long else lines


def bytes_for(room: Room, source: Source) -> float:
    """About how many bytes of a text the room holds."""
    return room.limit * len(source.data) / max(source.size, 1)


def focused(pointed: Pointed, parts: Iterable[range]) -> Pointed:
    """The same with each line of these parts pointed at as well, or more; the best first."""
    strengths = dict(pointed)
    for number in itertools.chain.from_iterable(parts):
        strengths[number] = min(strengths.get(number, 0.0) + FOCUSED, 1.0)
    return dict(sorted(strengths.items(), key=lambda pair: -pair[1]))


def with_ends(
    lines: Sequence[str], worths: Mapping[int, float], room_bytes: float, head_lean: float
) -> list[Piece]:
    """The lines that are worth something, and as many at the ends as can have room at all."""
    total = len(lines)
    near = near_ends(lines, room_bytes * MORE_THAN_ROOM, start_only=head_lean >= 1)
    # By its place a line is worth most at the ends, the rest by how near it is to one.
    turn = max(total * head_lean, 1.0)
    rest = total - turn + 1
    return [
        Piece(
            i + 1,
            i + 1,
            lines[i],
            max(worths.get(i, 0.0), END * (1 - min(i / turn, (total - 1 - i) / rest))),
        )
        for i in sorted(near | worths.keys())
    ]


def near_ends(lines: Sequence[str], chars: float, *, start_only: bool = False) -> set[int]:
    """The lines of each end that are so long together; of the end maybe the last alone."""
    total = len(lines)
    first = _reach(lines, total, chars)
    last = _reach(reversed(lines), total, chars) if not start_only else 1
    return {*range(first), *range(total - last, total)}


def _reach(lines: Iterable[str], total: int, room_bytes: float) -> int:
    """How many of the lines fill the room."""
    for count, line in enumerate(lines, 1):
        room_bytes -= len(line) + 1
        if room_bytes < 0:
            return count
    return total


def within(numbers: Iterable[int], lines: Sequence[str], room_bytes: float) -> Iterable[int]:
    """As many of the lines as there is room for, with the gaps they make."""
    taken: set[int] = set()
    for number in numbers:
        gaps = 1 - (number - 1 in taken) - (number + 1 in taken)
        room_bytes -= len(lines[number]) + 1 + gaps * GAP_BYTES
        if room_bytes < 0:
            return
        taken.add(number)
        yield number


def raise_near(
    worths: dict[int, float],
    pointed: Pointed,
    lines: Sequence[str],
    lining: Lining,
    room_bytes: float,
) -> None:
    """Make lines worth more that the query points at, that stand around them, or above them."""
    least, beyond = lining.pointed
    left = room_bytes * lining.pointed_share
    bare = without_gutter(lines) if pointed else lines
    seen: set[int] = set()
    for number, strength in pointed.items():
        own = least + beyond * strength
        first = max(number - lining.near // 2, 0)
        around = range(first, min(number + lining.near + 1, len(lines)))
        left -= sum(len(lines[other]) + 1 for other in around if other not in seen)
        if left < 0 and seen:
            return
        seen.update(around)
        for other in (*around, *_above(bare, number)):
            worth = own if other == number else own * NEAR_SHARE
            worths[other] = max(worths.get(other, 0.0), worth)


def _above(lines: Sequence[str], number: int) -> list[int]:
    """The nearest line above that stands less deep."""
    depth = _depth(lines[number])
    for other in range(number - 1, max(number - ABOVE, 0) - 1, -1):
        if lines[other].strip() and _depth(lines[other]) < depth:
            return [other]
    return []


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
