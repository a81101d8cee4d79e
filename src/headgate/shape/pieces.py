"""Shape a text that was taken apart: show the pieces that are worth most, in order, within a room.

A piece is what a reader wants whole or not at all: a row, a paragraph, a hunk, a commit. Whoever
takes a text apart says what each piece is worth; here it is only chosen, paid for and put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headgate.marker import Ask, Marker, Missing
from headgate.measure.lengths import bytes_in
from headgate.shape.cut import grapheme_before
from headgate.shape.fill import Drawn, fill
from headgate.shape.shaper import Room, Shaped, Source

NEXT_LINES = 200
NEXT_BYTES = 16_384
"""How much the marker proposes to read next: about what one answer can hold."""

MUCH = 2
"""Where less than one half of the text is shown, the marker stands at the head."""

MARKER_PART = 2
"""The long marker is used where it takes at most this part of the limit."""

LARGEST_PART = 4
"""A piece that would take more than this part of the room is cut inside, unless told otherwise."""

LEAST_BYTES = 12
"""No piece worth showing is smaller."""

LEAST_PART_BYTES = 160
"""Less of a sentence, and the note about its rest, says nothing."""

IN_VAIN = 400
"""When so many pieces in a row had no room, the others have none either."""

ALWAYS = float("inf")
"""The worth of a piece without which the others cannot be read: the heading of a table."""

NEVER = -ALWAYS
"""The worth of a piece that stands for what nobody looked at."""


class Piece(NamedTuple):
    """A part of a text that is shown whole or not at all."""

    first: int
    last: int
    """The lines it stands for, from 1; or its bytes, from 0, in a text of too few lines."""
    text: str
    worth: float
    before: str = ""
    """A line that is shown above it unless the piece before has the same: the file of a hit."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text as pieces, in order; lines that will not be shown anyway may be left out of them."""

    items: Sequence[Piece]
    total: int
    """Lines or bytes of the whole text."""
    what: Missing = "lines"
    rewritten: bool = False
    """The pieces are not all there is to the text: their markup is left out."""
    largest_part: int = LARGEST_PART
    divisible: bool = False
    """Half a piece is better than none: sentences, not rows."""
    before: Sequence[str] = ()
    """Lines of ours that stand above the pieces."""
    after: Sequence[str] = ()
    """Lines that may follow the pieces where there is room, such as the links of a page."""
    after_share: float = 0.0
    """What part of the room is kept for them."""
    sizes: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [bytes_in(piece.text) + 1 for piece in self.items]
        object.__setattr__(self, "sizes", sizes)


def shape_pieces(pieces: Pieces, source: Source, room: Room, marker: Marker, name: str) -> Shaped:
    """Show as much as there is room for; `name` says in `headgate explain` what the pieces are."""
    drawing = _Drawing(pieces, source, room, marker, name)
    drawn = fill(drawing.draw, room, drawing.bytes_per_unit)
    if drawn is not None:
        return Shaped(drawn.text, drawn.how)
    return Shaped(marker.short(pieces.total, pieces.total, pieces.what), "the marker alone")


