"""Texts that repeat themselves: what comes again is counted, so that all that differs has room.

First without any loss: a line that comes many times in a row is shown once, with its count. Where
that is not enough, lines that differ from the one before only in their digits are left out first,
and if those alone make the rest fit, nothing else is missing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress
from operator import eq

from headgate.marker import Marker
from headgate.shape.far import far_places
from headgate.shape.lined import bytes_for, with_ends
from headgate.shape.pieces import ALWAYS, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import pointed_by
from headgate.types import Kind, Query

MOST_DIFFERENT = 0.95
"""Where more of the lines differ, hardly any repeats what stands before it."""

LEAST_SHARE = 0.5
"""Where fewer lines are the same as the one before, saying so helps little."""

MOST_RUNS = 10_000
"""A text with more changes from line to line does not say the same over and over."""

LEAP_BYTES = 1 << 16
"""How much of a line over and over is compared at once."""

ALIKE_BYTES = 4 << 20
ALIKE_LINES = 40_000
"""Up to this size of text lines that differ in digits are looked for."""

LEAST_SAME = 3
"""A line that comes less often takes less than the words about it."""

LEAST_ALIKE = 6
LONGEST_PERIOD = 4
"""How many alike lines in a row are a repetition, and of how many lines one round may consist."""

MOST_OF_ROOM = 0.8
"""What differs may take this part of the room; more, and others choose better what to show."""

INNER = 10.0
"""What a line of a repetition is worth that the query points at."""

NUMBER = re.compile(rb"\d+(?:\.\d+)?")
FAR_LINE = 15.0
FAR_SHARE = 0.05
LEAST_COMPARED = 40
MOST_COMPARED = 4_000
"""What a line of it is worth with a number far from the others, where few have one; of how many
lines that is told."""

GAP_BYTES = 36
"""About what the note at a gap takes."""

SAMPLES = 8
SAMPLE_BYTES = 4_096
UNSURE = 0.25
"""Where a text is looked at for repetition before all of it is, and how wrong that may be."""

OTHERS: frozenset[Kind] = frozenset({"json", "jsonl", "html", "binary", "csv", "tsv", "table"})
"""Kinds that have a way of their own with what comes again."""

DIGITS = b"0123456789"

WHOLE = "the whole, repeated lines counted"
NOTE = "each gap leaves out only lines that differ from those before it in nothing but digits"


def shape_repeats(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show all that differs; None where repetition is not what makes the text too big."""
    if source.kind in OTHERS:
        return None
    too_much = 1 - room.limit * MOST_OF_ROOM / max(source.size, 1)
    if _alike_share(source.data) < too_much - UNSURE:
        return None
    return _counted(source, room, marker) or _alike(source, room, query, marker)


def _alike_share(data: bytes) -> float:
    """How much of the text seems to repeat what stands just before it, told from a few places."""
    alike = total = 0
    for sample in _samples(data):
        lines = sample.translate(None, DIGITS).split(b"\n")[1:-1]
        total += sum(map(len, lines)) + len(lines)
        if len(set(lines)) > MOST_DIFFERENT * len(lines):
            continue
        # A bit for each line, and all lines at once: one by one takes long.
        repeated = 0
        for period in range(1, LONGEST_PERIOD + 1):
            as_before = bytes(map(eq, lines[period:], lines))
            repeated |= int.from_bytes(as_before, "little") << 8 * period
        as_any_before = repeated.to_bytes(len(lines), "little")
        alike += sum(compress(map(len, lines), as_any_before)) + sum(as_any_before)
    return alike / max(total, 1)


def _same_share(data: bytes) -> float:
    """How many lines seem to be the same as the one before, told from a few places."""
    same = total = 0
    for sample in _samples(data):
        lines = sample.split(b"\n")[1:-1]
        same += sum(map(eq, lines[1:], lines))
        total += len(lines)
    return same / max(total, 1)


def _samples(data: bytes) -> list[bytes]:
    if len(data) <= SAMPLES * SAMPLE_BYTES:
        return [data]
    step = len(data) // SAMPLES
    starts = range(0, step * SAMPLES, step)
    return [data[start : start + SAMPLE_BYTES] for start in starts]


def _counted(source: Source, room: Room, marker: Marker) -> Shaped | None:
    """The whole, each line that comes again at once with how often it does."""
    if _same_share(source.data) < LEAST_SHARE - UNSURE:
        return None
    runs = _runs(source.data)
    if runs is None or source.lines - len(runs) < LEAST_SHARE * source.lines:
        return None
    out: list[str] = []
    saved, before = 0, marker.lines_before
    for line, times in runs:
        out += _said_once(line.decode(errors="replace"), times, before + 1, marker)
        saved += (times - 1) * (len(line) + 1)
        before += times
    if saved * 2 < len(source.data) * (1 - room.limit / max(source.size, 1)):
        return None
    whole = "\n".join(out)
    return Shaped(whole, WHOLE) if room.fits(whole) else None


