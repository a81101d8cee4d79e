"""Reads what a shaper shows of lines: which lines, and which its gaps name."""

import re

from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.shape.shaper import Room, Source
from headgate.shape.ways import BY_KIND
from headgate.types import Query

O200K = meter_for("o200k", "tokens")
CHARS = meter_for("o200k", "chars")
MARKER = Marker(tag="k7q2", ref="r_abcdefghijkl")
GAP = re.compile(r"\[lines? (\d+)(?:-(\d+))? omitted #k7q2\]")
MAIN = re.compile(
    r"\[([\d,]+) of ([\d,]+) (lines|bytes|chars) omitted; ?.*#k7q2\]|\[.* omitted, .*\]"
)


def shaped(kind, text: str, limit: int, *words: str, meter=O200K) -> str | None:
    """What a kind's shaper shows of a text; None where it leaves it to others."""
    data = text.encode()
    source = Source(data, kind, meter.estimate(data), data.count(b"\n") + 1)
    done = BY_KIND[kind](source, Room(limit, meter), Query(words), MARKER)
    return None if done is None else done.text


def lines_of(shown: str) -> list[str]:
    """The lines that are no marker."""
    return [line for line in shown.split("\n") if not GAP.fullmatch(line) and not MAIN.match(line)]


def missing(shown: str) -> set[int]:
    """The lines that gaps name, from 1."""
    numbers: set[int] = set()
    for first, last in GAP.findall(shown):
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers
