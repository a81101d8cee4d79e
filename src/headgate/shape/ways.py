"""One table from kind to shaper, and one from place to shaper.

It stands apart so that who only measures a result does not load what shapes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from headgate.marker import Marker
from headgate.policy import Keep
from headgate.shape.binary import shape_binary
from headgate.shape.shaper import Room, Shaped, Shaper, Source
from headgate.shape.text import head, head_tail, tail
from headgate.types import Kind, Query

KindShaper: TypeAlias = Callable[[Source, Room, Query, Marker], Shaped | None]
"""Gives None where the text is not of its kind after all."""


def _shape_json(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    from headgate.shape.jsons import shape_json  # half of all shaping; a log needs none of it

    return shape_json(source, room, query, marker)


BY_KIND: Mapping[Kind, KindShaper] = MappingProxyType(
    {"json": _shape_json, "jsonl": _shape_json, "binary": shape_binary}
)

BY_POSITION: Mapping[Keep, Shaper] = MappingProxyType(
    {"head": head, "tail": tail, "head_tail": head_tail}
)
