"""Shape diffs and logs of commits: which files and commits there are, then what changed in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.marker import Marker
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.shaper import Room, Shaped, Source
from headgate.types import Query

FILE = re.compile(
    r"diff |Index: |\+\+\+ |rename (?:from|to) |(?:new|deleted) file mode|Binary files "
)
HUNK = re.compile(r"@@ |\*{15}|\d+(?:,\d+)?[acd]\d")
COMMIT = re.compile(r"[*|/\\ ]*(?:commit )?[0-9a-f]{7,40}\b")
STAT = re.compile(r" \d+ files? changed| \S.* \| +\d+ ")


def shape_diff(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show every file that changed before what changed in it."""
    return shape_lined(source, room, query, marker, DIFF)


def shape_git_log(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show each commit and its subject before what it changed."""
    return shape_lined(source, room, query, marker, GIT_LOG)


def files(lines: Sequence[str]) -> list[int]:
    """The lines that name a file, then those where a hunk begins."""
    named = [number for number, line in enumerate(lines) if FILE.match(line)]
    return [*named, *(number for number, line in enumerate(lines) if HUNK.match(line))]


def commits(lines: Sequence[str]) -> list[int]:
    """Where commits begin and their subjects, then the files they changed."""
    found: list[int] = []
    subjects: list[int] = []
    for number, line in enumerate(lines):
        if COMMIT.match(line):
            found.append(number)
            if line.startswith("commit "):
                subjects += _subject(lines, number)
    stats = [number for number, line in enumerate(lines) if STAT.match(line)]
    return [*subjects, *found, *stats, *files(lines)]


def _subject(lines: Sequence[str], commit: int) -> list[int]:
    """The first line of a commit's message: the first that is set in."""
    for number in range(commit + 1, min(commit + 8, len(lines))):
        if lines[number].startswith("    ") and lines[number].strip():
            return [number]
    return []


DIFF = Lining(files, outline_share=0.08, head_lean=0.5, near=12, pointed_share=0.4)
GIT_LOG = Lining(commits, outline_share=0.5, head_lean=0.7)
