"""The times that a CI service puts before each line: half of such a log, and no part of its output.

`2026-11-15T10:00:00.1234567Z`, before it maybe the job and the step, tab by tab. They are left out,
and one line says so, with the first and the last; lines keep their numbers. A time that a program
wrote itself is not so exact, and stays.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace

from headgate.marker import Marker
from headgate.measure.size import SEAM_TOKENS
from headgate.shape.shaper import Room, Shaped, Source, by_lines
from headgate.types import Query

_TIME = (
    rb"(?:\xef\xbb\xbf|\\ufeff)?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}Z)"
    rb" ?(?:\d\d[OE][ +])?"
)
STAMP = re.compile(b"^" + _TIME, re.MULTILINE)
STEP = re.compile(rb"^(?P<step>[^\t\n]{1,120}\t[^\t\n]{1,120}\t)" + _TIME, re.MULTILINE)
"""A time alone, and one after a job and its step."""

FIRST_BYTES = 8_192
FIRST_LINES = 24
LEAST_STAMPED = 0.9
"""What share of the first lines has one: one that was printed on two lines has one for both."""

LARGEST_PART = 4
"""The note about them may take this part of the room, else they stay."""


ABOUT_TIME = frozenset(
    {
        *("delay", "duration", "during", "elapsed", "fast", "faster", "hang", "hangs", "hung"),
        *("latency", "long", "longer", "longest", "minute", "minutes", "seconds", "slow", "slower"),
        *("slowest", "time", "times", "timestamp", "timestamps", "timing", "took", "wait", "waits"),
    }
)
"""Who asks so needs them."""


def unstamped(data: bytes) -> bytes:
    """A text without the times before its lines; a step is named where it begins."""
    pattern = _pattern_of(data)
    if pattern is not STEP:
        return pattern.sub(b"", data) if pattern else data
    last = b""

    def changed(found: re.Match[bytes]) -> bytes:
        nonlocal last
        before, last = last, found["step"]
        return b"" if last == before else last

    return STEP.sub(changed, data)


def _pattern_of(data: bytes) -> re.Pattern[bytes] | None:
    """What stands before nearly all of the first lines."""
    pattern = next((one for one in (STAMP, STEP) if one.match(data, 0, FIRST_BYTES)), None)
    if pattern is None:
        return None
    lines = itertools.islice(filter(bytes.strip, data[:FIRST_BYTES].split(b"\n")), FIRST_LINES)
    found = [pattern.match(line) is not None for line in lines]
    return pattern if sum(found) >= LEAST_STAMPED * len(found) else None


def shape_unstamped(
    source: Source,
    room: Room,
    query: Query,
    marker: Marker,
    way: Callable[[Source, Room, Marker], Shaped],
) -> Shaped | None:
    """A text without the times before its lines, in its own `way`; None where they stay."""
    data = unstamped(source.data)
    if data is source.data or not ABOUT_TIME.isdisjoint(query.words):
        return None
    note = marker.aside(f"the time before each line is left out: {_span(source.data)}") + "\n"
    size = room.size(note)
    if size * LARGEST_PART > room.limit:
        return None
    below = Room(room.limit - size - SEAM_TOKENS, room.meter)
    bare = replace(source, data=data, size=room.meter.estimate(data))
    text = data.decode(errors="replace") if bare.size <= below.limit else ""
    if text and below.fits(text):
        return Shaped(note + text, "the whole, without its times")
    # What is read back has its times.
    per_unit = marker.tokens_per_unit * source.size / max(bare.size, 1)
    shaped = way(bare, below, replace(marker, within=by_lines, tokens_per_unit=per_unit))
    shown = note + shaped.text
    return Shaped(shown, f"{shaped.how}, without their times") if room.fits(shown) else None


def _span(data: bytes) -> str:
    """From when to when a text was written."""
    pattern = _pattern_of(data) or STAMP
    ends = data[:FIRST_BYTES], data[-FIRST_BYTES:]
    times = [found["time"].decode() for end in ends for found in pattern.finditer(end)]
    return f"{times[0]} to {times[-1]}"
