"""Shape a text by lines: its ends, and between them the lines that stand out.

Lines are chosen in the order of what they are worth, paid for with what they measure and with the
gap markers they cause, and shown in the order of the text. Each gap says which lines are missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.marker import Ask, Marker
from headgate.shape.choice import LEAST_CLIP, Choice, Lines, gaps_between, lines_of
from headgate.shape.light import lit
from headgate.shape.shaper import Room, Shaped
from headgate.shape.sketch import Found, Sketch

NEXT_LINES = 200
"""How many lines the marker proposes to read next: about what one answer can hold."""

LONGEST_SHARE = 8
"""A line between the ends may take at most this part of the room before it is cut inside."""

ORDINARY_CHARS = 240
"""A line of this length is shown whole or not at all: half a line of output says little."""

END_CHARS = 70
"""Of each end this much is shown at least: what ran stands there, and how it ended."""

LEAST_HIDDEN = 40
"""Hiding fewer characters than the note about it takes helps nobody."""

EARLY = 0.4
"""Where in the part of a long line that is shown stands what made it stand out."""

WORD_CHARS = 24
"""How far on a word may begin with which that part then does."""

LEAST_LINE = 4
"""No line worth showing costs less."""

FEWEST = 24
CHARS_EACH = 60
"""Lines that stand out and are looked at: some, and one for each so many characters of room."""

ROUNDS = 3
"""How often what is left after measuring is spent again."""

MOST_BYTES = 4
"""Of one character."""

SPARE = 32
"""A part of the room this small is left to the ends."""

MUCH_SPARE = 20
"""A part of the room larger than this is spent after all."""

MUCH = 2
"""Where less than one half of the text is shown, the marker stands at the head."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """How the room is divided: `middle` for what stands out, of the rest `head` for the start."""

    head: float
    middle: float


def shape_sketch(sketch: Sketch, room: Room, marker: Marker, leaning: Leaning, size: int) -> Shaped:
    """Choose and render; `size` is the measure of the whole text."""
    chars_per_unit = sketch.chars / max(size, 1)
    brightest = _brightest(sketch, int(room.limit * chars_per_unit))
    lines = lines_of(sketch, brightest)
    taken, in_full = _reserved(marker, lines, sketch, size, room)
    limit = room.limit - taken
    choice = Choice(lines, room, marker, limit, chars_per_unit=chars_per_unit, in_full=in_full)
    lights = lit(brightest, lines.at_hand.get, lines.total)
    _fill_ends(choice, leaning)
    found = _show_brightest(choice, sketch, lights)
    _close_small_gaps(choice)
    choice.settle()
    if choice.left < 0:
        _drop_some(choice, lights, -choice.left)
    _drop_lone_blanks(choice)
    _fill_rest(choice, leaning.head)
    _close_small_gaps(choice)
    text = _fitted(choice, sketch, size, lights, leaning.head)
    if not room.fits(text):
        text = marker.short(lines.total, lines.total, "lines")
    return Shaped(text, _in_words(choice, found))


def _fitted(
    choice: Choice, sketch: Sketch, size: int, lights: Mapping[int, float], head_share: float
) -> str:
    """What is chosen as a text: more of it where much room is left, less where it is too much."""
    room = choice.room
    text = _render(choice, sketch, size)
    for _ in range(ROUNDS):
        spare = room.limit - room.size(text)
        if spare > room.limit // MUCH_SPARE:
            # Markers were reckoned at their largest, or what was dropped was large.
            choice.cost = choice.limit - spare
            _fill_rest(choice, head_share)
        elif spare < 0 and len(choice.shown) > 1:
            _drop_some(choice, lights, -spare)
        else:
            break
        before, text = text, _render(choice, sketch, size)
        if text == before:
            break
    while not room.fits(text) and choice.shown:
        over = room.size(text) - room.limit
        _drop_some(choice, lights, over)
        if not choice.shown and over < choice.limit // SPARE:
            # One line alone that was cut inside: a little less of it is better than nothing.
            choice.limit -= choice.limit // SPARE
            _grow_clipped(choice)
        text = _render(choice, sketch, size)
    return text


def _fill_ends(choice: Choice, leaning: Leaning) -> None:
    """Show the ends in their share; a few lines of each wherever there is light at all."""
    ends = choice.limit * (1 - leaning.middle)
    least = min(END_CHARS / choice.chars_per_unit, choice.limit / LONGEST_SHARE)
    shares = {1: ends * leaning.head, -1: ends * (1 - leaning.head)}
    for step, share in shares.items():
        _fill_end(choice, step, int(max(share, least if 0 < leaning.head < 1 else 0)))
    choice.ends = frozenset(choice.shown)


def _fill_end(choice: Choice, step: int, share: int) -> None:
    """Show lines from one end for about a share of the room."""
    number = 1 if step > 0 else choice.lines.total
    # The line in which the share ends would go beyond it.
    last = choice.reach(number, step, int(share * choice.chars_per_unit)) - step
    if (last - number) * step < 0 or number in choice.shown:
        _fill(choice, step, share)
    else:
        choice.guess_run(min(number, last), max(number, last))


def _brightest(sketch: Sketch, chars: int) -> list[Found]:
    """Of the lines that stand out, as many as a room of so many characters may have to know."""
    ranked = sorted(sketch.found.values(), key=lambda line: (-line.score, line.number))
    return ranked[: FEWEST + chars // CHARS_EACH]


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
                # An ordinary line says nothing in half: better a little beyond the share.
                is_ordinary = choice.length(number) <= ORDINARY_CHARS
                if not is_ordinary or not choice.add(number, min(2 * left, choice.left)):
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


def _show_brightest(choice: Choice, sketch: Sketch, lights: Mapping[int, float]) -> int:
    """Show the brightest lines that fit; measured together, since one by one takes long."""
    ranked = sorted(lights, key=lambda number: (-lights[number], number))
    longest = max(int(choice.limit * choice.chars_per_unit) // LONGEST_SHARE, ORDINARY_CHARS)
    added = 0
    for _ in range(ROUNDS):
        before = len(choice.shown)
        for number in ranked:
            if choice.left < LEAST_LINE:
                break
            if number in choice.shown:
                continue
            text = choice.lines.at_hand.get(number)
            if text is not None and len(text) <= longest:
                choice.guess(number, text, 0)
            else:
                _show_part(choice, number, sketch.found.get(number), longest)
        added += len(choice.shown) - before
        if len(choice.shown) == before:
            break
        choice.settle()
        if choice.left < 0:
            _drop_some(choice, lights, -choice.left)
        if choice.left < choice.limit // SPARE:
            break
    return added


def _show_part(choice: Choice, number: int, found: Found | None, longest: int) -> None:
    """Show of a long line the part that made it stand out."""
    whole = choice.lines.at_hand.get(number)
    text = found.data.decode(errors="ignore") if found else whole
    if text is None:
        return
    # Of a line that is larger than a piece of the text, what was found knows its own piece only.
    length = max(choice.length(number), len(text) + (found.hidden_chars if found else 0))
    if whole is not None and length - longest < LEAST_HIDDEN:
        choice.guess(number, whole, 0)
        return
    start = _window(text, found, longest) if found else 0
    part = text[start : start + longest]
    before = start + (found.skipped_chars if found else 0)
    after = max(length - before - len(part), 0)
    notes = [choice.marker.inside(hidden) if hidden else "" for hidden in (before, after)]
    choice.guess(number, f"{notes[0]}{part}{notes[1]}", before + after)


def _window(text: str, found: Found, longest: int) -> int:
    """From where to show a long line, so that what made it stand out is in sight."""
    place = len(found.data[: found.place].decode(errors="ignore"))
    start = max(min(int(place - longest * EARLY), len(text) - longest), 0)
    if not start and not found.skipped_chars:
        return 0
    return text.find(" ", start, start + WORD_CHARS) + 1 or start


def _close_small_gaps(choice: Choice) -> None:
    """Show single lines that cost less than the note that they are missing."""
    for first, last in gaps_between(sorted(choice.shown), choice.lines.total):
        text = choice.lines.at_hand.get(first)
        if first == last and text is not None and len(text) < choice.gap_cost:
            choice.guess(first, text, 0)


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
    whole = [n for n in choice.clipped if n in choice.lines.at_hand]
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


def _drop_lone_blanks(choice: Choice) -> None:
    """Give back blank lines between two gaps: they say nothing, and make two gaps of one."""
    shown, total = choice.shown, choice.lines.total
    for number in [n for n, text in shown.items() if not text or text.isspace()]:
        if 1 < number < total and number - 1 not in shown and number + 1 not in shown:
            choice.drop(number)


def _drop_some(choice: Choice, lights: Mapping[int, float], over: int) -> None:
    """Give back lines until `over` is paid: the dimmest first, the ends last."""
    middle = choice.lines.total / 2
    for number in sorted(
        choice.shown, key=lambda n: (n in choice.ends, lights.get(n, 0.0), abs(n - middle))
    ):
        over -= choice.costs[number]
        choice.drop(number)
        if over <= 0:
            return


def _reserved(
    marker: Marker, lines: Lines, sketch: Sketch, size: int, room: Room
) -> tuple[int, bool]:
    """What the main marker takes at its largest, and whether there is room for all its words."""
    # Where all that is missing is inside of lines it names a byte: of a few lines, more digits.
    spans = (f"{lines.total}-{lines.total}", f"{MOST_BYTES * sketch.chars}-")
    ask = Ask("lines", max(spans, key=len))
    long = marker.long(sketch.chars, sketch.chars, "lines", marker.tokens_in(size), ask)
    taken = room.size(long + "\n")
    if taken * 2 <= room.limit:
        return taken, True
    return room.size(marker.short(sketch.chars, sketch.chars, "lines") + "\n"), False


def _render(choice: Choice, sketch: Sketch, size: int) -> str:
    """Put the chosen lines in order, a marker at each gap, the main one where it is noticed."""
    gaps = gaps_between(sorted(choice.shown), choice.lines.total)
    biggest = max(gaps, key=lambda gap: gap[1] - gap[0], default=None)
    left_out = max(size - sum(choice.costs.values()), 0)
    main = _main(choice, sketch, gaps, biggest, left_out)
    at_head = bool(main) and (left_out * MUCH > size or biggest is None)
    parts = choice.shown | {
        gap[0]: main if gap == biggest and not at_head else choice.marker.gap(*gap) for gap in gaps
    }
    lines = [parts[number] for number in sorted(parts)]
    return "\n".join([main, *lines] if at_head else lines)


def _main(
    choice: Choice,
    sketch: Sketch,
    gaps: Sequence[tuple[int, int]],
    biggest: tuple[int, int] | None,
    left_out: int,
) -> str:
    """The main marker: how many lines are missing, or characters where some are only cut."""
    marker, total = choice.marker, choice.lines.total
    tokens = marker.tokens_in(left_out)
    if biggest is not None:
        missing = sum(last - first + 1 for first, last in gaps)
        if not choice.in_full:
            return marker.short(missing, total, "lines")
        first, last = biggest
        ask = Ask("lines", f"{first}-{min(last, first + NEXT_LINES - 1)}")
        return marker.long(missing, total, "lines", tokens, ask)
    hidden = sum(choice.clipped.values())
    if not hidden:
        return ""
    if not choice.in_full:
        return marker.short(hidden, sketch.chars, "chars")
    return marker.long(hidden, sketch.chars, "chars", tokens, _ask_inside(choice))


def _ask_inside(choice: Choice) -> Ask:
    """Go on where the first cut line was cut."""
    number = min(choice.clipped)
    before = sum(len(choice.shown[n].encode()) + 1 for n in range(1, number))
    start, cut, _ = choice.shown[number].partition(choice.marker.inside(choice.clipped[number]))
    return Ask("bytes", f"{before + (len(start.encode()) if cut else 0)}-")


def _in_words(choice: Choice, found: int) -> str:
    cut = f", {len(choice.clipped)} cut inside" if choice.clipped else ""
    shown = f"{len(choice.shown):,} of {choice.lines.total:,} lines"
    return f"{shown}, {found:,} because they stand out{cut}"
