"""Shape a table: heading, what the columns hold, the rows that the query names or that differ.

CSV, TSV, and columns set with spaces. A row is shown whole, as it is written, or not at all.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, repeat

from headgate.marker import Marker
from headgate.shape.columns import (
    MOST_COLUMNS,
    SAMPLE_ROWS,
    Column,
    column_of,
    in_columns,
    odd_rows,
)
from headgate.shape.extremes import asked_ends, asked_fields, unnamed_fields
from headgate.shape.lined import bytes_for, with_ends
from headgate.shape.pieces import ALWAYS, Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import Pointed, pointed_by, singular
from headgate.types import Kind, Query

MOST_BYTES = 4 << 20
MOST_ROWS = 40_000
"""A longer table is shaped as any text: looking at every cell would take too long."""

LEAST_ROWS = 3

LEAST_COLUMNS = 2
"""Lines alike in their words alone are no table: a log whose odd line would then be overlooked."""

POINTED = (20.0, 80.0)
"""What a row is worth that the query names: the least, and what the best has beyond it."""

ODD = 50.0
ODD_NEXT = 0.85
"""What a row is worth that differs, and what the next one is worth of that."""

HEAD_LEAN = 0.6
"""How much nearer to its end the last row is than the first row to its start."""

NOTE_PART = 6
"""What the columns hold is said where it takes at most this part of the limit."""

DELIMITERS: dict[Kind, str] = {"csv": ",", "tsv": "\t"}
SPACED = re.compile(r"\s*[|│]\s*|\s{2,}|\t")
RULED_CHARS = 200
"""How far the line between the heading and the rows is looked at."""

DIGITS = re.compile(r"\d+")
LIKE_ROWS = 8
"""Without a heading one of the next rows is like the first wherever there are numbers."""

RULED = re.compile(r"[-=+|: │─═━┌┬┐╭╮├┼┤╞╪╡╠╬╣╔╦╗┏┳┓┡╇┩]*[-=─═━]{2,}[-=+|: │─═━┬┐╮┼┤╪╡╬╣╦╗┳┓╇┩]*")


@dataclass(frozen=True, slots=True)
class Table:
    """A table by column, its heading included."""

    columns: list[list[str]]
    rows: int
    ends: Sequence[int] | None = None
    """The line that each row ends on, from 1, where a row may have several."""

    def span(self, row: int) -> tuple[int, int]:
        """The lines that a row stands on, from 1; rows are counted from 0."""
        if self.ends is None:
            return row + 1, row + 1
        return self.ends[row - 1] + 1 if row else 1, self.ends[row]


class _Rows(Sequence[str]):
    """The rows of a table as text, put together when they are asked for."""

    def __init__(self, lines: Sequence[str], table: Table) -> None:
        self._lines = lines
        self._table = table

    def __len__(self) -> int:
        return self._table.rows

    def __getitem__(self, row: int) -> str:  # type: ignore[override]  # no caller wants a slice
        if row >= self._table.rows:
            raise IndexError(row)
        first, last = self._table.span(row)
        return "\n".join(self._lines[first - 1 : last])


def shape_table(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Shape a table; None if it is none after all, or too long to look at every cell."""
    if len(source.data) > MOST_BYTES or source.lines > MOST_ROWS:
        return None
    text = source.data.decode(errors="replace").removesuffix("\n")
    lines = text.split("\n")
    if source.kind == "table":
        table = _spaced(text, lines)
    else:
        table = _delimited(text, lines, DELIMITERS[source.kind])
    if table is None or table.rows < LEAST_ROWS or len(table.columns) < LEAST_COLUMNS:
        return None
    heading = _heading(table, lines)
    names = _names(table, lines)
    columns = [column_of(cells[heading:]) for cells in table.columns]
    texts = lines if table.ends is None else _Rows(lines, table)
    numeric = [name for name, one in zip(names, columns, strict=True) if one.ends]
    asked = asked_fields(names, query.words) or unnamed_fields(numeric, query.words)
    ends = [
        row
        for name, one in zip(names, columns, strict=True)
        if name in asked and one.ends
        for row in asked_ends(*one.ends, query.words)
    ]
    worths = _worths(
        pointed_by(_in_singular(query, text), texts),
        odd=[heading + row for row in odd_rows(columns)],
        asked=[heading + row for row in ends],
    )
    worths |= dict.fromkeys(range(heading), ALWAYS)
    room_bytes = bytes_for(room, source)
    items = [
        Piece(*table.span(one.first - 1), one.text, one.worth)
        for one in with_ends(texts, worths, room_bytes, HEAD_LEAN)
    ]
    note = marker.aside(_in_words(names, columns))
    notes = (note,) if heading and room.size(note) * NOTE_PART <= room.limit else ()
    pieces = Pieces(items, len(lines), before=notes)
    return shape_pieces(pieces, source, room, marker, f"of {table.rows:,} rows")


