"""Shape a table: heading, what the columns hold, the rows that the query names or that differ.

CSV, TSV, and columns set with spaces. A row is shown whole, as it is written, or not at all.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

from headgate.marker import Marker
from headgate.shape.columns import MOST_COLUMNS, Column, columns_of, odd_rows
from headgate.shape.lined import with_ends
from headgate.shape.pieces import ALWAYS, Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import Pointed, pointed_by
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
SPACED = re.compile(r"\s{2,}|\t|\s*[|│]\s*")
RULED_CHARS = 200
"""How far the line between the heading and the rows is looked at."""

RULED = re.compile(r"[-=+|: │─┼]*[-=─]{2,}[-=+|: │─┼]*")


class Row(NamedTuple):
    """A row of a table: the lines it stands on, from 1, and its cells."""

    first: int
    last: int
    cells: list[str]


def shape_table(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Shape a table; None if it is none after all, or too long to look at every cell."""
    if len(source.data) > MOST_BYTES or source.lines > MOST_ROWS:
        return None
    lines = source.data.decode(errors="replace").removesuffix("\n").split("\n")
    if source.kind == "table" and len(_cells(lines[0])) < LEAST_COLUMNS:
        return None
    rows = _spaced(lines) if source.kind == "table" else _delimited(lines, DELIMITERS[source.kind])
    if rows is None or len(rows) < LEAST_ROWS:
        return None
    heading = 2 if RULED.fullmatch(lines[rows[1].first - 1][:RULED_CHARS]) else 1
    width = min(len(rows[0].cells), MOST_COLUMNS)
    if width < LEAST_COLUMNS:
        return None
    columns = columns_of([row.cells for row in rows[heading:]], width)
    texts = lines
    if len(rows) < len(lines):
        texts = ["\n".join(lines[row.first - 1 : row.last]) for row in rows]
    worths = _worths(pointed_by(query, texts), [heading + i for i in odd_rows(columns)])
    worths |= dict.fromkeys(range(heading), ALWAYS)
    room_bytes = room.limit * len(source.data) / max(source.size, 1)
    items = [
        Piece(rows[one.first - 1].first, rows[one.first - 1].last, one.text, one.worth)
        for one in with_ends(texts, worths, room_bytes, HEAD_LEAN)
    ]
    note = marker.aside(_in_words(rows[0].cells[:width], columns))
    notes = (note,) if room.size(note) * NOTE_PART <= room.limit else ()
    pieces = Pieces(items, len(lines), before=notes)
    return shape_pieces(pieces, source, room, marker, f"of {len(rows):,} rows")


def _delimited(lines: list[str], delimiter: str) -> list[Row] | None:
    if not any('"' in line for line in lines):
        return [Row(i, i, line.split(delimiter)) for i, line in enumerate(lines, 1)]
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    rows: list[Row] = []
    before = 0
    try:
        for cells in reader:
            rows.append(Row(before + 1, reader.line_num, cells))
            before = reader.line_num
    except csv.Error:
        return None
    return rows


def _spaced(lines: list[str]) -> list[Row]:
    return [Row(i, i, _cells(line)) for i, line in enumerate(lines, 1)]


def _cells(line: str) -> list[str]:
    return SPACED.split(line.strip(" |│"))


def _worths(pointed: Pointed, odd: Sequence[int]) -> dict[int, float]:
    """What rows are worth that differ or that the query names."""
    worths = {i: ODD * ODD_NEXT**rank for rank, i in enumerate(odd)}
    least, beyond = POINTED
    for i, strength in pointed.items():
        worths[i] = worths.get(i, 0.0) + least + beyond * strength
    return worths


def _in_words(names: Sequence[str], columns: Sequence[Column]) -> str:
    held = (f"{name.strip()} {column.words}" for name, column in zip(names, columns, strict=True))
    return "columns: " + "; ".join(held)
