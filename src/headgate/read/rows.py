"""By SQL: the rows that a query gives, a page of them if they do not fit."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from headgate.errors import RequestError
from headgate.marker import Ask, Marker
from headgate.normalise import normalise
from headgate.read.document import document_of
from headgate.read.footer import closed, fitted
from headgate.read.original import Original
from headgate.read.page import listed_in
from headgate.read.request import Request
from headgate.shape.cut import prefix
from headgate.shape.kinds import recognise
from headgate.shape.pages import Page, Span, shrunk, span_of
from headgate.shape.shaper import Room
from headgate.slices import depth_of

Format = Literal["json", "jsonl", "csv"]

TABLE_BYTES = 64 * 1024 * 1024
"""A larger result is not made a table."""

PAGE_ROWS = 200

NARROWER = "name fewer columns, or cut long ones with substr, to see all of it"


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gives; None stands for NULL."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | None]]
    more: bool
    """Whether there are more rows than are given."""


RunQuery: TypeAlias = Callable[[str, Format, bytes], Rows]


def by_sql(request: Request, original: Original, room: Room, marker: Marker, run: RunQuery) -> str:
    """Show the rows of a query as CSV, its header on every page."""
    query = request.sql or ""
    kind, data = table_of(original)
    found = run(query, kind, data)
    if not found.rows:
        header = _line(found.columns)
        return closed(header, "no rows", "this is all", room, marker)
    span = span_of(len(found.rows), Page(request.page or 1, request.page_size or PAGE_ROWS))

    def make(limit: int) -> str:
        lines, shown = _lines(found, span, limit, room)
        words = _in_words(found, shown)
        go_on: Ask | str = _go_on(query, found, shown)
        if not lines:
            row = _line(found.columns) + _line(found.rows[span.start])
            lines, words = [prefix(row, limit, room.meter)], f"a part of {words}"
            go_on = go_on if shown.has_more else NARROWER
        return closed("".join(lines), words, go_on, room, marker)

    return fitted(make, room, _longest_end(query, found, room, marker))


def table_of(original: Original) -> tuple[Format, bytes]:
    """A result as the rows it is; `RequestError` where it is neither JSON nor a table."""
    if original.length > TABLE_BYTES:
        raise RequestError(
            f"the result has {original.length:,} bytes; beyond {TABLE_BYTES:,} it is not made a "
            "table: read it by lines, search or path"
        )
    data = document_of(original).data.strip()
    if data.startswith((b"[", b"{")) and depth_of(data) is not None:
        listed = listed_in(data) if data.startswith(b"{") else None
        if listed is not None:
            return "json", listed[1]
        return "json", data if data.startswith(b"[") else b"[%b]" % data
    kind = recognise(data, tool=original.about.tool)
    if kind == "jsonl":
        return "jsonl", data
    if kind in ("csv", "tsv"):
        return "csv", data
    raise RequestError("the result is neither JSON nor CSV; read it by lines, search or page")


def _lines(found: Rows, span: Span, limit: int, room: Room) -> tuple[list[str], Span]:
    """The header and whole rows of a page, as many as fit, and the page they are."""
    lines = [_line(found.columns)]
    limit -= room.size(lines[0])
    for row in found.rows[span.start : span.stop]:
        line = _line(row)
        limit -= room.size(line)
        if limit < 0:
            break
        lines.append(line)
    count = len(lines) - 1
    shown = span if count == span.stop - span.start else shrunk(span, count)
    return (lines[: 1 + shown.stop - shown.start] if count else []), shown


def _line(row: Sequence[str | None]) -> str:
    """A row as a line of CSV; NULL is empty. A query can put together what no result says."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow("" if value is None else value for value in row)
    return normalise(out.getvalue().encode()).decode()


def _in_words(found: Rows, span: Span) -> str:
    total = f"the first {span.total:,}" if found.more else f"{span.total:,}"
    if span.stop <= span.start + 1:
        return f"row {span.start + 1:,} of {total}"
    return f"rows {span.start + 1:,}-{span.stop:,} of {total}"


def _go_on(query: str, found: Rows, span: Span) -> Ask | str:
    if span.has_more:
        size = Ask("page_size", str(span.size))
        return Ask("sql", query, Ask("page", str(span.number + 1), size))
    return "a query with a WHERE or a LIMIT shows others" if found.more else "this is all"


def _longest_end(query: str, found: Rows, room: Room, marker: Marker) -> str:
    total = len(found.rows)
    span = Span(total, total, total - 2, total, total + 1)
    words = f"a part of {_in_words(found, span)}"
    return closed("", words, _go_on(query, found, span), room, marker)
