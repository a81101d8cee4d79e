"""Shape any text: its ends and what stands out between, leaning by kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from headgate.marker import Marker
from headgate.shape.lines import Leaning, shape_sketch
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.signs import ends_well
from headgate.shape.sketch import ends_of, sketch_of
from headgate.shape.traits import PROMPT, STATUS
from headgate.types import Kind, Query, Unit

END_BYTES: Mapping[Unit, int] = MappingProxyType({"tokens": 16, "chars": 4, "bytes": 1})
"""Bytes at each end that are kept for choosing, for each unit of room: more than it can show."""

LEAST_END_BYTES = 16 * 1024

LEANING: Mapping[Kind, Leaning] = MappingProxyType(
    {
        "test": Leaning(head=0.15, middle=0.92),
        "build": Leaning(head=0.15, middle=0.95),
        "log": Leaning(head=0.3, middle=0.9),
        "trace": Leaning(head=0.25, middle=0.3),
        "prose": Leaning(head=0.7, middle=0.2),
        "markdown": Leaning(head=0.7, middle=0.2),
        "html": Leaning(head=0.6, middle=0.2),
        "search": Leaning(head=0.6, middle=0.4),
        "listing": Leaning(head=0.6, middle=0.4),
    }
)
"""Checks and builds end with what went wrong; files are read from the top."""

SUMMARY_BYTES = 1_000
"""Where a run says how many of its parts failed."""

ENDS_A_SCREEN = (re.compile(PROMPT.encode(), re.MULTILINE), re.compile(STATUS.encode()))
SCREEN_BYTES = 4_000
SCREEN = Leaning(head=0.0, middle=0.0)
"""What the terminal of an agent shows ends with its prompt, and above it with its newest words."""

EVEN = Leaning(head=0.5, middle=0.35)
ERROR = Leaning(head=0.2, middle=0.4)
"""An error ends with what it is."""


def shape_text(source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
    """Keep the ends and what stands out between them."""
    sketch = sketch_of(source.data, end_bytes(room), query)
    leaning = leaning_of(source.kind, source.data)
    return shape_sketch(sketch, room, marker, leaning, source.size)


def shape_error(source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
    """Keep the end of an error before all else."""
    sketch = sketch_of(source.data, end_bytes(room), query)
    return shape_sketch(sketch, room, marker, ERROR, source.size)


def leaning_of(kind: Kind, data: bytes) -> Leaning:
    """How the room is divided, by kind; a run that ends by saying that nothing failed is even."""
    screen = data[-SCREEN_BYTES:]
    if kind == "log" and all(sign.search(screen) for sign in ENDS_A_SCREEN):
        return SCREEN
    leaning = LEANING.get(kind, EVEN)
    is_even = leaning.middle > EVEN.middle and ends_well(data[-SUMMARY_BYTES:])
    return EVEN if is_even else leaning


def head(source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
    """Keep the start."""
    return ends(source, room, marker, 1.0)


def tail(source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
    """Keep the end."""
    return ends(source, room, marker, 0.0)


def head_tail(source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
    """Keep as much of the start as of the end."""
    return ends(source, room, marker, 0.5)


def end_bytes(room: Room) -> int:
    """How much of each end a sketch keeps for this room."""
    return max(room.limit * END_BYTES[room.meter.unit], LEAST_END_BYTES)


def ends(source: Source, room: Room, marker: Marker, head_share: float) -> Shaped:
    """Keep the two ends, `head_share` of the room for the start."""
    sketch = ends_of(source.data, end_bytes(room))
    return shape_sketch(sketch, room, marker, Leaning(head_share, 0.0), source.size)
