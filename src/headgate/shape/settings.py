"""Shape what is written as keys and values: YAML, TOML, INI, XML, and reports that look like them.

A line of such a text says little without what it stands under and without the name of the thing it
belongs to, so a line that is shown brings both along. And it is mostly a row of things that are
alike: what they have in common says nothing the second time, what one has alone says much.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate

from headgate.marker import Marker
from headgate.shape.extremes import SUPERLATIVES, asked_ends, asked_fields
from headgate.shape.gutter import without_gutter
from headgate.shape.lined import (
    LONGEST_LINE,
    MOST_BYTES,
    OUTLINED,
    bytes_for,
    lines_to_choose,
    with_ends,
    within,
)
from headgate.shape.pieces import Piece, Pieces, shape_pieces
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.signs import SCANNER, weight
from headgate.shape.tree import CALLED, Tree, tree_of, tree_of_elements
from headgate.shape.worth import QUESTION_WORDS, Pointed, pointed_by
from headgate.types import Query

MOST_LINES = 20_000
DEEPEST = 100
"""A longer or deeper text is shaped as any other: each line takes some microseconds, and more for
each that it stands under."""

POINTED = (40.0, 40.0)
POINTED_PART = 0.8
NEEDED = 0.95
"""What a line is worth that the query points at, the least and what the best has beyond it; what
part of the room such lines may take; and how much of that worth those have that it needs."""

COMMON_SHARE = 0.6
"""A word that more of the lines have, in themselves or above, points at none of them."""

MOST_ALIKE = 0.4
"""What more of the things have alike tells none of them from the others, whatever it says."""

BLOCK = 12
QUESTION_BLOCK = 4
NEAR = 3
"""How many lines a part has at most that is shown whole with such a line in it, for a task and for
a question; and how many are shown after one that sets nothing."""

LEAST_COULD = 8
LEAST_ALIKE = 5
USUAL_SHARE = 0.6
ODD_SHARE = 0.12
"""Of how many things it is told which settings are usual, of how many values of a setting which is;
how many have that, and how few have what is odd."""

LEAST_LOUD = 7.0
LOUD_WORDS = 3
LOUD_SHARE = 0.05
MOST_HITS = 2_000
"""What a sign of trouble weighs at least, in how few words it is said, and by how few lines."""

ODD = 38.0
MOST_ODD = 300
PART = 0.5
ASKED_PART = 0.2
"""What a line is worth that is odd, and how many of them are looked at; what part of the room goes
to such lines, and what to the outline: less where somebody asks."""

HEAD_LEAN = 0.5

BETWEEN = re.compile(rb"(?<=>)(?=<)")
ON_LINES = "each element stands on a line of its own here"

NUMBER = re.compile(r"[\"']?(-?\d+(?:\.\d+)?)")


def shape_settings(
    source: Source, room: Room, query: Query, marker: Marker, *, marked_up: bool
) -> Shaped | None:
    """Show what is asked for or odd with what it belongs to, then what is not said twice."""
    lines = lines_to_choose(source, room)
    if lines is None or len(lines) > MOST_LINES:
        return None
    tree = tree_of(without_gutter(lines), marked_up=marked_up)
    if max(tree.depths) > DEEPEST:
        return None
    pieces = Pieces(_chosen(lines, tree, query, bytes_for(room, source)), len(lines))
    return shape_pieces(pieces, source, room, marker, f"of {len(lines):,} lines")


def shape_elements(source: Source, room: Room, query: Query, marker: Marker) -> Shaped | None:
    """The same for elements that share their lines: each is shown on one of its own."""
    if len(source.data) > MOST_BYTES or source.data.count(b"><") > MOST_LINES:
        return None
    parts = BETWEEN.split(source.data.removesuffix(b"\n"))
    room_bytes = bytes_for(room, source)
    if max(map(len, parts)) > room_bytes * LONGEST_LINE:
        return None
    starts = list(accumulate(map(len, parts), initial=0))
    elements = [part.decode(errors="replace") for part in parts]
    tree = tree_of_elements(elements)
    if max(tree.depths) > DEEPEST:
        return None
    chosen = _chosen(elements, tree, query, room_bytes)
    items = [
        piece._replace(first=starts[piece.first - 1], last=starts[piece.first] - 1)
        for piece in chosen
    ]
    note = marker.aside(ON_LINES)
    pieces = Pieces(items, len(source.data), what="bytes", before=(note,))
    return shape_pieces(pieces, source, room, marker, f"of {len(elements):,} elements")


def _chosen(lines: Sequence[str], tree: Tree, query: Query, room_bytes: float) -> list[Piece]:
    """The lines that can be shown, and what each is worth."""
    worths: dict[int, float] = {}
    pointed = _pointed(lines, tree, query)
    least, beyond = POINTED
    block = QUESTION_BLOCK if len(query.words) <= QUESTION_WORDS else BLOCK
    for number, needed in _answers(pointed, tree, lines, room_bytes * POINTED_PART, block):
        own = least + beyond * pointed[number]
        for other in needed:
            worths[other] = max(worths.get(other, 0.0), own * NEEDED)
        worths[number] = max(worths[number], own)
    odd = dict.fromkeys(_with_names(tree, _odd(tree)[:MOST_ODD]))
    outline = _outline(tree)
    part = ASKED_PART if pointed else PART
    for ranked, worth in ((odd, ODD), (outline, OUTLINED)):
        for number in within(ranked, lines, room_bytes * part):
            worths[number] = max(worths.get(number, 0.0), worth)
    # A line that is missing alone may take less than the note about it.
    between = {number + 1 for number in worths if number + 2 in worths} - worths.keys()
    worths |= dict.fromkeys(between, 0.0)
    return with_ends(lines, worths, room_bytes, HEAD_LEAN)


def _pointed(lines: Sequence[str], tree: Tree, query: Query) -> Pointed:
    """What the query points at: a line is read with what it stands under and its thing's name."""
    if not query.words:
        return {}
    settings = tree.settings
    named = {
        thing: " ".join(f"{settings[name].key} {settings[name].value}" for name in names)
        for thing, names in tree.called.items()
    }
    said = Counter(zip(tree.paths, [setting.value for setting in settings], strict=True))
    most = max(len(tree.things) * MOST_ALIKE, LEAST_ALIKE)
    above: list[str] = []
    texts: list[str] = []
    for number, line in enumerate(lines):
        parent, thing, setting = tree.parents[number], tree.thing_of.get(number), settings[number]
        above.append(f"{above[parent]} {settings[parent].key}" if parent >= 0 else "")
        name = "" if thing is None else named[thing]
        is_common = setting.is_said and said[tree.paths[number], setting.value] > most
        own = "" if is_common and setting.value else line
        texts.append(f"{name} {above[number]} {own}" if setting.is_said else line)
    extremes = dict.fromkeys(_extremes(tree, query), 1.0)
    return {**extremes, **pointed_by(query, texts, common_share=COMMON_SHARE), **extremes}


