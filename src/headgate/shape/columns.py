"""What the columns of a table hold, and the rows that stand out: extremes, rare values, holes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import islice

SAMPLE_ROWS = 200
"""Of how many rows a column's type is told."""

NO_VALUE = frozenset({"NA", "N/A", "NaN", "nan", "null", "NULL", "-", "?"})
"""How cells say that they are empty."""

NUMERIC_SHARE = 0.9
FEW_VALUES = 24
"""Up to so many different values a column is a set of words, and one that is rare stands out."""

RARE_SHARE = 0.005
HOLES_SHARE = 0.02
"""Up to which share of the rows a value, or a missing one, is rare."""

MOST_COLUMNS = 40
MOST_PER_REASON = 3
"""How many columns are looked at, and how many rows one column may point at for one reason."""

VALUE_CHARS = 24

FEW = 8

ALIKE_SHARE = 0.05
"""What more of the first rows have is an end of the column, and nothing odd: many a zero."""


@dataclass(frozen=True, slots=True)
class Column:
    """What one column holds."""

    words: str
    """In words: `int 1..90`, `3 values`, `text`."""
    odd: tuple[int, ...]
    """The rows that stand out in it, the oddest first."""
    ends: tuple[int, int] | None = None
    """Of numbers the rows with the least and the most."""


def in_columns(rows: Iterable[list[str]], width: int) -> list[list[str]]:
    """The cells of rows by column; where a row is too short, they are empty."""
    missing = [""] * width
    even = [row if len(row) >= width else [*row, *missing] for row in rows]
    return [*map(list, islice(zip(*even, strict=False), width))]


def odd_rows(columns: Sequence[Column]) -> list[int]:
    """The rows that stand out, those first that are the oddest in their column."""
    most = max((len(column.odd) for column in columns), default=0)
    ranked = [column.odd[i] for i in range(most) for column in columns if i < len(column.odd)]
    return list(dict.fromkeys(ranked))


def column_of(cells: Sequence[str]) -> Column:
    """Look at the cells of one column below its heading."""
    if not NO_VALUE.isdisjoint(cells[:SAMPLE_ROWS]):
        cells = ["" if cell in NO_VALUE else cell for cell in cells]
    filled = [cell for cell in cells[:SAMPLE_ROWS] if cell]
    numbers = sum(not math.isnan(_number(cell)) for cell in filled)
    if filled and numbers >= NUMERIC_SHARE * len(filled):
        return _numeric(cells)
    few = FEW_VALUES + RARE_SHARE * len(cells)
    # What is much in the beginning is not less in all.
    counts = Counter(cells) if len({*cells[: 4 * int(few)]}) <= few else None
    if counts is None or len(counts) > few:
        return Column("text", tuple(_holes(cells, cells.count(""))))
    return _categories(cells, counts)


def _numeric(cells: Sequence[str]) -> Column:
    numbers = _numbers(cells)
    known = numbers
    if not math.isfinite(sum(numbers)):
        known = [number for number in numbers if not math.isnan(number)]
    ends = min(known), max(known)
    # Many a column grows: then looking for its end from the start is looking at all of it.
    last = len(numbers) - 1
    least, most = (last if numbers[last] == end else numbers.index(end) for end in ends)
    # A column that only grows has its extremes at the ends, where they are seen anyway.
    some = numbers[:SAMPLE_ROWS]
    rare = max(ALIKE_SHARE * len(some), 1)
    extremes = [row for row in (least, most) if some.count(numbers[row]) <= rare]
    odd = [] if {known[0], known[-1]} == {*ends} else extremes
    if len(known) < len(cells):
        others = [i for i, number in enumerate(numbers) if math.isnan(number) and cells[i]]
        if len(others) <= max(HOLES_SHARE * len(cells), 1):
            odd = others[:MOST_PER_REASON] + odd
        odd += _holes(cells, cells.count(""))
    name = "number" if any("." in cell for cell in cells[:SAMPLE_ROWS]) else "int"
    return Column(f"{name} {cells[least]}..{cells[most]}", tuple(dict.fromkeys(odd)), (least, most))


def _categories(cells: Sequence[str], counts: Counter[str]) -> Column:
    most = max(RARE_SHARE * len(cells), 1) if len(cells) > 4 * len(counts) else 0
    rare = {value for value, count in counts.items() if value and count <= most}
    places = _first_places(cells, rare)
    common = [value[:VALUE_CHARS] for value, _ in counts.most_common(3) if value]
    words = f"{len(counts)} values: {', '.join(common)}" + (", ..." if len(counts) > 3 else "")
    odd = sorted(places, key=lambda i: (counts[cells[i]], i))[: 2 * MOST_PER_REASON]
    return Column(words, (*odd, *_holes(cells, counts[""])))


def _first_places(cells: Sequence[str], values: Set[str]) -> Collection[int]:
    """Where each of the values stands first; looking for a few is cheaper than listing all."""
    if len(values) <= FEW:
        return [*map(cells.index, values)]
    backwards = range(len(cells) - 1, -1, -1)
    return {cells[i]: i for i in backwards if cells[i] in values}.values()


def _holes(cells: Sequence[str], count: int) -> list[int]:
    """Rows without a value where nearly all have one."""
    if not 0 < count <= HOLES_SHARE * len(cells):
        return []
    return [i for i, cell in enumerate(cells) if not cell][:MOST_PER_REASON]


def _numbers(cells: Sequence[str]) -> list[float]:
    """What the cells say; one that says no number is none."""
    filled = cells if all(cells) else [cell or "nan" for cell in cells]
    try:
        numbers = [*map(float, filled)]
    except ValueError:
        return [_number(cell) for cell in cells]
    if math.isfinite(sum(numbers)):
        return numbers
    return [number if math.isfinite(number) else math.nan for number in numbers]


def _number(cell: str) -> float:
    if not cell:
        return math.nan
    try:
        number = float(cell.rstrip("%"))
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan
