"""Shape what was found: hits of a search by file, entries of a listing by folder.

What matters is how far it reaches: each file or folder shows something before one shows much.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from headgate.marker import Marker
from headgate.shape.extremes import SUPERLATIVES
from headgate.shape.lined import Lining, shape_lined
from headgate.shape.outline import DEFINED
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.worth import Pointed
from headgate.types import Query

HIT = re.compile(r"((?:[A-Za-z]:)?[^\s:][^:]*?)[:-](\d+)[:-](.*)")
NAMED = re.compile(r"([^\s:]+):(.*)")

FINDING = re.compile(r"[^\s:]+:\d+(?::\d+)?: ?([A-Z]{1,4}\d{2,5}|error|warning)\b")
FIRST_FINDINGS = 20
"""A finding of a linter; where none is among the first lines there are none."""

SIZE = re.compile(
    r"\s*(\d+(?:\.\d+)?)([KMGT]?)i?B?\s+\S*/"
    r"|[-dlbcps]\S{9,10} +\d+ \S+ +\S+ +(\d+(?:\.\d+)?)([KMGT]?)\b"
)
MOST_SIZES = 5
"""The size of an entry, as `du` and `ls -l` write it; how many of the largest are shown."""

UNUSUAL = frozenset("- \t\r\f\v")
"""Where a name has none of these, it is all that stands before the first colon."""

SIGNS = frozenset("/*@|=>:")
"""What a listing puts after a name to say what it is."""

FIRST_HITS = 40
"""Of how many hits of a file it is told whether they define what was searched for."""


def shape_search(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show hits of every file, definitions before uses."""
    return shape_lined(source, room, query, marker, SEARCH)


def shape_listing(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """Show entries of every folder, and those unlike all others."""
    return shape_lined(source, room, query, marker, LISTING)


def by_file(lines: Sequence[str]) -> Iterator[int]:
    """One hit of each file, then a second of each; of a file's hits first those that define.

    What a linter found has one of each code first, the rarest before the others.
    """
    hits: defaultdict[str, list[int]] = defaultdict(list)
    if codes := _by_code(lines):
        return _in_turns(codes)
    for number, line in enumerate(lines):
        name, colon, _ = line.partition(":")
        if len(name) < 2 or not colon or not UNUSUAL.isdisjoint(name):
            found = HIT.match(line) or NAMED.match(line)
            if found is None:
                continue
            name = found[1]
        hits[name].append(number)
    return _in_turns(list(hits.values()), lambda numbers: _definitions_first(numbers, lines))


def _by_code(lines: Sequence[str]) -> list[list[int]]:
    """What a linter found, by its codes, the rarest first; nothing if it is no list of that."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if code := FINDING.match(line):
            found[code[1]].append(number)
        elif number == FIRST_FINDINGS and not found:
            break
    if 2 * sum(map(len, found.values())) < len(lines):
        return []
    return sorted(found.values(), key=len)


def _definitions_first(numbers: Sequence[int], lines: Sequence[str]) -> list[int]:
    looked_at = numbers[:FIRST_HITS]
    defining = [number for number in looked_at if _defines(lines[number])]
    return [*defining, *(number for number in numbers if number not in defining)]


def _defines(line: str) -> bool:
    found = HIT.match(line) or NAMED.match(line)
    return found is not None and DEFINED.match(found[found.lastindex or 1].lstrip()) is not None


def by_folder(lines: Sequence[str]) -> Iterator[int]:
    """Entries whose folder or ending is rare, then one of each folder, then a second of each."""
    names = _names(lines)
    folders = _by_folder(names)
    alone = [numbers[0] for numbers in folders if len(numbers) == 1]
    endings, rare = _rarely_ended(names)
    few = _some(rare, len(names), endings) + _some(alone, len(names), len(folders))
    few.sort(key=lambda number: ("/." not in names[number], names[number].count("/")))
    first = dict.fromkeys(few)
    yield from first
    yield from (number for number in _in_turns(folders) if number not in first)


def _names(lines: Sequence[str]) -> Sequence[str]:
    """What is listed: the last word of each line, without the signs for what it is."""
    if " " not in "\n".join(lines) and SIGNS.isdisjoint({line[-1:] for line in lines}):
        return lines
    signs = "".join(SIGNS)
    return [line.rpartition(" ")[2].rstrip(signs) or line for line in lines]


def _by_folder(names: Sequence[str]) -> list[Sequence[int]]:
    if not any("/" in name for name in names):
        return [range(len(names))]
    folders: defaultdict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        folders[name.rpartition("/")[0]].append(number)
    return [*folders.values()]


def _rarely_ended(names: Sequence[str]) -> tuple[int, list[int]]:
    """How many endings there are, and the entries whose ending no other has."""
    if not any("." in name for name in names):
        return 1, []
    after_dot = [name.rpartition(".")[2] for name in names]
    counts = Counter(after_dot)
    once = [number for number, end in enumerate(after_dot) if counts[end] == 1]
    # What stands after the last dot is no ending where the dot is of a folder, or begins the name.
    rare = [number for number in once if _has_ending(names[number])]
    others = len(once) - len(rare)
    if others == 1:
        rare = once
    return len(counts) - others + (others > 0), rare


def _has_ending(name: str) -> bool:
    return "." in name.rpartition("/")[2][1:]


def _some(numbers: list[int], names: int, kinds: int) -> list[int]:
    """None where being alone is usual."""
    return numbers if len(numbers) * 4 < names and kinds > 1 else []


def _in_turns(
    groups: Sequence[Sequence[int]],
    ordered: Callable[[Sequence[int]], Sequence[int]] = lambda numbers: numbers,
) -> Iterator[int]:
    """The first of each group, then the second of each; a group is put in order when it is met."""
    left: list[Sequence[int]] = []
    for group in groups:
        left.append(ordered(group))
        yield left[-1][0]
    for turn in range(1, max(map(len, groups), default=0)):
        left = [group for group in left if turn < len(group)]
        for group in left:
            yield group[turn]


def _asked_sizes(lines: Sequence[str], _: Pointed, query: Query) -> list[range]:
    """The entries that are the largest and the smallest, where a superlative is asked."""
    if SUPERLATIVES.isdisjoint(query.words):
        return []
    sizes = {n: _bytes(found) for n, line in enumerate(lines) if (found := SIZE.match(line))}
    ordered = sorted(sizes, key=sizes.__getitem__)
    return [range(n, n + 1) for n in (*ordered[: -MOST_SIZES - 1 : -1], *ordered[:1])]


def _bytes(found: re.Match[str]) -> float:
    number, unit = found[1] or found[3], found[2] or found[4] or ""
    return float(number) * 1024.0 ** " KMGT".index(unit or " ")


SEARCH = Lining(
    by_file, outline_share=0.9, head_lean=0.6, near=1, pointed=(31.0, 5.0), pointed_share=0.4
)
LISTING = Lining(by_folder, outline_share=0.2, head_lean=1.0, near=1, focus=_asked_sizes)
