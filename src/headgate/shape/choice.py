"""The lines of a text that can be shown, and the choice among them that fits a room."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from headgate.marker import Marker
from headgate.measure.lengths import chars_in
from headgate.shape.cut import prefix, suffix
from headgate.shape.light import reach_of
from headgate.shape.shaper import Room
from headgate.shape.sketch import Found, Sketch

LEAST_CLIP = 24
"""A cut line smaller than this, its own marker included, says nothing."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a sketch that can be shown, by number."""

    first: list[str]
    """Lines 1, 2, …"""
    last: list[str]
    """… up to the last one."""
    total: int
    broken: dict[int, tuple[str, str, int]]
    """Lines of which only start and end are at hand, and the number of characters between."""

    at_hand: dict[int, str]
    """All that can be shown whole: both ends, what stands out between them, and what is around."""

    first_chars: list[int]
    last_chars: list[int]
    """How long the lines of each list are up to each one, line ends included."""

    def run(self, first: int, last: int) -> list[str]:
        """Lines that are at hand, one after the other."""
        if last <= len(self.first):
            return self.first[first - 1 : last]
        before = self.total - len(self.last)
        return self.last[first - 1 - before : last - before]

    def reach(self, number: int, step: int, chars: int) -> int:
        """The last line of a run from `number` on that is at hand and about `chars` long."""
        before = 0 if number <= len(self.first) else self.total - len(self.last)
        lengths = self.first_chars if before == 0 else self.last_chars
        place = number - before - 1
        if not 0 <= place < len(lengths):
            return number
        if step > 0:
            start = lengths[place - 1] if place else 0
            end = min(bisect_left(lengths, start + chars), len(lengths) - 1)
            return max(end, place) + before + 1
        start = bisect_right(lengths, lengths[place] - chars)
        return min(start, place) + before + 1


def lines_of(sketch: Sketch, brightest: Sequence[Found] = ()) -> Lines:
    """Take a sketch apart into lines: its ends, and around those that stand out most."""
    if not sketch.tail:
        text = sketch.head.decode(errors="ignore")
        return _lines(text.removesuffix("\n").split("\n"), [], sketch.lines, {}, {})
    head = sketch.head.decode(errors="ignore")
    *first, start = head.split("\n")
    end, *last = sketch.tail.decode(errors="ignore").removesuffix("\n").split("\n")
    opened, closed = len(first) + 1, sketch.lines - len(last)
    # The head may end inside a character.
    beyond = sketch.open_chars + chars_in(sketch.head) - len(head)
    if opened == closed:
        broken = {opened: (start, end, max(beyond - len(end), 0))}
    else:
        broken = {opened: (start, "", beyond), closed: ("", end, sketch.close_chars)}
    between = [line for line in brightest if opened < line.number < closed]
    near = _near(between)
    near.update({n: start + end for n, (start, end, hidden) in broken.items() if not hidden})
    return _lines(first, last, sketch.lines, broken, near)


def _near(found: Sequence[Found]) -> dict[int, str]:
    """The lines around those that stand out; of the first of them only the end may be at hand."""
    near: dict[int, str] = {}
    for line in found:
        up, down = reach_of(line)
        before = line.before.rsplit(b"\n", up + 1)[1:-1]
        after = line.after.split(b"\n", down)[:-1]
        near.update(enumerate(_texts(before), line.number - len(before)))
        near.update(enumerate(_texts(after), line.number + 1))
    for line in found:
        if not line.hidden_chars:
            near[line.number] = line.data.decode(errors="ignore")
        else:
            near.pop(line.number, None)
    return near


def _texts(lines: Sequence[bytes]) -> list[str]:
    return b"\n".join(lines).decode(errors="ignore").split("\n") if lines else []


def _lines(
    first: list[str],
    last: list[str],
    total: int,
    broken: dict[int, tuple[str, str, int]],
    near: dict[int, str],
) -> Lines:
    near.update(enumerate(first, 1))
    near.update(enumerate(last, total - len(last) + 1))
    return Lines(first, last, total, broken, near, _lengths(first), _lengths(last))


def _lengths(lines: list[str]) -> list[int]:
    return list(accumulate([len(line) + 1 for line in lines]))