def _extremes(tree: Tree, query: Query) -> list[int]:
    """The lines with the most or the least of what a superlative is asked of."""
    if SUPERLATIVES.isdisjoint(query.words):
        return []
    numbers: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for number, setting in enumerate(tree.settings):
        if setting.key and (found := NUMBER.match(setting.value)):
            numbers[setting.key][number] = float(found[1])
    several = {key: found for key, found in numbers.items() if len(found) > 1}
    asked = [several[key] for key in asked_fields(several, query.words)]
    ends = [[end(found, key=found.__getitem__) for end in (min, max)] for found in asked]
    return [number for least, most in ends for number in asked_ends(least, most, query.words)]


def _answers(
    pointed: Pointed, tree: Tree, lines: Sequence[str], room_bytes: float, block: int
) -> Iterator[tuple[int, list[int]]]:
    """As many of the lines as there is room for, each with what it needs."""
    seen: set[int] = set()
    for number in pointed:
        needed = _needed(tree, number, block)
        room_bytes -= sum(len(lines[other]) + 1 for other in {*needed} - seen)
        if room_bytes < 0 and seen:
            return
        seen.update(needed)
        yield number, needed


def _needed(tree: Tree, number: int, block: int) -> list[int]:
    """A line, what it stands under, what names its thing, and the part of that it stands in."""
    around = range(number, min(tree.stops[number], number + 1 + block))
    if not tree.settings[number].is_said:
        around = range(number, min(number + 1 + NEAR, len(tree.settings)))
    for above in tree.above(number):
        if tree.stops[above] - above > block:
            break
        around = range(above, tree.stops[above])
    beside = tree.beside(number)[:BLOCK] if tree.settings[number].key in CALLED else ()
    return [*tree.names_of(number), *tree.above(number), *around, *beside]


