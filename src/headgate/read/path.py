"""Values of a JSON document by path, as slices of its own bytes, within a budget.

Any path on any document ends: each value looked at, and the bytes of each one taken apart, are
paid for, and when nothing is left the answer says that it is not complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from headgate.errors import RequestError
from headgate.read.path_syntax import (
    All,
    Comparable,
    Compares,
    Every,
    Exists,
    Filter,
    Index,
    Literally,
    Name,
    Not,
    Operand,
    Range,
    Selector,
    Step,
    Test,
    Way,
    parse,
)
from headgate.shape.items import items_of
from headgate.slices import JsonKind, compact, depth_of, key_text, kind_of, members

BYTES_PER_STEP = 512
DEEP_BYTES_PER_STEP = 8
"""How many bytes are taken apart for the price of looking at one value; deep ones take longer."""

DEEPEST = 500
"""Levels that are gone down: a location beyond them is longer than anybody reads."""

HELD_BYTES = 512 * 1024 * 1024
"""Copies of arrays inside of arrays that are in memory at a time."""

ANSWER_BYTES = 64 * 1024 * 1024
"""All matches together; each is a copy."""


@dataclass(frozen=True, slots=True)
class Found:
    """Values with their locations, in the order of the document."""

    matches: list[tuple[str, bytes]]
    truncated: bool
    """Whether there may be more: the most matches were found, or the budget was spent."""


def find(data: bytes, path: str, *, most: int, budget: int) -> Found:
    """The values that a path selects, byte for byte, with their locations as normalised paths.

    `budget` is how many values may be looked at. JSON lines are one array. Raises `RequestError`
    for a path that cannot be read and for a result that is no JSON.
    """
    way = parse(path)
    root, depth = _document(data)
    search = _Search(root, budget, BYTES_PER_STEP if depth == "plain" else DEEP_BYTES_PER_STEP)
    matches: list[tuple[str, bytes]] = []
    size = 0
    try:
        for value in search.along(way, search.root):
            if len(matches) == most or size > ANSWER_BYTES:
                return Found(matches, truncated=True)
            matches.append((location_of(value), bytes(value.raw)))
            size += len(value.raw)
    except _Spent:
        return Found(matches, truncated=True)
    return Found(matches, truncated=search.went_too_deep)


def _document(data: bytes) -> tuple[bytes, str]:
    depth = depth_of(data)
    if depth is not None:
        return data.strip(), depth
    lines = b"[%b]" % b",".join(line for line in data.split(b"\n") if line.strip())
    depth = depth_of(lines)
    if depth is None:
        raise RequestError("the result is no JSON; read it by lines, bytes or search")
    return lines, depth


class _Spent(Exception):
    """Nothing is left of the budget."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, and the way to it."""

    raw: bytes
    """A slice: `len` and `bytes` of it, but not the methods of bytes."""
    parent: _Value | None = None
    step: str | int = ""
    level: int = 0
    held_bytes: int = 0
    """Copies of the arrays on the way to it, all in memory meanwhile."""


def location_of(value: _Value) -> str:
    """The normalised path of a value: `$['items'][3]`."""
    steps: list[str] = []
    while value.parent is not None:
        step = value.step
        steps.append(f"[{step}]" if isinstance(step, int) else f"['{_escaped(step)}']")
        value = value.parent
    return "$" + "".join(reversed(steps))


def _escaped(name: str) -> str:
    written = json.dumps(name, ensure_ascii=False)[1:-1]
    return written.replace('\\"', '"').replace("'", "\\'")


