"""Shape what was found: hits of a search by file, entries of a listing by folder.

What matters is how far it reaches: each file or folder shows something before one shows much.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from headgate.marker import Marker
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.outline import DEFINED
from headgate.shape.shaper import Room, Shaped, Source
from headgate.types import Query

HIT = re.compile(r"((?:[A-Za-z]:)?[^\s:][^:]*?)[:-](\d+)[:-](.*)")
NAMED = re.compile(r"([^\s:]+):(.*)")

FIRST_HITS = 40
"""Of how many hits of a file it is told whether they define what was searched for."""


def shape_search(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show hits of every file, definitions before uses."""
    return shape_lined(source, room, query, marker, SEARCH)


def shape_listing(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show entries of every folder, and those unlike all others."""
    return shape_lined(source, room, query, marker, LISTING)


def by_file(lines: Sequence[str]) -> list[int]:
    """One hit of each file, then a second of each; of a file's hits first those that define."""
    hits: dict[str, list[tuple[bool, int]]] = {}
    for number, line in enumerate(lines):
        found = HIT.match(line) or NAMED.match(line)
        if found:
            of_file = hits.setdefault(found[1], [])
            uses = len(of_file) < FIRST_HITS and DEFINED.match(found[found.lastindex or 1].lstrip())
            of_file.append((not uses, number))
    return _in_turns([[number for _, number in sorted(of_file)] for of_file in hits.values()])


def by_folder(lines: Sequence[str]) -> list[int]:
    """Entries whose folder or ending is rare, then one of each folder, then a second of each."""
    names = [line[line.rfind(" ") + 1 :].rstrip("/*@|=>:") or line for line in lines]
    folders: dict[str, list[int]] = {}
    ended = [*map(_ending, names)]
    endings = Counter(ended)
    for number, name in enumerate(names):
        folders.setdefault(name.rpartition("/")[0], []).append(number)
    alone = [numbers[0] for numbers in folders.values() if len(numbers) == 1]
    rare = [number for number, ending in enumerate(ended) if endings[ending] == 1]
    few = _some(rare, names, endings.__len__) + _some(alone, names, folders.__len__)
    few.sort(key=lambda number: ("/." not in names[number], names[number].count("/")))
    return list(dict.fromkeys([*few, *_in_turns(list(folders.values()))]))


def _some(numbers: list[int], names: Sequence[str], kinds: Callable[[], int]) -> list[int]:
    """None where being alone is usual."""
    return numbers if len(numbers) * 4 < len(names) and kinds() > 1 else []


def _ending(name: str) -> str:
    base = name.rpartition("/")[2]
    return base.rpartition(".")[2] if "." in base[1:] else ""


def _in_turns(groups: Sequence[Sequence[int]]) -> list[int]:
    """The first of each group, then the second of each, and so on."""
    most = max(map(len, groups), default=0)
    return list(_turns(groups, most))


def _turns(groups: Sequence[Sequence[int]], most: int) -> Iterable[int]:
    left = list(groups)
    for turn in range(most):
        left = [group for group in left if turn < len(group)]
        for group in left:
            yield group[turn]


SEARCH = Lining(by_file, outline_share=0.9, head_lean=0.6, near=1)
LISTING = Lining(by_folder, outline_share=0.2, head_lean=1.0, near=1)
