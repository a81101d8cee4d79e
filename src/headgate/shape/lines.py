"""Shape a text by lines: its ends, and between them the lines that stand out.

Lines are chosen in the order of what they are worth, paid for with what they measure and with the
gap markers they cause, and shown in the order of the text. Each gap says which lines are missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from headgate.marker import Ask, Marker
from headgate.shape.choice import LEAST_CLIP, Choice, Lines, lines_of
from headgate.shape.cut import prefix
from headgate.shape.shaper import Room, Shaped
from headgate.shape.sketch import Found, Sketch

NEXT_LINES = 200
"""How many lines the marker proposes to read next: about what one answer can hold."""

LONGEST_SHARE = 8
"""A line between the ends may take at most this part of the room before it is cut inside."""

ORDINARY_CHARS = 240
"""A line of this length is shown whole or not at all: half a line of output says little."""

LEAST_HIDDEN = 40
"""Hiding fewer characters than the note about it takes helps nobody."""

LEAST_LINE = 4
"""No line worth showing costs less."""

LINES_BEFORE = 2
LINES_AFTER = 3
INDENTED_AFTER = 12
"""What belongs to a line that stands out: what led to it, and the indented group under it."""

MUCH = 2
"""Where less than one half of the text is shown, the marker stands at the head."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """How the room is divided: `middle` for what stands out, of the rest `head` for the start."""

    head: float
    middle: float


def shape_sketch(sketch: Sketch, room: Room, marker: Marker, leaning: Leaning, size: int) -> Shaped:
    """Choose and render; `size` is the measure of the whole text."""
    lines = lines_of(sketch)
    limit = room.limit - room.size(_main(marker, lines, sketch, size, room) + "\n")
    choice = Choice(lines, room, marker, limit, chars_per_unit=sketch.chars / max(size, 1))
    ends = int(limit * (1 - leaning.middle))
    _fill(choice, 1, int(ends * leaning.head))
    _fill(choice, -1, ends - int(ends * leaning.head))
    found = _fill_middle(choice, sketch)
    _close_small_gaps(choice)
    _fill_rest(choice, leaning.head)
    text = _render(choice, sketch, size)
    while not room.fits(text) and choice.shown:
        _drop_some(choice, sketch, room.size(text) - room.limit)
        text = _render(choice, sketch, size)
    if not room.fits(text):
        text = marker.short(lines.total, lines.total, "lines")
    return Shaped(text, _in_words(choice, found))


def _fill(choice: Choice, step: int, share: int) -> None:
    """Show lines from one end up to a share; a line that would waste half of it is cut inside."""
    stop = choice.cost + share
    number = 1 if step > 0 else choice.lines.total
    while 1 <= number <= choice.lines.total:
        left = stop - choice.cost
        if number in choice.shown:
            number += step
            continue
        if left < LEAST_LINE:
            return
        taken = _take_run(choice, number, step, left)
        if not taken and not choice.add(number, left):
            if left > share // 2:
                choice.clip(number, left)
            return
        number += step * max(taken, 1)


def _take_run(choice: Choice, number: int, step: int, left: int) -> int:
    """Show as many lines from `number` on as fit, guessing how many; 0: not even two."""
    most = min(left, choice.left)
    # A guess that is a little short fits at once; what is left then costs little to look at.
    reach = choice.reach(number, step, int(most * choice.chars_per_unit * 0.95))
    count = abs(reach - number) + 1
    while count > 1:
        last = number + step * (count - 1)
        price = choice.add_run(min(number, last), max(number, last), most)
        if price <= most:
            return count
        count = min(count - 1, count * most // price)
    return 0


def _fill_middle(choice: Choice, sketch: Sketch) -> int:
    """Show what stands out, the most telling first, then what stands around it."""
    ordinary = int(ORDINARY_CHARS / choice.chars_per_unit)
    longest = max(choice.limit // LONGEST_SHARE, min(ordinary, choice.limit)) + choice.gap_cost
    ranked = sorted(sketch.found.values(), key=lambda line: (-line.score, line.number))
    added: list[Found] = []
    for line in ranked:
        if choice.left < LEAST_CLIP:
            break
        if line.number not in choice.shown and _add_found(choice, line, longest):
            added.append(line)
    for line in added:
        if choice.left < LEAST_CLIP:
            break
        _add_near(choice, line, longest)
    return len(added)


def _add_found(choice: Choice, line: Found, longest: int) -> bool:
    if choice.add(line.number, longest):
        return True
    whole = choice.lines[line.number]
    text = line.data.decode(errors="ignore")
    length = len(whole) if whole is not None else len(text) + line.hidden_bytes
    part = text
    if choice.room.size(text) > longest // 2 or length > len(text):
        part = prefix(text, longest // 2, choice.room.meter)
    hidden = length - len(part)
    if 0 < hidden < LEAST_HIDDEN:
        part, hidden = whole or text, 0
    shown = f"{part}{choice.marker.inside(hidden)}" if hidden > 0 else part
    return choice.add_text(line.number, shown, hidden, longest)


def _add_near(choice: Choice, line: Found, longest: int) -> None:
    """Show what led to a line, and the indented group under it."""
    before = line.before.removesuffix(b"\n").split(b"\n")[1:][::-1]
    for step, data in enumerate(before[:LINES_BEFORE], 1):
        if not _add_neighbour(choice, line.number - step, data, longest):
            break
    after = line.after.split(b"\n")[:-1]
    for step, data in enumerate(after[:INDENTED_AFTER], 1):
        if step > LINES_AFTER and data[:1] not in (b" ", b"\t"):
            break
        if not _add_neighbour(choice, line.number + step, data, longest):
            break


def _add_neighbour(choice: Choice, number: int, data: bytes, longest: int) -> bool:
    if number in choice.shown:
        return True
    if number < 1 or number > choice.lines.total:
        return False
    if choice.lines[number] is not None:
        return choice.add(number, longest)
    return choice.add_text(number, data.decode(errors="ignore"), 0, longest)


def _close_small_gaps(choice: Choice) -> None:
    """Show single lines that cost less than the note that they are missing."""
    for first, last in _gaps(choice):
        if first == last:
            choice.add(first, 0)


def _fill_rest(choice: Choice, head_share: float) -> None:
    """Spend what is left on the ends, then on the insides of cut lines."""
    _fill(choice, 1, int(choice.left * head_share))
    if head_share < 1:
        _fill(choice, -1, choice.left)
    if head_share > 0:
        _fill(choice, 1, choice.left)
    _grow_clipped(choice)


def _grow_clipped(choice: Choice) -> None:
    """Use what is left for the longest cut line, or cut one more line into it."""
    if choice.left < max(LEAST_CLIP, choice.limit // 20):
        return
    broken = [n for n in choice.lines.broken if n in choice.clipped]
    whole = [n for n in choice.clipped if choice.lines[n] is not None]
    for number in sorted(broken + whole, key=lambda n: (-choice.clipped[n], n))[:1]:
        hidden, text = choice.clipped[number], choice.shown[number]
        choice.drop(number)
        if not choice.clip(number, choice.left):
            choice.add_text(number, text, hidden, choice.left)
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
    """Put the chosen lines in order, a marker at each gap, the main one where it is noticed."""
    marker, total = choice.marker, choice.lines.total
    gaps = _gaps(choice)
    missing = sum(last - first + 1 for first, last in gaps)
    left_out = max(size - sum(choice.costs.values()), 0)
    main = ""
    if missing:
        first, last = max(gaps, key=lambda gap: gap[1] - gap[0])
        ask = Ask("lines", f"{first}-{min(last, first + NEXT_LINES - 1)}")
        main = _long_or_short(choice, missing, total, left_out, ask)
    elif choice.clipped:
        hidden = sum(choice.clipped.values())
        main = marker.long(hidden, sketch.chars, "chars", left_out, _ask_inside(choice))
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


def _ask_inside(choice: Choice) -> Ask:
    """Go on where the first cut line was cut."""
    number = min(choice.clipped)
    before = sum(len(choice.shown[n].encode()) + 1 for n in range(1, number))
    start = choice.shown[number].partition(choice.marker.inside(choice.clipped[number]))[0]
    return Ask("bytes", f"{before + len(start.encode())}-")


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
    shown = f"{len(choice.shown):,} of {choice.lines.total:,} lines"
    return f"{shown}, {found:,} because they stand out{cut}"
