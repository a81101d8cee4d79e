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
    from headgate.shape.text import shape_error, shape_text
    from headgate.shape.ways import BY_KIND, BY_POSITION

    if keep in BY_POSITION:
        return BY_POSITION[keep](source, room, query, marker)
    by_kind = BY_KIND.get(source.kind)
    shaped = by_kind(source, room, query, marker) if by_kind else None
    if shaped is not None:
        return shaped
    return (shape_error if is_error else shape_text)(source, room, query, marker)