def _said_once(text: str, times: int, first: int, marker: Marker) -> list[str]:
    if times < LEAST_SAME:
        return [text] * times
    last = first + times - 1
    if not text.strip():
        return [marker.aside(f"lines {first}-{last} are blank")]
    return [text, marker.aside(f"line {first} comes {times:,} times, up to {last}")]


def _runs(data: bytes) -> list[tuple[bytes, int]] | None:
    """Each line and how often it comes in a row; None where it changes too often."""
    if not data.endswith(b"\n"):
        data += b"\n"
    runs: list[tuple[bytes, int]] = []
    at = 0
    while at < len(data):
        if len(runs) == MOST_RUNS:
            return None
        line = data[at : data.index(b"\n", at) + 1]
        end = _end_of_run(data, line, at + len(line))
        runs.append((line[:-1], (end - at) // len(line)))
        at = end
    return runs


def _end_of_run(data: bytes, line: bytes, at: int) -> int:
    """Where a line no longer comes again; in leaps, twice as far each time, and back again."""
    leap = line
    while data.startswith(leap, at):
        at += len(leap)
        leap += leap if len(leap) < LEAP_BYTES else b""
    while len(leap) > len(line):
        leap = leap[: len(leap) // 2]
        at += len(leap) if data.startswith(leap, at) else 0
    return at


def _alike(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """All lines but those inside repetitions, of which the first ones are shown."""
    if len(source.data) > ALIKE_BYTES or source.lines > ALIKE_LINES:
        return None
    lines = source.data.removesuffix(b"\n").split(b"\n")
    runs = inner_runs(source.data.removesuffix(b"\n").translate(None, DIGITS).split(b"\n"))
    if not runs:
        return None
    room_bytes = bytes_for(room, source)
    alike = sum(sum(map(len, lines[start:stop])) + stop - start for start, stop in runs)
    if len(source.data) - alike + len(runs) * GAP_BYTES > room_bytes * MOST_OF_ROOM:
        return None
    texts = source.data.decode(errors="replace").removesuffix("\n").split("\n")
    pointed = pointed_by(query, texts)
    worths = dict.fromkeys(_far_lines(lines, runs), FAR_LINE)
    worths |= {i: INNER * (1 + strength) for i, strength in pointed.items()}
    outside = list(_outside(runs, len(lines)))
    worths |= dict.fromkeys(outside, ALWAYS)
    items = with_ends(texts, worths, room_bytes, 1.0)
    pieces = Pieces(items, len(lines), before=(marker.aside(NOTE),))
    how = f"of {len(lines):,} lines, the others alike"
    shaped = shape_pieces(pieces, source, room, marker, how)
    # The note is true only if there was room for every line that is like no other.
    lost = Counter(texts[i] for i in outside) - Counter(shaped.text.split("\n"))
    return None if lost else shaped


def _far_lines(lines: Sequence[bytes], runs: Sequence[tuple[int, int]]) -> Iterator[int]:
    """Lines of a repetition with a number far from those that stand in its place in the others."""
    numbers = [i for start, stop in runs for i in range(start, stop)]
    alike: defaultdict[bytes, list[int]] = defaultdict(list)
    for i in numbers if len(numbers) <= MOST_COMPARED else ():
        alike[lines[i].translate(None, DIGITS)].append(i)
    for group in alike.values():
        columns = [*zip(*(NUMBER.findall(lines[i]) for i in group), strict=False)]
        for column in columns if len(group) >= LEAST_COMPARED else ():
            far = far_places([*map(float, column)])
            yield from (group[place] for place in far if len(far) <= FAR_SHARE * len(group))


def inner_runs(forms: Sequence[bytes]) -> list[tuple[int, int]]:
    """Where repetitions are, but for their first and last round: from which line up to which."""
    found: list[tuple[int, int]] = []
    for period in range(1, LONGEST_PERIOD + 1):
        as_before = bytes(map(eq, forms[period:], forms))
        long_enough = re.finditer(b"\1{%d,}" % max(LEAST_ALIKE, 2 * period), as_before)
        found += [(run.start() + period, run.end()) for run in long_enough]
    runs: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if runs and start <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(stop, runs[-1][1]))
        else:
            runs.append((start, stop))
    return runs


def _outside(runs: Sequence[tuple[int, int]], total: int) -> Iterator[int]:
    after = 0
    for start, stop in (*runs, (total, total)):
        yield from range(after, start)
        after = stop
