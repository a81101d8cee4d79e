"""The line numbers that a file reader puts before each line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

_NUMBER = r"^ *([0-9]{1,7})(?:\t|→|: ?| ?\| ?)"
GUTTER = re.compile(_NUMBER, re.MULTILINE)
GUTTER_BYTES = re.compile(_NUMBER.encode(), re.MULTILINE)

FIRST_LINES = 24
"""How many lines are looked at; a few may have no number, such as a note of the reader."""

LEAST_NUMBERED = 0.8
LEAST_IN_ORDER = 0.7
"""What share of them has a number, and of those goes on by one: otherwise it is a list."""


def has_gutter(lines: Sequence[bytes]) -> bool:
    """Whether lines are numbered, told from the first ones that are not blank."""
    if not any(map(GUTTER_BYTES.match, lines[:3])):
        return False
    first = lines[:FIRST_LINES]
    numbers = [int(found[1]) for line in first if (found := GUTTER_BYTES.match(line))]
    if len(numbers) < max(3, LEAST_NUMBERED * len(first)):
        return False
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    return steps.count(1) >= LEAST_IN_ORDER * len(steps) and min(steps) > 0


def without_gutter(lines: Sequence[str]) -> Sequence[str]:
    """The lines without the numbers before them, if they have some."""
    if not _numbered(lines):
        return lines
    return [line[found.end() :] if (found := GUTTER.match(line)) else line for line in lines]


def unpadded(lines: Sequence[str]) -> Sequence[str]:
    """The lines without the spaces before their numbers: an eighth of such a file, for nothing."""
    if not _numbered(lines):
        return lines
    return [line.lstrip(" ") if line[:1] == " " and GUTTER.match(line) else line for line in lines]


def _numbered(lines: Sequence[str]) -> bool:
    first = itertools.islice(filter(str.strip, lines), FIRST_LINES)
    return has_gutter([line.encode(errors="replace") for line in first])
