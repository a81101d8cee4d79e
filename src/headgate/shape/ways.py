"""One table from kind to shaper, and one from place to shaper.

It stands apart so that who only measures a result does not load what shapes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
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


def _late(module: str, name: str) -> KindShaper:
    """A shaper whose file is loaded when it is first needed: a log needs none of the others."""

    def shape(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
        shaper: KindShaper = getattr(import_module(f"headgate.shape.{module}"), name)
        return shaper(source, room, query, marker)

    return shape


BY_KIND: Mapping[Kind, KindShaper] = MappingProxyType(
    {
        "json": _late("jsons", "shape_json"),
        "jsonl": _late("jsons", "shape_json"),
        "binary": shape_binary,
        "csv": _late("table", "shape_table"),
        "tsv": _late("table", "shape_table"),
        "table": _late("table", "shape_table"),
        "diff": _late("changes", "shape_diff"),
        "git-log": _late("changes", "shape_git_log"),
        "search": _late("finds", "shape_search"),
        "listing": _late("finds", "shape_listing"),
        "code": _late("code", "shape_code"),
        "markdown": _late("documents", "shape_markdown"),
        "prose": _late("documents", "shape_prose"),
        "html": _late("html", "shape_html"),
    }
)

STRUCTURED: frozenset[Kind] = frozenset({"json", "jsonl", "binary"})
"""What is cut only by those who know its form."""

BY_POSITION: Mapping[Keep, Shaper] = MappingProxyType(
    {"head": head, "tail": tail, "head_tail": head_tail}
)