def _names(table: Table, lines: Sequence[str]) -> list[str]:
    """What the columns are called: in a table that is drawn with lines, by its second line."""
    row = 1 if RULED.fullmatch(lines[0][:RULED_CHARS]) else 0
    return [cells[row].strip() for cells in table.columns]


def _heading(table: Table, lines: Sequence[str]) -> int:
    """How many rows stand above the others; none where the first is as they are."""
    for row in range(2, 0, -1):
        # Above the heading of a table that is drawn with lines stands another line.
        if RULED.fullmatch(lines[table.span(row)[0] - 1][:RULED_CHARS]):
            return row + 1
    with_numbers = [cells for cells in table.columns if DIGITS.search(cells[1])]
    is_row = all(_form(cells[0]) in map(_form, cells[1:LIKE_ROWS]) for cells in with_numbers)
    return 0 if with_numbers and is_row else 1


def _form(cell: str) -> str:
    return DIGITS.sub("0", cell)


def _delimited(text: str, lines: list[str], delimiter: str) -> Table | None:
    return (_quoted if '"' in text else _split)(text, lines, delimiter)


def _split(text: str, lines: list[str], delimiter: str) -> Table:
    counts = {*map(str.count, lines, repeat(delimiter))}
    width = min(lines[0].count(delimiter) + 1, MOST_COLUMNS)
    if counts == {width - 1}:
        # Split in one go: a list for each row takes several times as long.
        cells = text.replace("\n", delimiter).split(delimiter)
        return Table([cells[i::width] for i in range(width)], len(lines))
    rows = (line.split(delimiter, width) for line in lines)
    return Table(in_columns(rows, width), len(lines))


def _quoted(text: str, lines: list[str], delimiter: str) -> Table | None:
    if max(map(len, lines)) > csv.field_size_limit():
        return None
    # Rows are taken apart as they come: a list for each row is a list that the collector visits.
    cells: list[str] = []
    widths: list[int] = []
    ends: list[int] = []
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            cells += row
            widths.append(len(row))
            ends.append(reader.line_num)
    except csv.Error:
        # Quotes that are part of a text, or never closed: each line is a row.
        return _split(text, lines, delimiter)
    columns = _by_column(cells, widths)
    return Table(columns, len(ends), ends if len(ends) < len(lines) else None)


def _by_column(cells: list[str], widths: Sequence[int]) -> list[list[str]]:
    """The cells of rows one after the other, by the columns that the first row has."""
    width = min(widths[0], MOST_COLUMNS)
    if {*widths} == {width}:
        return [[*cells[i::width]] for i in range(width)]
    stops = accumulate(widths)
    return in_columns(
        (cells[stop - count : stop] for stop, count in zip(stops, widths, strict=True)), width
    )


def _spaced(text: str, lines: list[str]) -> Table | None:
    named = lines[1] if RULED.fullmatch(lines[0][:RULED_CHARS]) else lines[0]
    width = min(len(_cells(named)), MOST_COLUMNS)
    if width < LEAST_COLUMNS:
        return None
    if {len(line.split()) for line in lines[:SAMPLE_ROWS]} == {width}:
        split = zip(lines, map(str.split, lines), strict=True)
        rows = (row if len(row) == width else _cells(line) for line, row in split)
        return Table(in_columns(rows, width), len(lines))
    if any(sign in text for sign in "\t|│"):
        return Table(in_columns(map(_cells, lines), width), len(lines))
    tabbed = _tabbed(text)
    return _split(tabbed, tabbed.split("\n"), "\t")


def _tabbed(text: str) -> str:
    """One tab for two spaces or more: a few passes over all of a text are faster than a search."""
    text = f"\n{text}\n".replace("  ", "\t")
    while "\t\t" in text:
        text = text.replace("\t\t", "\t")
    text = text.replace("\t ", "\t").replace("\n\t", "\n").replace("\n ", "\n")
    return text.replace("\t\n", "\n").replace(" \n", "\n")[1:-1]


def _cells(line: str) -> list[str]:
    return SPACED.split(line.strip(" |│"))


def _worths(pointed: Pointed, odd: Sequence[int], asked: Sequence[int]) -> dict[int, float]:
    """What rows are worth that differ, that the query names, or that it asks for as extremes."""
    worths = {i: ODD * ODD_NEXT**rank for rank, i in enumerate(odd)}
    least, beyond = POINTED
    for i, strength in (*pointed.items(), *((row, 1.0) for row in asked)):
        worths[i] = worths.get(i, 0.0) + least + beyond * strength
    return worths


def _in_singular(query: Query, text: str) -> Query:
    """The query with words for many as words for one where the table has only those."""
    if not query.words:
        return query
    lowered = text.lower()
    words = [word if word in lowered else singular(word) for word in query.words]
    return replace(query, words=tuple(words))


def _in_words(names: Sequence[str], columns: Sequence[Column]) -> str:
    held = (f"{name} {column.words}" for name, column in zip(names, columns, strict=True))
    return "columns: " + "; ".join(held)
