"""Answers to requests: at most the limit, with a last line that says how to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from headgate.marker import Marker
from headgate.read.footer import closed
from headgate.read.original import Original
from headgate.read.page import by_page
from headgate.read.request import Request, Span
from headgate.read.search import by_search
from headgate.read.value import by_path
from headgate.read.window import by_bytes, by_lines
from headgate.shape.shaper import Room

if TYPE_CHECKING:
    from headgate.read.rows import RunQuery

FROM_THE_START = Span(1, None)


def answer(
    request: Request,
    original: Original,
    room: Room,
    marker: Marker,
    *,
    clock: Callable[[], int],
    run_query: RunQuery,
) -> str:
    """Show what was asked for; `clock` gives nanoseconds and stops a search that takes too long.

    `run_query` answers SQL; it alone reaches beyond this process. Raises `RequestError` where the
    request cannot be met, in words for who made it. The original is read in pieces, except as JSON
    or as a table.
    """
    if original.length == 0:
        return closed("", "the result is empty", marker.end, room, marker)
    if request.sql is not None:
        from headgate.read.rows import by_sql  # only for who asks in SQL

        return by_sql(request, original, room, marker, run_query)
    if request.search is not None:
        return by_search(request, original, room, marker, clock)
    if request.path is not None:
        return by_path(request, original, room, marker)
    if request.page is not None:
        return by_page(request, original, room, marker)
    if request.bytes is not None:
        return by_bytes(request.bytes, original, room, marker)
    return by_lines(request.lines or FROM_THE_START, original, room, marker)
