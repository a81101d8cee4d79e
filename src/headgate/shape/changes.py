"""Shape diffs and logs of commits: which files and commits there are, then what changed in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headgate.marker import Marker
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import Pointed
from headgate.types import Query

MOST_ASKED = 3
"""Where a word stands in the names of more files, none of them is meant."""

FILE = re.compile(r"diff |Index: ")
NEW_NAME = re.compile(r"\+\+\+ ")
FATE = re.compile(r"rename (?:from|to) |(?:new|deleted) file mode|Binary files ")
HUNK = re.compile(r"@@ |\*{15}|\d+(?:,\d+)?[acd]\d")
COMMIT = re.compile(r"[*|/\\ ]*(?:commit )?[0-9a-f]{7,40}\b")
STAT = re.compile(r" \d+ files? changed| \S.* \| +\d+ ")


def shape_diff(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show every file that changed before what changed in it."""
    return shape_lined(source, room, query, marker, DIFF)


def shape_git_log(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show each commit and its subject before what it changed."""
    return shape_lined(source, room, query, marker, GIT_LOG)


def files(lines: Sequence[str]) -> Iterator[int]:
    """The lines that name a file, then what became of it, then those where a hunk begins."""
    yield from _named(lines)
    yield from _beginning(lines, FATE, "rndB")
    yield from _beginning(lines, HUNK, "@*0123456789")


def _named(lines: Sequence[str]) -> list[int]:
    return list(_beginning(lines, FILE, "dI")) or list(_beginning(lines, NEW_NAME, "+"))


def _asked_files(lines: Sequence[str], pointed: Pointed, _: Query) -> list[range]:
    """What changed in the files that the query names, as long as they are few."""
    starts = _named(lines)
    stops = [*starts[1:], len(lines)]
    asked = [range(*span) for span in zip(starts, stops, strict=False) if span[0] in pointed]
    return asked if len(asked) <= MOST_ASKED else []


def _beginning(lines: Sequence[str], pattern: re.Pattern[str], first: str) -> Iterator[int]:
    """The lines that begin with the pattern, looked for as they are asked."""
    for number, line in enumerate(lines):
        if line[:1] in first and pattern.match(line):
            yield number


def commits(lines: Sequence[str]) -> Iterator[int]:
    """The subjects of commits, then where they begin, then the files they changed."""
    found: list[int] = []
    for number, line in enumerate(lines):
        if COMMIT.match(line):
            found.append(number)
            if line.startswith("commit "):
                yield from _subject(lines, number)
    yield from found
    yield from (n for n, line in enumerate(lines) if line[:1] == " " and STAT.match(line))
    yield from files(lines)


def _subject(lines: Sequence[str], commit: int) -> list[int]:
    """The first line of a commit's message: the first that is set in."""
    for number in range(commit + 1, min(commit + 8, len(lines))):
        if lines[number].startswith("    ") and lines[number].strip():
            return [number]
    return []


DIFF = Lining(
    files,
    outline_share=0.12,
    head_lean=0.5,
    near=12,
    pointed_share=0.4,
    names_share=0.3,
    focus=_asked_files,
)
GIT_LOG = Lining(commits, outline_share=0.5, head_lean=0.7)
