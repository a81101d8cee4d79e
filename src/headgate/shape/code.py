"""Shape source code: its outline, what the query points at, and as many bodies as there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.marker import Marker
from headgate.shape.gutter import without_gutter
from headgate.shape.keyed import FIRST_BYTES, is_keyed, is_marked_up, is_marked_up_in_a_row
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.outline import body_of, name_defined, outline_of
from headgate.shape.settings import shape_elements, shape_settings
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import Pointed
from headgate.types import Query

SHORT_BODY = 20
"""A definition of so few lines is shown whole where its first line is what was looked for."""

MOST_NAMED = 3
"""Where more definitions than this are called alike, none of them is meant."""


def shape_code(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show imports and definitions before bodies; a gap says which body is left out.

    What is written as keys and values, or as elements, has neither, and is shaped as what it is.
    """
    first = source.data[:FIRST_BYTES].decode(errors="replace").split("\n")
    start = "\n".join(without_gutter(first)).encode()
    if is_marked_up_in_a_row(start):
        return shape_elements(source, room, query, marker)
    marked_up = is_marked_up(start)
    if marked_up or is_keyed(start):
        return shape_settings(source, room, query, marker, marked_up=marked_up)
    return shape_lined(source, room, query, marker, CODE)


def _ranked(lines: Sequence[str]) -> Iterator[int]:
    """What is imported, then what is defined, outer definitions first."""
    outline = outline_of(lines)
    yield from outline.imports
    yield from (number for number, _ in outline.defined)


def _named(lines: Sequence[str], pointed: Pointed, query: Query) -> list[range]:
    """The definitions that the query calls by their names; a name of many is a word like others.

    And what is pointed at most, if it begins a short one.
    """
    bare = without_gutter(lines)
    named = [n for n in sorted(pointed) if name_defined(bare[n]).lower() in query.words]
    bodies = [body_of(bare, number) for number in named] if len(named) <= MOST_NAMED else []
    best = next(iter(pointed), None)
    if best is not None and name_defined(bare[best]):
        body = body_of(bare, best)
        bodies += [body] if len(body) <= SHORT_BODY else []
    return bodies


CODE = Lining(_ranked, outline_share=0.5, head_lean=0.5, near=14, pointed_share=1.0, focus=_named)
