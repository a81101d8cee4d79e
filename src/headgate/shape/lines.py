"""Shape a text by lines: its ends, and between them the lines that stand out.

Lines are chosen in the order of what they are worth, paid for with what they measure and with the
gap markers they cause, and shown in the order of the text. Each gap says which lines are missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.marker import Ask, Marker
from headgate.shape.cut import prefix, suffix
from headgate.shape.shaper import Room, Shaped
from headgate.shape.sketch import Sketch

NEXT_LINES = 200
"""How many lines the marker proposes to read next: about what one answer can hold."""

LONGEST_SHARE = 8
"""A line between the ends may take at most this part of the room before it is cut inside."""

LEAST_CLIP = 24
"""A cut line smaller than this, its own marker included, says nothing."""

MUCH = 2
"""Where less than one half of the text is shown, the marker stands at the head."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """How the room is divided: `middle` for what stands out, and of the rest `head` for the start."""

    head: float
    middle: float


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a sketch that can be shown, by number."""

    first: list[str]
    """Lines 1, 2, …"""
    last: list[str]
    """… up to the last one."""
    total: int
    broken: dict[int, tuple[str, str, int]]
    """Lines of which only the start and the end are at hand, and how many characters are between."""

    def __getitem__(self, number: int) -> str | None:
        if number <= len(self.first):
            return self.first[number - 1]
        if number > self.total - len(self.last):
            return self.last[number - self.total - 1]
        return None


def lines_of(sketch: Sketch) -> Lines:
    """Take a sketch apart into lines."""
    if not sketch.tail:
        text = sketch.head.decode(errors="ignore")
        return Lines(text.removesuffix("\n").split("\n"), [], sketch.lines, {})
    *first, start = sketch.head.decode(errors="ignore").split("\n")
    end, *last = sketch.tail.decode(errors="ignore").removesuffix("\n").split("\n")
    broken: dict[int, tuple[str, str, int]] = {}
    opened, closed = len(first) + 1, sketch.lines - len(last)
    if opened == closed:
        broken[opened] = (start, end, max(sketch.open_chars - len(end), 0))
    elif start:
        broken[opened] = (start, "", sketch.open_chars)
    return Lines(first, last, sketch.lines, broken)


