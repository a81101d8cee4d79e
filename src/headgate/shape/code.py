"""Shape source code: its outline, what the query points at, and as many bodies as there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.marker import Marker
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.outline import outline_of
from headgate.shape.shaper import Room, Shaped, Source
from headgate.types import Query


def shape_code(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show imports and definitions before bodies; a gap says which body is left out."""
    return shape_lined(source, room, query, marker, CODE)


def _ranked(lines: Sequence[str]) -> Iterator[int]:
    """What is imported, then what is defined, outer definitions first."""
    outline = outline_of(lines)
    yield from outline.imports
    yield from (number for number, _ in outline.defined)


CODE = Lining(_ranked, outline_share=0.5, head_lean=0.5, near=14, pointed_share=1.0)