class _Search:
    """One search in one document."""

    def __init__(self, root: bytes, budget: int, bytes_per_step: int) -> None:
        self.root = _Value(root)
        self.left = budget
        self.bytes_per_step = bytes_per_step
        self.went_too_deep = False

    def along(self, way: Way, value: _Value) -> Iterator[_Value]:
        """The values at the end of a way that begins at `value`."""
        values: Iterable[_Value] = [self.root if way.from_root else value]
        for step in way.steps:
            values = self._take(step, values)
        return iter(values)

    def _take(self, step: Step, values: Iterable[_Value]) -> Iterator[_Value]:
        for value in values:
            for start in self._below(value) if step.is_deep else (value,):
                for selector in step.selectors:
                    yield from self._select(selector, start)

    def _below(self, value: _Value) -> Iterator[_Value]:
        """The value itself and all below it, parents first."""
        yield value
        opened = [self._parts(value)]
        while opened:
            part = next(opened[-1], None)
            if part is None:
                opened.pop()
                continue
            yield part
            if _is_container(part.raw):
                opened.append(self._parts(part))

    def _select(self, selector: Selector, value: _Value) -> Iterator[_Value]:
        if isinstance(selector, Name):
            yield from self._named(selector, value)
        elif isinstance(selector, Every):
            yield from self._parts(value)
        elif isinstance(selector, Filter):
            for part in self._parts(value):
                if self._passes(selector.test, part):
                    yield part
        elif _kind(value.raw) == "array":
            yield from self._numbered(selector, value)

    def _named(self, selector: Name, value: _Value) -> Iterator[_Value]:
        if _kind(value.raw) == "object":
            for part in self._parts(value):
                if part.step == selector.name:
                    yield part
        elif selector.is_index and _kind(value.raw) == "array":
            yield from self._numbered(Index(int(selector.name)), value)

    def _numbered(self, selector: Index | Range, value: _Value) -> Iterator[_Value]:
        self._pay_for(value)
        held = value.held_bytes + len(value.raw)
        if held > HELD_BYTES:
            raise _Spent
        items = items_of(bytes(value.raw))
        for number in _numbers(selector, len(items)):
            self._pay(1)
            yield _Value(items[number], value, number, value.level + 1, held)

    def _parts(self, value: _Value) -> Iterator[_Value]:
        """The items or members of a value, each paid for."""
        kind = _kind(value.raw)
        if kind not in ("array", "object"):
            return
        if value.level >= DEEPEST:
            self.went_too_deep = True
            return
        if kind == "array":
            yield from self._numbered(Range(None, None, None), value)
            return
        self._pay_for(value)
        for key, raw in members(value.raw):
            self._pay(1)
            yield _Value(raw, value, key_text(key), value.level + 1, value.held_bytes)

    def _pay_for(self, value: _Value) -> None:
        self._pay(1 + len(value.raw) // self.bytes_per_step)

    def _pay(self, price: int) -> None:
        self.left -= price
        if self.left < 0:
            raise _Spent

    def _passes(self, test: Test, value: _Value) -> bool:
        if isinstance(test, Exists):
            return next(self.along(test.way, value), None) is not None
        if isinstance(test, Compares):
            return self._compares(test, value)
        if isinstance(test, Not):
            return not self._passes(test.test, value)
        if isinstance(test, All):
            return all(self._passes(each, value) for each in test.tests)
        return any(self._passes(each, value) for each in test.tests)

    def _compares(self, test: Compares, value: _Value) -> bool:
        left, right = self._value(test.left, value), self._value(test.right, value)
        if test.operator in ("==", "!="):
            return (left == right) is (test.operator == "==")
        if left is None or right is None:
            return left is right and test.operator in ("<=", ">=")
        return left[0] == right[0] and _in_order(left, test.operator, right)

    def _value(self, operand: Operand, value: _Value) -> Comparable | None:
        if isinstance(operand, Literally):
            return operand.value
        found = next(self.along(operand, value), None)
        return None if found is None else _comparable(bytes(found.raw))


def _in_order(left: Comparable, operator: str, right: Comparable) -> bool:
    """Whether two values are in order; all but numbers and strings can only be equal."""
    order = _order(left[1], right[1])
    return order in {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (1, 0)}[operator]


def _order(one: str | Decimal | bytes, other: str | Decimal | bytes) -> int | None:
    if one == other:
        return 0
    if isinstance(one, str) and isinstance(other, str):
        return -1 if one < other else 1
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return -1 if one < other else 1
    return None


def _comparable(raw: bytes) -> Comparable:
    """A value in the form in which values are compared."""
    kind = kind_of(raw)
    if kind == "string":
        return kind, str(json.loads(raw.decode(errors="replace")))
    if kind == "number":
        try:
            return kind, Decimal(raw.decode())
        except InvalidOperation:
            return "literal", raw
    return kind, compact(raw)


def _numbers(selector: Index | Range, total: int) -> range:
    """The numbers of the items that a selector selects from so many."""
    if isinstance(selector, Index):
        number = selector.number + (total if selector.number < 0 else 0)
        return range(number, number + 1) if 0 <= number < total else range(0)
    if selector.step == 0:
        return range(0)
    return range(*slice(selector.start, selector.stop, selector.step).indices(total))


def _kind(raw: bytes) -> JsonKind:
    return kind_of(bytes(memoryview(raw)[:1]))


def _is_container(raw: bytes) -> bool:
    return _kind(raw) in ("array", "object")
