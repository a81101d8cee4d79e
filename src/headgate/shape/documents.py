"""Shape what people write to be read: Markdown by its headings, prose by its ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from headgate.marker import Marker
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.sketch import sketch_of
from headgate.types import NO_QUERY, Query

HEADING = re.compile(r"\s*(?:\d+[\t→|:] ?)?(#{1,6}) \S")
RULE = re.compile(r"(?:={3,}|-{3,})\s*$")
FENCE = re.compile(r"\s*(?:```|~~~)")


def shape_markdown(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show the headings, so that a reader knows what there is, and the text under them."""
    return shape_lined(source, room, query, marker, MARKDOWN)


def shape_prose(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show the ends, what stands out, and what the query points at.

    Whatever is not recognised as something else is prose, so trouble is looked for, too.
    """
    lining = replace(PROSE, outline=lambda lines: _standing_out(source.data, len(lines)))
    return shape_lined(source, room, query, marker, lining)


def _standing_out(data: bytes, total: int) -> list[int]:
    """The lines that stand out, counted from 0, the brightest first."""
    found = sketch_of(data, 0, NO_QUERY).found.values()
    ranked = sorted(found, key=lambda line: (-line.score, line.number))
    return [line.number - 1 for line in ranked if line.number <= total]


def headings(lines: Sequence[str]) -> list[int]:
    """Lines that are headings, higher ones first; a comment in code is none."""
    found: list[tuple[int, int]] = []
    in_code = False
    for number, line in enumerate(lines):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and (heading := HEADING.match(line)):
            found.append((len(heading[1]), number))
        elif not in_code and number and RULE.match(line) and lines[number - 1][:1].isalpha():
            found.append((1 if line.startswith("=") else 2, number - 1))
    return [number for _, number in sorted(found)]


MARKDOWN = Lining(
    headings,
    outline_share=0.08,
    head_lean=0.5,
    near=25,
    pointed_share=0.5,
    divisible=True,
    names_share=0.4,
)
PROSE = Lining(
    lambda lines: (),
    outline_share=0.25,
    head_lean=0.5,
    near=3,
    pointed_share=0.4,
    divisible=True,
    names_share=0.3,
)
