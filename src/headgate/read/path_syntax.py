"""JSON paths as text: RFC 9535 without functions, read leniently where no other meaning is lost.

Beyond the standard, `$` may be left out at the start, a name after a dot may have hyphens, and a
number after a dot counts as an index where it stands on an array: `items.0.created-at`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from headgate.errors import RequestError

PATH_BYTES = 1_024
"""The longest path; what a reader needs is far shorter."""

MOST_STEPS = 100
MOST_NESTING = 16
"""How many steps a path has at most, and how deep its filters nest."""

SHOWN_CHARS = 80
"""How much of a path is repeated to who wrote it."""

Operator = Literal["==", "!=", "<=", ">=", "<", ">"]
OPERATORS: tuple[Operator, ...] = ("==", "!=", "<=", ">=", "<", ">")

SPACE = re.compile(r"[ \t\r\n]*")
NAME = re.compile(r"[^\W\d](?:[\w-]*\w)?")
DIGITS = re.compile(r"\d{1,18}(?![\w-])")
INTEGER = re.compile(r"-?\d{1,18}")
NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,6})?")
RANGE = re.compile(
    r"(-?\d{1,18})?[ \t\r\n]*:[ \t\r\n]*(-?\d{1,18})?(?:[ \t\r\n]*:[ \t\r\n]*(-?\d{1,18})?)?"
)
STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
WORD = re.compile(r"(?:true|false|null)(?![\w-])")


@dataclass(frozen=True, slots=True)
class Name:
    """The member of this name; `is_index`: on an array the item of this number."""

    name: str
    is_index: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """The item of this number, counted from the end where it is negative."""

    number: int


@dataclass(frozen=True, slots=True)
class Range:
    """Items by their numbers, as in `[1:10:2]`."""

    start: int | None
    stop: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Every:
    """Every item or member."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The items or members that pass a test."""

    test: Test


Selector: TypeAlias = Name | Index | Range | Every | Filter


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: what it selects, and whether at any depth below."""

    selectors: tuple[Selector, ...]
    is_deep: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """The steps from the root of the document, or from the value that a filter looks at."""

    steps: tuple[Step, ...]
    from_root: bool = True

    @property
    def leads_to_one(self) -> bool:
        """Whether it selects at most one value."""
        return all(
            not step.is_deep
            and len(step.selectors) == 1
            and isinstance(step.selectors[0], Name | Index)
            for step in self.steps
        )


@dataclass(frozen=True, slots=True)
class Literally:
    """A value written in the path, in the form in which values are compared."""

    value: Comparable


Comparable: TypeAlias = tuple[str, str | Decimal | bytes]
"""A sort and a value; only equal sorts compare."""

Operand: TypeAlias = Way | Literally


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a path selects anything."""

    way: Way


@dataclass(frozen=True, slots=True)
class Compares:
    """Whether two values compare as asked."""

    left: Operand
    operator: Operator
    right: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """Whether a test fails."""

    test: Test


@dataclass(frozen=True, slots=True)
class All:
    """Whether all tests pass."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Whether one of the tests passes."""

    tests: tuple[Test, ...]


Test: TypeAlias = Exists | Compares | Not | All | Any


def parse(path: str) -> Way:
    """Read a path; raises `RequestError` with the place where it cannot be read."""
    if len(path.encode(errors="replace")) > PATH_BYTES:
        raise RequestError(f"path is longer than {PATH_BYTES} bytes")
    return _Parser(path).whole()


