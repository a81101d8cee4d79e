"""Make a text smaller and keep it readable: one file per way, one table from kind to shaper."""

from __future__ import annotations

from headgate.marker import Marker
from headgate.policy import Keep
from headgate.shape.shaper import Room, Shaped, Shaper, Source
from headgate.types import Query

__all__ = ["Room", "Shaped", "Shaper", "Source", "shape"]


def shape(
    source: Source, room: Room, query: Query, marker: Marker, *, keep: Keep, is_error: bool
) -> Shaped:
    """Shape a source; what its kind's shaper cannot read is shaped as text."""
    from headgate.shape.preface import preface_of, shape_after
    from headgate.shape.stamps import shape_unstamped
    from headgate.shape.ways import BY_POSITION

    if keep in BY_POSITION and source.kind != "binary":
        return BY_POSITION[keep](source, room, query, marker)

    def by_kind(source: Source, room: Room, marker: Marker) -> Shaped:
        return _by_kind(source, room, query, marker, is_error)

    def bare(source: Source, room: Room, marker: Marker) -> Shaped:
        shaped = shape_unstamped(source, room, query, marker, by_kind)
        return shaped or by_kind(source, room, marker)

    if source.kind == "binary":
        return by_kind(source, room, marker)
    preface = preface_of(source.data)
    shaped = shape_after(preface, source, room, marker, bare) if preface else None
    return shaped or bare(source, room, marker)


def _by_kind(source: Source, room: Room, query: Query, marker: Marker, is_error: bool) -> Shaped:
    from headgate.shape.repeats import shape_repeats
    from headgate.shape.text import shape_error, shape_text
    from headgate.shape.ways import BY_KIND, STRUCTURED

    # An error is told by its end, whatever it looks like, unless it must stay what it is.
    ways = [shape_repeats, BY_KIND.get(source.kind)]
    if is_error and source.kind not in STRUCTURED:
        ways = [shape_repeats]
    for way in filter(None, ways):
        shaped = way(source, room, query, marker)
        if shaped is not None:
            return shaped
    return (shape_error if is_error else shape_text)(source, room, query, marker)
