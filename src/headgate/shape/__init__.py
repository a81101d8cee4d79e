"""Make a text smaller and keep it readable: one file per way, one table from kind to shaper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from headgate.marker import Marker
from headgate.policy import Keep
from headgate.shape.binary import shape_binary
from headgate.shape.jsons import shape_json
from headgate.shape.shaper import Room, Shaped, Shaper, Source
from headgate.shape.text import head, head_tail, shape_error, shape_text, tail
from headgate.types import Kind, Query

__all__ = ["BY_KIND", "BY_POSITION", "Room", "Shaped", "Shaper", "Source", "shape"]

KindShaper: TypeAlias = Callable[[Source, Room, Query, Marker], Shaped | None]
"""Gives None where the text is not of its kind after all."""

BY_KIND: Mapping[Kind, KindShaper] = MappingProxyType(
    {"json": shape_json, "jsonl": shape_json, "binary": shape_binary}
)

BY_POSITION: Mapping[Keep, Shaper] = MappingProxyType(
    {"head": head, "tail": tail, "head_tail": head_tail}
)


def shape(
    source: Source, room: Room, query: Query, marker: Marker, *, keep: Keep, is_error: bool
) -> Shaped:
    """Shape a source; what its kind's shaper cannot read is shaped as text."""
    if keep in BY_POSITION:
        return BY_POSITION[keep](source, room, query, marker)
    by_kind = BY_KIND.get(source.kind)
    shaped = by_kind(source, room, query, marker) if by_kind else None
    if shaped is not None:
        return shaped
    return (shape_error if is_error else shape_text)(source, room, query, marker)
