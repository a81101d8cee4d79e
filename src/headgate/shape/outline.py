"""The outline of source code, told from its lines: what is imported, what is defined, how deep.

No parser: code comes in every language, in pieces, with line numbers before it, and often broken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge

from headgate.shape.gutter import without_gutter

IMPORTS = re.compile(
    r"(?:import|from|using|use|package|require|include|extern crate|#include|#import|@import)\b"
    r"[ \w\"'<({*@.]"
    r"|(?:const|let|var) [\w{}, ]+ = require\(|\} from ['\"]"
)
MODIFIERS = (
    r"(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|final|async"
    r"|abstract|virtual|override|inline|unsafe|const|extern|sealed|partial|open|data|suspend|declare"
    r"|readonly) )*"
)
KEYWORDS = (
    r"(?:def|class|function\*?|func|fn|interface|struct|enum|impl|trait|module|namespace|type"
    r"|record|object|protocol|extension|macro_rules!|sub|procedure|defmodule|defp?|macro|union|mod|contract"
    r"|CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|INDEX|TRIGGER))\b"
)
DEFINED = re.compile(
    MODIFIERS + KEYWORDS + r"[ (<*]?\S"
    r"|" + MODIFIERS + r"(?:const|let|var|val) \w+(?:: [^=]+)? = (?:async )?(?:\(|function|\w+ =>)"
    r"|(?:describe|it|test|context)\(['\"`]"
    r"|[A-Z][A-Z0-9_]{2,} (?::=|=) |#define \w"
)
"""How a definition begins, in languages that have a word for it."""

SIGNATURE = re.compile(
    r"(?:[\w:<>\[\],&*~?.]+ )+[*&]?[\w:~]+\([^;={]*\)[^;=]*\{?$"
    r"|\w+\([^;={]*\)(?:: [\w<>\[\]| ]+)? \{$"
)
"""A function as C and its heirs write it, or a method without a word for it."""

NO_SIGNATURE = re.compile(
    r"(?:if|for|while|switch|catch|else|return|elif|with|when|match|do|try)\b"
)

NAME = re.compile(
    MODIFIERS + KEYWORDS + r" *(?:\([^)]*\) *)?[*&]?(\w+)"
    r"|" + MODIFIERS + r"(?:const|let|var|val|#define) +(\w+)"
    r"|(?!(?:describe|it|test|context)\()[^(=]*?\b(\w+)(?:\(| :?= )"
)
"""What a definition is called; before that, in Go, what it belongs to."""

OPENING_OR_CLOSING = ("{", "}", ")", "]")

DECORATOR = re.compile(r"@\w|#\[|\[\w+\(")
FIRST = re.compile(
    r"[@#\[}A-Z]|(?:abstract|async|class|con|data|de[cf]|describe|enum|exp|ext|final|fn|from|func|imp"
    r"|inc|inline|int|it\b|let|macro|mod|namespace|object|open|override|pa[cr]|pr[io]|pub|re[acq]|sealed"
    r"|st[ar]|su[bs]|test|trait|type|union|unsafe|us[ei]|va[lr]|virtual)"
)
"""How a line may begin that is worth a closer look; most lines are not."""

IMPORT_STARTS = frozenset(
    {"im", "fr", "us", "pa", "re", "in", "ex", "#i", "@i", "co", "le", "va", "} "}
)
"""The first two letters of what is imported."""

TAB_SPACES = 4
LEAST_CHARS = 5
MOST_CHARS = 400


@dataclass(frozen=True, slots=True)
class Outline:
    """What was found in each line."""

    imports: list[int]
    defined: Iterator[tuple[int, int]]
    """Lines that begin a definition, and how deep each stands; the outer ones first.

    Looked for level by level, as they are asked for: few readers have room for the inner ones.
    """


def outline_of(lines: Sequence[str]) -> Outline:
    """Look at each line by itself; lines are counted from 0."""
    lines = without_gutter(lines)
    imports: list[int] = []
    by_indent: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        text = line.lstrip()
        if not LEAST_CHARS <= len(text) <= MOST_CHARS:
            continue
        if text[:2] in IMPORT_STARTS and IMPORTS.match(text):
            imports.append(number)
        else:
            by_indent[line[: len(line) - len(text)]].append(number)
    levels: dict[int, list[int]] = {}
    for indent, numbers in by_indent.items():
        level = len(indent.expandtabs(TAB_SPACES))
        levels[level] = sorted([*levels.get(level, ()), *numbers])
    return Outline(imports, _defined(lines, levels))


def name_defined(line: str) -> str:
    """What a line defines, if it begins a definition; of a line without a number before it."""
    text = line.strip()
    if not LEAST_CHARS <= len(text) <= MOST_CHARS or not _is_definition(text):
        return ""
    named = NAME.match(text)
    return named[named.lastindex or 0] if named else ""


def body_of(lines: Sequence[str], number: int) -> range:
    """The lines of a definition: those that stand deeper than its first, and what closes it."""
    level = _level(lines[number])
    stop = number + 1
    for at in range(stop, len(lines)):
        text = lines[at].strip()
        if not text:
            continue
        if _level(lines[at]) <= level and not text.startswith(OPENING_OR_CLOSING):
            break
        stop = at + 1
    return range(number, stop)


def _level(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(TAB_SPACES))


def _defined(
    lines: Sequence[str], levels: Mapping[int, Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """What is defined in lines by level; a decorator stands one deeper than what it decorates."""
    decorators: list[int] = []
    before = -1
    for level in sorted(levels):
        if level > before + 1:
            yield from ((number, before + 1) for number in decorators)
            decorators = []
        inner: list[int] = []
        for number in merge(_definitions(lines, levels[level], inner), decorators):
            yield number, level
        decorators, before = inner, level
    yield from ((number, before + 1) for number in decorators)


def _definitions(
    lines: Sequence[str], numbers: Iterable[int], decorators: list[int]
) -> Iterator[int]:
    """Those of the lines that begin a definition; those that are decorators are put aside."""
    for number in numbers:
        text = lines[number].lstrip()
        if FIRST.match(text) and DECORATOR.match(text):
            decorators.append(number)
        elif _is_definition(text):
            yield number


def _is_definition(text: str) -> bool:
    if FIRST.match(text) is None and text[-1] not in "{)":
        return False
    return DEFINED.match(text) is not None or _is_signature(text)


def _is_signature(text: str) -> bool:
    # With either of these it is a statement, and the pattern would try every bracket in vain.
    if ";" in text or "=" in text or NO_SIGNATURE.match(text):
        return False
    return SIGNATURE.match(text) is not None
