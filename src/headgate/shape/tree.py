"""A text of keys and values, or of elements, as a tree: what each line says and stands under.

Told by indentation, by the dashes of lists, by headings and braces, line by line and without a
parser: such texts come in many languages, in pieces, and often broken.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

KEY = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[\w.$/@+~*<-][^\s:=#\"']*(?: [^\s:=#\"']+){0,4})"
LINE = re.compile(
    r"( *)(?:(?:$|[#;!]|//|---\s*$)"
    r"|([\])}]+[,;]?\s*$)"
    r"|\[\[?([^\[\],]+)\]\]?\s*(?:#.*)?$"
    r"|(?:([A-Za-z_][\w.-]*)((?: +(?:\"[^\"]*\"|[^\s\"(){};=]+))*) *\{\s*$)"
    rf"|((?:- +)*)(?:({KEY})[ \t]*(?::(?=[ \t]|$)|=)[ \t]*(.*)|([a-z_]\w*) +([^;{{}}]*);$|(.*)))"
)
"""How deep a line stands; then nothing, or the end of a block, a heading in brackets, the start of
a block, or an item, a key and a value."""
ELEMENT = re.compile(r"( *)<(/?)([\w:.-]+)(.*)")
"""How deep an element stands, whether it ends there, and what it says, attributes included."""
DOCUMENT = "---"
TAB_SPACES = 4

CALLED = frozenset({"name", "kind", "id", "title", "key", "host", "artifactId"})
CALLED_BELOW = 2
CALLED_LINES = 40
"""Keys that say what a thing is, how deep below it they stand, and how soon."""
COMMON_SHARE = 0.8
"""What more of the things are called says of none of them what it is."""

LEAST_DOCUMENTS = 2
MOST_OF_ALL = 0.6
"""Where one thing holds more of the text than this, the things are what it consists of."""


class Setting(NamedTuple):
    """What one line says."""

    level: int
    """How deep it stands, odd for an item of a list; -1 for a heading in brackets."""
    inner: int
    """How deep what it says stands: deeper than the line where that begins an item."""
    key: str
    value: str
    opens: bool
    """Whether other lines can stand under it."""
    is_said: bool = True
    """Whether it is neither blank nor a comment."""


SILENCE = Setting(0, 0, "", "", opens=False, is_said=False)


@dataclass(frozen=True)
class Tree:
    """The lines of a text as settings, counted from 0."""

    settings: Sequence[Setting]
    parents: Sequence[int]
    """The line that each line stands under; -1: none."""
    stops: Sequence[int]
    """The line after the last one that stands under each."""
    things: Sequence[range]
    """What the text is a row of: documents, sections, items."""

    @cached_property
    def thing_of(self) -> Mapping[int, range]:
        """The thing that each line belongs to."""
        return {number: thing for thing in self.things for number in thing}

    @cached_property
    def depths(self) -> Sequence[int]:
        """How many lines each line stands under."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent < 0 else depths[parent] + 1)
        return depths

    @cached_property
    def called(self) -> Mapping[range, Sequence[int]]:
        """The lines that say what each thing is."""
        found = {thing: self._called(thing) for thing in self.things}
        said = Counter(self.settings[number][2:4] for each in found.values() for number in each)
        most = max(len(self.things) * COMMON_SHARE, 1)
        names = {
            thing: [number for number in each if said[self.settings[number][2:4]] <= most]
            for thing, each in found.items()
        }
        names |= self._told_apart([thing for thing, each in names.items() if not each])
        return {
            thing: sorted({*each, *(up for n in each for up in self.above(n) if up in thing)})
            for thing, each in names.items()
        }

    @cached_property
    def paths(self) -> Sequence[int]:
        """Which setting each line has, whatever thing it belongs to: a number for each."""
        starts = {thing.start for thing in self.things}
        known: dict[tuple[int, str], int] = {}
        paths: list[int] = []
        for number, parent in enumerate(self.parents):
            is_outer = parent < 0 or parent in starts or number in starts
            outer = -1 if is_outer else paths[parent]
            setting = self.settings[number]
            # An item that says what it is holds other settings than the next one.
            is_named = setting.inner > setting.level and setting.key in CALLED
            own = f"{setting.key} {setting.value}" if is_named else setting.key
            paths.append(known.setdefault((outer, own), len(known)))
        return paths

    def above(self, number: int) -> Iterator[int]:
        """What a line stands under, the nearest first."""
        while (number := self.parents[number]) >= 0:
            yield number

    def beside(self, number: int) -> list[int]:
        """Of the next lines those that stand under the same, and that nothing stands under."""
        parent = self.parents[number]
        stop = self.stops[parent] if parent >= 0 else len(self.parents)
        after = range(number + 1, min(stop, number + 1 + CALLED_LINES))
        return [n for n in after if self.parents[n] == parent and self.stops[n] == n + 1]

    def names_of(self, number: int) -> Sequence[int]:
        """The lines that say what the thing is that a line belongs to."""
        thing = self.thing_of.get(number)
        return () if thing is None else self.called[thing]

    def _called(self, thing: range) -> list[int]:
        """The lines of a thing that may say what it is: its first, and the keys for it."""
        found: dict[str, int] = {}
        for number in thing[:CALLED_LINES]:
            key = self.settings[number].key
            if key in CALLED and key not in found and self._depth(number, thing) <= CALLED_BELOW:
                found[key] = number
        # The first line of a document is as good as any other.
        is_head = self.stops[thing.start] == thing.stop
        return sorted({*found.values()} | ({thing.start} if is_head else set()))

    def _told_apart(self, things: Sequence[range]) -> dict[range, list[int]]:
        """Of each thing the line with the first setting that all have, and each has otherwise."""
        by_path: defaultdict[int, dict[range, int]] = defaultdict(dict)
        for thing in things:
            for number in thing[:CALLED_LINES]:
                if self.settings[number].value and self._depth(number, thing) <= CALLED_BELOW:
                    by_path[self.paths[number]].setdefault(thing, number)
        for found in by_path.values():
            values = {self.settings[number].value for number in found.values()}
            if len(values) >= COMMON_SHARE * len(things):
                return {thing: [number] for thing, number in found.items()}
        return {}

    def _depth(self, number: int, thing: range) -> int:
        return sum(above in thing for above in self.above(number))


