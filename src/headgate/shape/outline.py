"""The outline of source code, told from its lines: what is imported, what is defined, how deep.

No parser: code comes in every language, in pieces, with line numbers before it, and often broken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

GUTTER = re.compile(r" *\d{1,7}(?:\t|→|: ?| ?\| ?)")
"""The line number that a file reader puts before a line."""

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
DEFINED = re.compile(
    MODIFIERS
    + r"(?:def|class|function\*?|func|fn|interface|struct|enum|impl|trait|module|namespace|type"
    r"|record|object|protocol|extension|macro_rules!|sub|procedure|defmodule|defp?|macro|union|mod|contract"
    r"|CREATE (?:OR REPLACE )?(?:TABLE|VIEW|FUNCTION|INDEX|TRIGGER))\b[ (<*]?\S"
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

DECORATOR = re.compile(r"@\w|#\[|\[\w+\(")
FIRST = re.compile(
    r"[@#\[}A-Z]|(?:abstract|async|class|con|data|de[cf]|describe|enum|exp|ext|final|fn|from|func|imp"
    r"|inc|inline|int|it\b|let|macro|mod|namespace|object|open|override|pa[cr]|pr[io]|pub|re[acq]|sealed"
    r"|st[ar]|su[bs]|test|trait|type|union|unsafe|us[ei]|va[lr]|virtual)"
)
"""How a line may begin that is worth a closer look; most lines are not."""

TAB = " " * 4


@dataclass(frozen=True, slots=True)
class Outline:
    """What was found in each line."""

    imports: list[int]
    defined: list[tuple[int, int]]
    """Lines that begin a definition, and how deep each stands; deeper is more."""


def outline_of(lines: Sequence[str]) -> Outline:
    """Look at each line by itself; lines are counted from 0."""
    has_gutter = _has_gutter(lines)
    imports: list[int] = []
    defined: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if has_gutter:
            line = GUTTER.sub("", line, count=1)
        text = line.lstrip()
        if len(text) < 5 or len(text) > 400:
            continue
        if FIRST.match(text) is None and text[-1] not in "{)":
            continue
        if IMPORTS.match(text):
            imports.append(number)
            continue
        is_decorator = DECORATOR.match(text) is not None
        if is_decorator or DEFINED.match(text) or _is_signature(text):
            spaces = line.expandtabs(len(TAB))
            defined.append((number, len(spaces) - len(spaces.lstrip()) + is_decorator))
    return Outline(imports, defined)


def _is_signature(text: str) -> bool:
    # With either of these it is a statement, and the pattern would try every bracket in vain.
    if ";" in text or "=" in text or NO_SIGNATURE.match(text):
        return False
    return SIGNATURE.match(text) is not None


def _has_gutter(lines: Sequence[str]) -> bool:
    first = [line for line in lines[:40] if line]
    return len(first) > 2 and sum(map(bool, map(GUTTER.match, first))) >= 0.8 * len(first)