class Choice:
    """The lines chosen so far and what they cost."""

    def __init__(
        self,
        lines: Lines,
        room: Room,
        marker: Marker,
        limit: int,
        *,
        chars_per_unit: float,
        in_full: bool,
    ) -> None:
        self.in_full = in_full
        """Whether there is room for all words of the main marker."""
        self.chars_per_unit = chars_per_unit
        """About how long a text is that measures one: a guess, made true by `settle`."""
        self.lines = lines
        self.room = room
        self.marker = marker
        self.limit = limit
        self.gap_cost = room.size(marker.gap(lines.total, lines.total + 1) + "\n")
        self.shown: dict[int, str] = {}
        self.costs: dict[int, int] = {}
        self.clipped: dict[int, int] = {}
        """Cut lines, and how many characters of each are hidden."""
        self.cost = self.gap_cost
        self.settled = True
        self.ends: frozenset[int] = frozenset()
        """Lines that are shown for where they stand, whatever they say."""

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
        text = self.lines.at_hand.get(number)
        if text is None or number in self.shown:
            return False
        # The longest token is 128 spaces: a line that cannot fit is not measured.
        if len(text) > 128 * max(most, 0) + 128:
            return False
        price = self.price(number, text)
        if price > min(most, self.left):
            return False
        self._take(number, text, price)
        return True

    def add_run(self, first: int, last: int, most: int) -> int:
        """Show a run of lines that are at hand and not shown yet, measured in one go.

        Gives what the run costs; it is shown if that is at most `most`. Texts measured together are
        never larger than one by one, so the sum of runs is safe.
        """
        texts = self.lines.run(first, last)
        joined = "\n".join(texts) + "\n"
        size = self.room.size(joined)
        left = first == 1 or first - 1 in self.shown
        right = last == self.lines.total or last + 1 in self.shown
        price = size + (1 - left - right) * self.gap_cost
        if price <= min(most, self.left):
            self.shown.update(zip(range(first, last + 1), texts, strict=True))
            for number, text in enumerate(texts, first):
                self.costs[number] = size * (len(text) + 1) // len(joined)
            self.cost += price
        return price

    def reach(self, number: int, step: int, chars: int) -> int:
        """The last line of the run from `number` on: at hand, not shown, about `chars` long."""
        last = self.lines.reach(number, step, chars)
        between = range(number, last + step, step)
        met = next((line for line in between if line in self.shown), None)
        return last if met is None else met - step

    def add_text(self, number: int, text: str, hidden_chars: int, most: int) -> bool:
        """Show a line as the given text."""
        price = self.price(number, text)
        if price > min(most, self.left):
            return False
        self._take(number, text, price)
        if hidden_chars:
            self.clipped[number] = hidden_chars
        return True

    def guess_run(self, first: int, last: int) -> None:
        """Show a run of lines that are at hand for about what they cost, not counting gaps."""
        for number, text in enumerate(self.lines.run(first, last), first):
            size = int((len(text) + 1) / self.chars_per_unit) + 1
            self.shown[number] = text
            self.costs[number] = size
            self.cost += size
        self.settled = False

    def guess(self, number: int, text: str, hidden_chars: int) -> bool:
        """Show a line if there is room for about what it costs; `settle` finds out what it does."""
        size = int((len(text) + 1) / self.chars_per_unit) + 1
        cost = self.cost + size + self._gaps(number) * self.gap_cost
        if cost > self.limit:
            return False
        self.shown[number] = text
        self.costs[number] = size
        self.cost = cost
        self.settled = False
        if hidden_chars:
            self.clipped[number] = hidden_chars
        return True

    def settle(self) -> None:
        """Measure all that is shown, and learn from it what such lines cost."""
        if self.settled:
            return
        self.settled = True
        numbers = sorted(self.shown)
        text = "".join([f"{self.shown[number]}\n" for number in numbers])
        size = self.room.size(text)
        self.chars_per_unit = len(text) / max(size, 1)
        self.costs = {
            number: size * (len(self.shown[number]) + 1) // len(text) for number in numbers
        }
        self.cost = size + (len(gaps_between(numbers, self.lines.total)) + 1) * self.gap_cost

    def clip(self, number: int, most: int) -> bool:
        """Show the two ends of a long line, together at most `most`."""
        start, end, between = self._parts(number)
        total = self.length(number)
        worst = self.marker.inside(total)
        most = min(most, self.left)
        room = most - self._gaps(number) * self.gap_cost - self.room.size(worst) - 2
        if room < LEAST_CLIP:
            return False
        is_start = bool(between) and not end
        begin = prefix(start, room if is_start else room * 6 // 10, self.room.meter)
        after = end if between else start[len(begin) :]
        rest = suffix(after, room - self.room.size(begin), self.room.meter)
        hidden = total - len(begin) - len(rest)
        if hidden <= 0 or not (begin or rest):
            return False
        return self.add_text(number, f"{begin}{self.marker.inside(hidden)}{rest}", hidden, most)

    def length(self, number: int) -> int:
        """How many characters a line has, as far as is known."""
        start, end, between = self._parts(number)
        return len(start) + len(end) + between

    def _parts(self, number: int) -> tuple[str, str, int]:
        text = self.lines.at_hand.get(number)
        return (text, "", 0) if text is not None else self.lines.broken.get(number, ("", "", 0))

    def drop(self, number: int) -> None:
        """Take a line back, and with it the gap it made or closed."""
        del self.shown[number]
        self.cost -= self.costs.pop(number) + self._gaps(number) * self.gap_cost
        self.clipped.pop(number, None)

    def _take(self, number: int, text: str, price: int) -> None:
        self.costs[number] = price - self._gaps(number) * self.gap_cost
        self.shown[number] = text
        self.cost += price


def gaps_between(numbers: Sequence[int], total: int) -> list[tuple[int, int]]:
    """The runs of lines that are not among `numbers`, which are in order."""
    gaps, number = [], 1
    for line in numbers:
        if line > number:
            gaps.append((number, line - 1))
        number = line + 1
    if number <= total:
        gaps.append((number, total))
    return gaps