def tree_of(lines: Sequence[str], *, marked_up: bool = False) -> Tree:
    """Read lines as settings or as elements, each by itself, and by how deep it stands."""
    read = _element if marked_up else _setting
    # Of things that are alike most lines come many times.
    known = {line: read(line) for line in {*lines}}
    return _tree(lines, [known[line] for line in lines])


def tree_of_elements(elements: Sequence[str]) -> Tree:
    """Read elements that stand on no lines of their own: how deep they do, their tags say."""
    settings: list[Setting] = []
    depth = 0
    for element in elements:
        found = ELEMENT.match(element)
        if found is None:
            settings.append(SILENCE)
            continue
        _, closing, tag, rest = found.groups()
        if closing:
            depth = max(depth - 1, 0)
            settings.append(_end(2 * depth, tag))
            continue
        settings.append(Setting(2 * depth, 2 * depth, tag, rest, opens=True))
        depth += not (rest.endswith("/>") or f"</{tag}" in element)
    return _tree(elements, settings)


def _tree(lines: Sequence[str], settings: Sequence[Setting]) -> Tree:
    parted = [number for number, line in enumerate(lines) if line.rstrip() == DOCUMENT]
    parents = _parents(settings, {*parted})
    stops = [number + 1 for number in range(len(lines))]
    for number in reversed(range(len(lines))):
        if parents[number] >= 0:
            stops[parents[number]] = max(stops[parents[number]], stops[number])
    things = _documents(lines, parted) or _things(settings, parents, stops)
    return Tree(settings, parents, stops, things)


def _parents(settings: Sequence[Setting], parted: Collection[int]) -> list[int]:
    parents: list[int] = []
    open_: list[tuple[int, int]] = []
    for number, (level, inner, _, _, opens, is_said) in enumerate(settings):
        if is_said:
            while open_ and open_[-1][0] >= level:
                open_.pop()
        elif number in parted:
            open_.clear()
        parents.append(open_[-1][1] if open_ else -1)
        if opens:
            open_.append((level, number))
            if inner > level:
                open_.append((inner, number))
    return parents


def _setting(line: str) -> Setting:
    found = LINE.match(line.expandtabs(TAB_SPACES) if "\t" in line else line)
    if found is None:
        return SILENCE
    indent, closing, heading, block, label, dashes, key, value, word, words, rest = found.groups()
    level = 2 * len(indent)
    if closing:
        return _end(level, closing)
    if heading:
        return Setting(-1, -1, heading.strip(), "", opens=True)
    if block:
        return Setting(level, level, block, label.strip(), opens=True)
    if dashes is None:
        return SILENCE
    # An item may stand as deep as the key of its list: it belongs below it all the same.
    inner = level + 2 * len(dashes)
    level += bool(dashes)
    if key is None and word is None:
        return Setting(level, level, "", rest, opens=bool(dashes))
    own, said = (key.strip("\"'"), value) if key is not None else (word, words)
    return Setting(level, max(inner, level), own, said, opens=True)


def _end(level: int, text: str) -> Setting:
    """The end of what was opened at this level: below that, since it is not over before."""
    return Setting(level + 1, level + 1, "", text, opens=False)


def _element(line: str) -> Setting:
    found = ELEMENT.match(line.expandtabs(TAB_SPACES) if "\t" in line else line)
    if found is None:
        # Text, wherever it stands, is that of the element that is open.
        return SILENCE
    indent, closing, tag, rest = found.groups()
    level = 2 * len(indent)
    if closing:
        return _end(level, tag)
    return Setting(level, level, tag, rest, opens=True)


def _documents(lines: Sequence[str], parted: Sequence[int]) -> list[range]:
    """What stands between the lines that part documents, if there are several."""
    bounds = [-1, *parted, len(lines)]
    documents = [range(before + 1, after) for before, after in pairwise(bounds)]
    documents = [one for one in documents if any(lines[number].strip() for number in one)]
    return documents if len(documents) >= LEAST_DOCUMENTS else []


def _things(
    settings: Sequence[Setting], parents: Sequence[int], stops: Sequence[int]
) -> list[range]:
    """What stands side by side at the level where no single thing holds most of the text."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for number, parent in enumerate(parents):
        if settings[number].opens:
            below[parent].append(number)
    things, size = below[-1], len(parents)
    while things:
        largest = max(things, key=lambda number: stops[number] - number)
        held = stops[largest] - largest
        if held < MOST_OF_ALL * size or not below[largest]:
            break
        things, size = below[largest], held
    return [range(number, stops[number]) for number in things]