class _Parser:
    """Reads one path from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.steps = 0
        self.nesting = 0

    def whole(self) -> Way:
        self.spaces()
        first = self.steps_from_name() if not self.takes("$") else ()
        way = Way((*first, *self.steps_here()))
        self.spaces()
        if self.at < len(self.text):
            raise self.refused("'.' or '['")
        return way

    def steps_from_name(self) -> tuple[Step, ...]:
        """A path that does not say `$` begins with a name, a dot or a bracket."""
        if self.text[self.at : self.at + 1] in (".", "["):
            return ()
        return (self.dotted(is_deep=False),)

    def steps_here(self) -> tuple[Step, ...]:
        steps: list[Step] = []
        while True:
            before = self.at
            self.spaces()
            if self.takes("..") or self.takes("."):
                is_deep = self.text[before : self.at].endswith("..")
                step = self.bracketed(is_deep) if self.sees("[") else self.dotted(is_deep)
            elif self.sees("["):
                step = self.bracketed(is_deep=False)
            else:
                self.at = before
                return tuple(steps)
            steps.append(step)
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise RequestError(f"path has more than {MOST_STEPS} steps")

    def dotted(self, is_deep: bool) -> Step:
        if self.takes("*"):
            return Step((Every(),), is_deep)
        if digits := self.matches(DIGITS):
            return Step((Name(digits, is_index=True),), is_deep)
        if name := self.matches(NAME):
            return Step((Name(name),), is_deep)
        raise self.refused("a name, '*' or '['")

    def bracketed(self, is_deep: bool) -> Step:
        self.takes("[")
        selectors = [self.selector()]
        while self.after_spaces(","):
            selectors.append(self.selector())
        if not self.after_spaces("]"):
            raise self.refused("',' or ']'")
        return Step(tuple(selectors), is_deep)

    def selector(self) -> Selector:
        self.spaces()
        if self.takes("*"):
            return Every()
        if self.takes("?"):
            return Filter(self.test())
        if self.sees("'") or self.sees('"'):
            return Name(self.string())
        if (found := RANGE.match(self.text, self.at)) is not None:
            self.at = found.end()
            return Range(*(None if part is None else int(part) for part in found.groups()))
        if number := self.matches(INTEGER):
            return Index(int(number))
        raise self.refused("a name in quotes, a number, a slice, '*' or '?'")

    def test(self) -> Test:
        tests = [self.all_of()]
        while self.after_spaces("||"):
            tests.append(self.all_of())
        return tests[0] if len(tests) == 1 else Any(tuple(tests))

    def all_of(self) -> Test:
        tests = [self.one_test()]
        while self.after_spaces("&&"):
            tests.append(self.one_test())
        return tests[0] if len(tests) == 1 else All(tuple(tests))

    def one_test(self) -> Test:
        self.nesting += 1
        if self.nesting > MOST_NESTING:
            raise RequestError(f"path nests its filters deeper than {MOST_NESTING} levels")
        self.spaces()
        found = self.negated() or self.grouped() or self.compared()
        self.nesting -= 1
        return found

    def negated(self) -> Test | None:
        return Not(self.one_test()) if self.takes("!") else None

    def grouped(self) -> Test | None:
        if not self.takes("("):
            return None
        found = self.test()
        if not self.after_spaces(")"):
            raise self.refused("')'")
        return found

    def compared(self) -> Test:
        left, start = self.operand(), self.at
        self.spaces()
        operator = next((each for each in OPERATORS if self.takes(each)), None)
        if operator is None:
            self.at = start
            if isinstance(left, Literally):
                raise self.refused("'==', '!=', '<', '<=', '>' or '>='")
            return Exists(left)
        self.spaces()
        right = self.operand()
        for operand in left, right:
            if isinstance(operand, Way) and not operand.leads_to_one:
                raise self.refused("a path to one value to compare", at=start)
        return Compares(left, operator, right)

    def operand(self) -> Operand:
        if self.takes("@"):
            return Way(self.steps_here(), from_root=False)
        if self.takes("$"):
            return Way(self.steps_here())
        if self.sees("'") or self.sees('"'):
            return Literally(("string", self.string()))
        if number := self.matches(NUMBER):
            return Literally(("number", Decimal(number)))
        if word := self.matches(WORD):
            return Literally(("literal", word.encode()))
        raise self.refused("'@', '$', a number, a text in quotes, true, false or null")

    def string(self) -> str:
        start = self.at
        written = self.matches(STRING)
        if written is None:
            raise self.refused("the closing quote", at=len(self.text))
        inside = re.sub(r"\\'", "'", re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', written[1:-1]))
        try:
            return str(json.loads(f'"{inside}"', strict=False))
        except ValueError as error:
            raise self.refused("a text in quotes without unknown escapes", at=start) from error

    def sees(self, word: str) -> bool:
        return self.text.startswith(word, self.at)

    def takes(self, word: str) -> bool:
        if not self.sees(word):
            return False
        self.at += len(word)
        return True

    def after_spaces(self, word: str) -> bool:
        self.spaces()
        return self.takes(word)

    def spaces(self) -> None:
        found = SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def matches(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def refused(self, expected: str, at: int | None = None) -> RequestError:
        place = self.at if at is None else at
        shown = self.text if len(self.text) <= SHOWN_CHARS else self.text[:SHOWN_CHARS] + "…"
        return RequestError(f"path {shown!r}: expected {expected} at character {place + 1}")