class _Drawing:
    """Chooses and renders for a given number of bytes."""

    def __init__(
        self, pieces: Pieces, source: Source, room: Room, marker: Marker, name: str
    ) -> None:
        self.pieces = pieces
        self.source = source
        self.room = room
        self.marker = marker
        self.name = name
        items = pieces.items
        worths = [-piece.worth for piece in items]
        self.order = sorted(range(len(items)), key=worths.__getitem__)
        sample = "\n".join(piece.text for piece in items[:200])[:20_000]
        # What is shown may be denser or thinner than the source it was taken from.
        self.bytes_per_unit = len(sample.encode()) / max(room.size(sample), 1) if sample else 1.0
        self.size = source.size
        self.joined = _joined(pieces)
        self.gap_bytes = self._cost(marker.gap(pieces.total, pieces.total + 1, pieces.what))
        self.main_bytes = self._cost(self._main(pieces.total, pieces.total, (1, pieces.total)))
        self.main_bytes += sum(map(self._cost, pieces.before))

    def _cost(self, text: str) -> int:
        """What a text costs in bytes of the pieces: markers are dearer than their length."""
        return int((self.room.size(text) + 1) * self.bytes_per_unit) + 1

    def draw(self, most: int) -> Drawn | None:
        """The pieces for so many bytes, with a marker at each gap."""
        left = most - self.main_bytes
        after = int(left * self.pieces.after_share)
        notes = self._notes(after)
        used = sum(len(note.encode()) + 1 for note in notes)
        chosen, spent = self._choose(left - used)
        if not chosen:
            return None
        if left - used - spent > used // 4:
            notes = self._notes(left - spent)
        return self._rendered(chosen, notes)

    def _notes(self, room_bytes: int) -> list[str]:
        notes: list[str] = []
        for note in self.pieces.after:
            room_bytes -= len(note.encode()) + 1
            if room_bytes < 0:
                break
            notes.append(note)
        return notes

    def _choose(self, room_bytes: int) -> tuple[dict[int, int], int]:
        """The pieces to show and how many bytes of each, and what they take together."""
        items, sizes = self.pieces.items, self.pieces.sizes
        parts = self.pieces.largest_part if len(items) > 1 else 1
        largest = max(room_bytes // parts, LEAST_BYTES)
        chosen: dict[int, int] = {}
        spent, vain = self.gap_bytes, 0
        for i in self.order:
            full = vain > IN_VAIN or room_bytes - spent < LEAST_BYTES
            if full or items[i].worth == NEVER:
                break
            size = min(sizes[i], largest)
            around = self._gaps(i, chosen) * self.gap_bytes + self._heading(i, chosen)
            left = room_bytes - spent - around
            if size > left:
                if self.pieces.divisible and left >= LEAST_PART_BYTES:
                    chosen[i] = left
                    return chosen, room_bytes
                vain += 1
                continue
            chosen[i] = size
            spent += size + around
            vain = 0
        for i in [before + 1 for before in chosen if before + 2 in chosen]:
            between = self.joined[i] and self.joined[i + 1] and items[i].worth != NEVER
            if i not in chosen and between and sizes[i] <= self.gap_bytes:
                chosen[i] = sizes[i]
        return chosen, spent

    def _gaps(self, i: int, chosen: Mapping[int, int]) -> int:
        last = len(self.pieces.items) - 1
        left = self.joined[i] and (i == 0 or i - 1 in chosen)
        right = self.joined[i + 1] and (i == last or i + 1 in chosen)
        return 1 - left - right

    def _heading(self, i: int, chosen: Mapping[int, int]) -> int:
        before = self.pieces.items[i].before
        if not before or (i - 1 in chosen and self.pieces.items[i - 1].before == before):
            return 0
        return len(before.encode()) + 1

    def _rendered(self, chosen: Mapping[int, int], notes: Sequence[str]) -> Drawn:
        items, sizes = self.pieces.items, self.pieces.sizes
        gaps = self._missing(chosen)
        missing = self.pieces.total - self._covered(chosen)
        biggest = max(gaps, key=lambda i: gaps[i][1] - gaps[i][0], default=None)
        is_all = not gaps and all(size == sizes[i] for i, size in chosen.items())
        main = ""
        if not is_all or self.pieces.rewritten:
            first = 1 if self.pieces.what == "lines" else 0
            gap = gaps[biggest] if biggest is not None else (first, self.pieces.total)
            main = self._main(missing, self.pieces.total, gap) if missing else self._cut(chosen)
        at_head = bool(main) and (self.size > MUCH * self.room.limit or biggest is None)
        out = [*([main] if at_head else []), *self.pieces.before]
        heading = ""
        for i in (*sorted(chosen), len(items)):
            if i in gaps:
                is_main = i == biggest and not at_head
                out.append(main if is_main else self.marker.gap(*gaps[i], self.pieces.what))
                heading = ""
            if i in chosen:
                if items[i].before and items[i].before != heading:
                    out.append(items[i].before)
                heading = items[i].before
                out.append(self._clipped(items[i].text, chosen[i]))
        out += notes
        how = f"{len(chosen):,} {self.name}"
        is_all = is_all and len(notes) == len(self.pieces.after)
        return Drawn("\n".join(out), how, is_all=is_all)

    def _covered(self, chosen: Mapping[int, int]) -> int:
        """How many lines or bytes are those of shown pieces; two pieces may share a line."""
        covered, end = 0, 0
        for i in sorted(chosen):
            piece = self.pieces.items[i]
            covered += max(piece.last - max(piece.first, end + 1) + 1, 0)
            end = max(end, piece.last)
        return min(covered, self.pieces.total)

    def _missing(self, chosen: Mapping[int, int]) -> dict[int, tuple[int, int]]:
        """By the number of the piece a gap stands before: from where to where it goes."""
        items = self.pieces.items
        gaps: dict[int, tuple[int, int]] = {}
        before, line = -1, 0
        for i in (*sorted(chosen), len(items)):
            is_end = i == len(items)
            if self.pieces.rewritten and i > before + 1:
                gaps[i] = (items[before + 1].first, items[i - 1].last)
            stop = self.pieces.total if is_end else items[i].first - 1
            if not self.pieces.rewritten and stop > line:
                gaps[i] = (line + 1, stop)
            before, line = i, 0 if is_end else items[i].last
        return gaps

    def _clipped(self, text: str, size: int) -> str:
        keep = self._kept(text, size)
        return text if keep == len(text) else text[:keep] + self.marker.inside(len(text) - keep)

    def _kept(self, text: str, size: int) -> int:
        """How many characters of a piece are shown where it may take so many bytes."""
        data = text.encode()
        if len(data) + 1 <= size:
            return len(text)
        note = self._cost(self.marker.inside(len(text)))
        return grapheme_before(text, len(data[: max(size - note, 0)].decode(errors="ignore")))

    def _cut(self, chosen: Mapping[int, int]) -> str:
        """The marker where every line is shown, and some are cut inside or have no markup."""
        items, sizes = self.pieces.items, self.pieces.sizes
        cut = [i for i in sorted(chosen) if chosen[i] < sizes[i]]
        if self.pieces.rewritten:
            shown = [items[i].text[: self._kept(items[i].text, chosen[i])] for i in chosen]
            hidden = max(len(self.source.data) - sum(map(bytes_in, shown)), 0)
        else:
            texts = [items[i].text for i in cut]
            lost = [text[self._kept(text, chosen[i]) :] for i, text in zip(cut, texts, strict=True)]
            hidden = sum(map(bytes_in, lost))
        first = items[cut[0]] if cut else items[0]
        tokens = self.marker.tokens_in(self.size * hidden // max(len(self.source.data), 1))
        ask = Ask("lines", f"{first.first}-{first.last}")
        return self.marker.long(hidden, len(self.source.data), "bytes", tokens, ask)

    def _main(self, missing: int, total: int, gap: tuple[int, int]) -> str:
        first, last = gap
        if self.pieces.what == "bytes":
            ask = Ask("bytes", f"{first}-{min(last, first + NEXT_BYTES - 1)}")
        else:
            ask = Ask("lines", f"{first}-{min(last, first + NEXT_LINES - 1)}")
        tokens = self.marker.tokens_in(self.size * missing // max(total, 1))
        long = self.marker.long(missing, total, self.pieces.what, tokens, ask)
        if self.room.size(long) * MARKER_PART <= self.room.limit:
            return long
        return self.marker.short(missing, total, self.pieces.what)


def _joined(pieces: Pieces) -> list[bool]:
    """Whether nothing is missing before each piece, and after the last, if all pieces are shown."""
    if pieces.rewritten:
        return [True] * (len(pieces.items) + 1)
    ends = [0, *(piece.last for piece in pieces.items)]
    starts = [*(piece.first for piece in pieces.items), pieces.total + 1]
    return [start <= end + 1 for start, end in zip(starts, ends, strict=True)]