def _odd(tree: Tree) -> list[int]:
    """What tells of trouble, then what few of the things have that are alike, the fewest first."""
    return [*_loud(tree), *(n for _, n in sorted([*_odd_values(tree), *_odd_settings(tree)]))]


def _loud(tree: Tree) -> list[int]:
    """Lines that say that something went wrong, where few do; keys and sentences tell what may."""
    values = [setting.value.encode(errors="replace") for setting in tree.settings]
    data = b"\n".join(values)
    starts = list(accumulate([len(value) + 1 for value in values], initial=0))
    found: dict[int, float] = {}
    for sign, end in SCANNER.hits(data, MOST_HITS):
        number = bisect_right(starts, end - 1) - 1
        worth = weight(data, [(sign, end)], values[number])
        if worth >= LEAST_LOUD and len(values[number].split()) <= LOUD_WORDS:
            found[number] = max(found.get(number, 0.0), worth)
    if len(found) > LOUD_SHARE * len(values):
        return []
    return sorted(found, key=lambda number: (-found[number], number))


def _odd_settings(tree: Tree) -> list[tuple[float, int]]:
    """Lines with a setting that few of those have that could have it, and how few."""
    counts = Counter(tree.paths)
    found: list[tuple[float, int]] = []
    for number, path in enumerate(tree.paths):
        parent = tree.parents[number]
        if parent < 0 or not tree.settings[number].key:
            continue
        could = counts[tree.paths[parent]]
        if could >= LEAST_COULD and counts[path] <= ODD_SHARE * could:
            found.append((counts[path] / could, number))
    return found


def _odd_values(tree: Tree) -> list[tuple[float, int]]:
    """Lines with a value that few others of the same setting have, where most have another."""
    by_path: defaultdict[int, list[int]] = defaultdict(list)
    for number, path in enumerate(tree.paths):
        setting = tree.settings[number]
        if setting.value and setting.key and setting.key not in CALLED:
            by_path[path].append(number)
    found: list[tuple[float, int]] = []
    for numbers in by_path.values():
        counts = Counter(tree.settings[number].value for number in numbers)
        usual = max(counts.values())
        if len(numbers) < LEAST_ALIKE or usual < USUAL_SHARE * len(numbers):
            continue
        few = max(1, ODD_SHARE * len(numbers))
        shares = ((counts[tree.settings[number].value], number) for number in numbers)
        found += [(count / len(numbers), number) for count, number in shares if count <= few]
    return found


def _with_names(tree: Tree, numbers: Sequence[int]) -> Iterator[int]:
    """Each line, the names of the thing it belongs to, what it stands under; then what under it."""
    for number in numbers:
        yield from (number, *tree.names_of(number), *tree.above(number))
    for number in numbers:
        yield from range(number + 1, min(tree.stops[number], number + 1 + BLOCK))


def _outline(tree: Tree) -> Iterator[int]:
    """What the things are called, then what was not said before, the outer lines first."""
    names = dict.fromkeys(name for called in tree.called.values() for name in called)
    yield from names
    by_depth: defaultdict[int, list[int]] = defaultdict(list)
    for number, depth in enumerate(tree.depths):
        if tree.settings[number].is_said and number not in names:
            by_depth[depth].append(number)
    said: set[tuple[int, str]] = set()
    for depth in sorted(by_depth):
        for number in by_depth[depth]:
            what = (tree.paths[number], tree.settings[number].value)
            if what not in said:
                said.add(what)
                yield number