class Choice:
    """The lines chosen so far and what they cost."""

    def __init__(self, lines: Lines, room: Room, marker: Marker, limit: int) -> None:
        self.lines = lines
        self.room = room
        self.marker = marker
        self.limit = limit
        self.gap_cost = room.size(marker.gap(lines.total, lines.total) + "\n")
        self.shown: dict[int, str] = {}
        self.costs: dict[int, int] = {}
        self.clipped: dict[int, int] = {}
        """Cut lines, and how many characters of each are hidden."""
        self.cost = self.gap_cost

    @property
    def left(self) -> int:
        """What may still be spent."""
        return self.limit - self.cost

    def price(self, number: int, text: str) -> int:
        """What showing a line costs, the gap it makes or closes included."""
        return self.room.size(text + "\n") + self._gaps(number) * self.gap_cost

    def _gaps(self, number: int) -> int:
        left = number == 1 or number - 1 in self.shown
        right = number == self.lines.total or number + 1 in self.shown
        return 1 - left - right

    def add(self, number: int, most: int) -> bool:
        """Show a whole line if it costs at most `most`."""
        text = self.lines[number]
        if text is None or number in self.shown:
            return False
        # A token is at least one byte of at most 128 spaces: a line that cannot fit is not measured.
        if len(text) > 128 * max(most, 0) + 128:
            return False
        price = self.price(number, text)
        if price > min(most, self.left):
            return False
        self._take(number, text, price)
        return True

    def add_text(self, number: int, text: str, hidden_chars: int, most: int) -> bool:
        """Show a line as the given text."""
        price = self.price(number, text)
        if price > min(most, self.left):
            return False
        self._take(number, text, price)
        if hidden_chars:
            self.clipped[number] = hidden_chars
        return True

    def clip(self, number: int, most: int) -> bool:
        """Show the two ends of a long line, together at most `most`."""
        start, end, between = self._parts(number)
        total = len(start) + len(end) + between
        worst = self.marker.inside(total)
        most = min(most, self.left)
        room = most - self._gaps(number) * self.gap_cost - self.room.size(worst) - 2
        if room < LEAST_CLIP:
            return False
        begin = prefix(start, room * 6 // 10, self.room.meter)
        rest = suffix(end or start[len(begin) :], room - self.room.size(begin), self.room.meter)
        hidden = total - len(begin) - len(rest)
        if hidden <= 0:
            return False
        return self.add_text(number, f"{begin}{self.marker.inside(hidden)}{rest}", hidden, most)

    def _parts(self, number: int) -> tuple[str, str, int]:
        text = self.lines[number]
        return (text, "", 0) if text is not None else self.lines.broken.get(number, ("", "", 0))

    def drop(self, number: int) -> None:
        """Take a line back."""
        del self.shown[number]
        self.cost -= self.costs.pop(number) + 0
        self.clipped.pop(number, None)

    def _take(self, number: int, text: str, price: int) -> None:
        self.shown[number] = text
        self.costs[number] = price
        self.cost += price


def shape_sketch(
    sketch: Sketch, room: Room, marker: Marker, leaning: Leaning, size: int
) -> Shaped:
    """Choose and render; `size` is the measure of the whole text."""
    lines = lines_of(sketch)
    limit = room.limit - room.size(_main(marker, lines, sketch, size, room) + "\n")
    choice = Choice(lines, room, marker, limit)
    ends = int(limit * (1 - leaning.middle))
    _fill_head(choice, int(ends * leaning.head))
    _fill_tail(choice, ends - int(ends * leaning.head))
    found = _fill_middle(choice, sketch)
    _fill_rest(choice, leaning.head)
    text = _render(choice, sketch, size)
    while not room.fits(text) and choice.shown:
        _drop_some(choice, sketch, room.size(text) - room.limit)
        text = _render(choice, sketch, size)
    if not room.fits(text):
        text = marker.short(lines.total, lines.total, "lines")
    return Shaped(text, _in_words(choice, found))


def _fill_head(choice: Choice, share: int) -> None:
    _fill(choice, iter(range(1, choice.lines.total + 1)), share)


def _fill_tail(choice: Choice, share: int) -> None:
    _fill(choice, iter(range(choice.lines.total, 0, -1)), share)


def _fill(choice: Choice, numbers: Iterator[int], share: int) -> None:
    """Show lines in this order up to a share; a line that would waste half of it is cut inside."""
    stop = choice.cost + share
    for number in numbers:
        if number in choice.shown:
            continue
        if choice.add(number, stop - choice.cost):
            continue
        if stop - choice.cost > share // 2:
            choice.clip(number, stop - choice.cost)
        return


def _fill_middle(choice: Choice, sketch: Sketch) -> int:
    """Show what stands out, the most telling first, as long as there is room."""
    longest = max(choice.limit // LONGEST_SHARE, LEAST_CLIP)
    added = 0
    for line in sorted(sketch.found.values(), key=lambda line: (-line.score, line.number)):
        if choice.left < LEAST_CLIP:
            break
        if line.number in choice.shown or line.number > choice.lines.total:
            continue
        if choice.lines[line.number] is not None and choice.add(line.number, longest):
            added += 1
            continue
        part = prefix(line.data.decode(errors="ignore"), longest // 2, choice.room.meter)
        whole = choice.lines[line.number]
        hidden = (len(whole) if whole is not None else len(line.data) + line.hidden_bytes) - len(part)
        text = f"{part}{choice.marker.inside(hidden)}" if hidden > 0 else part
        added += choice.add_text(line.number, text, max(hidden, 0), longest)
    return added


def _fill_rest(choice: Choice, head_share: float) -> None:
    """Spend what is left on the ends, then on the insides of cut lines."""
    heads = iter(range(1, choice.lines.total + 1))
    tails = iter(range(choice.lines.total, 0, -1))
    start, head_spent = choice.cost, 0
    open_ends = {"head", "tail"}
    while open_ends and choice.left > 1:
        ahead = head_spent > head_share * (choice.cost - start)
        end = "tail" if "tail" in open_ends and (ahead or "head" not in open_ends) else "head"
        number = next((n for n in (tails if end == "tail" else heads) if n not in choice.shown), None)
        before = choice.cost
        if number is None or not choice.add(number, choice.left):
            open_ends.discard(end)
        if end == "head":
            head_spent += choice.cost - before
    _grow_clipped(choice)


def _grow_clipped(choice: Choice) -> None:
    """Use what is left for the longest cut line, or cut one more line into it."""
    if choice.left < max(LEAST_CLIP, choice.limit // 20):
        return
    broken = [n for n in choice.lines.broken if n in choice.clipped]
    whole = [n for n in choice.clipped if choice.lines[n] is not None]
    for number in sorted(broken + whole, key=lambda n: (-choice.clipped[n], n))[:1]:
        most = choice.left + choice.costs[number]
        hidden, text = choice.clipped[number], choice.shown[number]
        choice.drop(number)
        if not choice.clip(number, most):
            choice.add_text(number, text, hidden, most)
        return
    for number in range(1, choice.lines.total + 1):
        if number not in choice.shown:
            choice.clip(number, choice.left)
            return


def _drop_some(choice: Choice, sketch: Sketch, over: int) -> None:
    """Give back the least telling lines until `over` is paid."""
    middle = choice.lines.total / 2

    def worth(number: int) -> tuple[float, float]:
        found = sketch.found.get(number)
        return (found.score if found else 0.0, abs(number - middle))

    for number in sorted(choice.shown, key=worth):
        over -= choice.costs[number]
        choice.drop(number)
        if over <= 0:
            return


def _main(marker: Marker, lines: Lines, sketch: Sketch, size: int, room: Room) -> str:
    """The main marker at its largest, to reserve its room."""
    long = marker.long(
        sketch.chars, sketch.chars, "lines", size, Ask("lines", f"{lines.total}-{lines.total}")
    )
    if room.size(long) * 2 <= room.limit:
        return long
    return marker.short(sketch.chars, sketch.chars, "lines")


def _render(choice: Choice, sketch: Sketch, size: int) -> str:
    """Put the chosen lines in order, a marker at each gap, the main one where a reader notices it."""
    marker, total = choice.marker, choice.lines.total
    gaps = _gaps(choice)
    missing = sum(last - first + 1 for first, last in gaps)
    shown_size = choice.room.size("\n".join(choice.shown.values()))
    left_out = max(size - shown_size, 0)
    main = ""
    if missing:
        first, last = max(gaps, key=lambda gap: gap[1] - gap[0])
        ask = Ask("lines", f"{first}-{min(last, first + NEXT_LINES - 1)}")
        main = _long_or_short(choice, missing, total, left_out, ask)
    elif choice.clipped:
        hidden = sum(choice.clipped.values())
        main = marker.long(hidden, sketch.chars, "chars", left_out, Ask("page", "1"))
        if choice.room.size(main) * 2 > choice.room.limit:
            main = marker.short(hidden, sketch.chars, "chars")
    at_head = bool(main) and (left_out * MUCH > size or not gaps)
    out = [main] if at_head else []
    biggest = max(gaps, key=lambda gap: gap[1] - gap[0], default=None)
    starts = {first: (first, last) for first, last in gaps}
    number = 1
    for line in sorted(choice.shown):
        if line > number:
            out.append(_gap_line(choice, starts[number], biggest, main, at_head))
        out.append(choice.shown[line])
        number = line + 1
    if number <= total:
        out.append(_gap_line(choice, starts[number], biggest, main, at_head))
    return "\n".join(out)


def _gap_line(
    choice: Choice, gap: tuple[int, int], biggest: tuple[int, int] | None, main: str, at_head: bool
) -> str:
    if gap == biggest and not at_head:
        return main
    return choice.marker.gap(*gap)


def _long_or_short(choice: Choice, missing: int, total: int, left_out: int, ask: Ask) -> str:
    long = choice.marker.long(missing, total, "lines", left_out, ask)
    if choice.room.size(long) * 2 <= choice.room.limit:
        return long
    return choice.marker.short(missing, total, "lines")


def _gaps(choice: Choice) -> list[tuple[int, int]]:
    gaps, number = [], 1
    for line in sorted(choice.shown):
        if line > number:
            gaps.append((number, line - 1))
        number = line + 1
    if number <= choice.lines.total:
        gaps.append((number, choice.lines.total))
    return gaps


def _in_words(choice: Choice, found: int) -> str:
    cut = f", {len(choice.clipped)} cut inside" if choice.clipped else ""
    return f"{len(choice.shown):,} of {choice.lines.total:,} lines, {found:,} because they stand out{cut}"
