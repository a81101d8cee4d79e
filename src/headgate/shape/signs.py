"""The signs by which a line is known to matter, and what takes from their weight.

Patterns and weights are data. They are looked for in one pass over the text; a sign ends where its
pattern ends, so each is written to end once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from headgate.scan import Hit, Scanner
from headgate.shape.matcher import Matcher

ENDS: tuple[tuple[bytes, float], ...] = (
    (rb"(?i)\bexit(ed)?( with)?( exit)?( code| status)?[ :=]+[1-9]", 3),
    (rb"(?i)\b(status|code|returned)[ :=]+[1-9][0-9]{0,2}\b", 3),
    (rb"\*\*\* .{0,200}Error [1-9]", 3),
)
"""A command ended badly: what it printed last stands before this."""

COUNTS: tuple[tuple[bytes, float], ...] = (
    (rb"(?i)\b[1-9][0-9]* (failed|failing|errors?|failures?|problems?)\b", 7),
    (rb"(?i)\b(failures|errors|failed): ?[1-9]", 7),
    (rb"\b[0-9]+ (passed|passing)\b", 5),
)
"""How much failed, or went well."""

WORDS: tuple[tuple[bytes, float], ...] = (
    (rb"(?i)\berrors?\b ?[:\]!)]|\berr!|\berror [a-z]{0,3}[0-9]|^[ \t]*error\b", 5),
    (rb"(?i)\berrors?\b", 5),
    (rb"(?i)\bfail(ed|ure|ures|s|ing)?\b", 7),
)
"""Words that mean trouble, or are part of a name: `error-handling.js`."""

CLASSES: tuple[tuple[bytes, float], ...] = ((rb"(Error|Exception)\b", 7),)
"""How what is raised is called; or only a file of it is: `EncoderException.java`."""

OTHERS: tuple[tuple[bytes, float], ...] = (
    (rb"(?i)\b(fatal|panic|panicked|segmentation fault|core dumped|out of memory|oomkilled)\b", 8),
    (rb"(?i)\b(abort(ed)?|deadlock(ed)?)\b", 6),
    (rb"(?i)traceback \(most recent call last\)|^exception in|stack ?trace", 6),
    (rb"^([a-z_][a-z_0-9]*\.)+[A-Z][A-Za-z]+: \S", 7),
    (rb"\bFAIL(ED|URE|URES|S)?\b|\bFailures?:", 11),
    ("✖|✗|✘|✕|×|●|❌".encode(), 4),
    (rb"^[ \t]*not ok\b", 6),
    (rb"^[ \t]*[0-9]{1,4}\) \S", 11),
    (rb"\.[A-Za-z]{1,5}(:[1-9]|\([1-9])", 4),
    (rb"(?i)\b(expected|received|actual|got|but was|instead of|assert[a-z]*|mismatch)\b", 3),
    (
        rb"(?i)\b(cannot|can't|could not|couldn't|unable to|unexpected|undefined|unresolved|unknown"
        rb"|invalid|missing|not found|no such|denied|refused|timed out|timeout|does ?n[o']t|must be"
        rb"|should|killed|corrupt(ed)?|unreachable)\b",
        2.5,
    ),
    (rb"(?i)\b(critical|severe|emerg|alert)\b", 5),
    (rb"(?i)\b(warn|warnings?|deprecated)\b", 1.5),
    (rb"^(_{3,}|={3,}|-{3,}|\*{3,}|#{3,}) \S.{0,160} (_{3,}|={3,}|-{3,}|\*{3,}|#{3,})$", 5),
    (rb"(HTTP/[0-9.]{1,3}\"|\bstatus\"?[:=]) ?5[0-9][0-9]\b", 6),
    ("[^ ] (━━━━━━━━|────────|════════|⎯⎯⎯⎯⎯⎯⎯⎯)".encode(), 12),
)

SIGNS = (*ENDS, *COUNTS, *WORDS, *CLASSES, *OTHERS)
SCANNER = Scanner([pattern for pattern, _ in SIGNS])
WEIGHTS = tuple(weight for _, weight in SIGNS)

ENDING = frozenset(map(SIGNS.index, ENDS))
COUNTING = frozenset(map(SIGNS.index, COUNTS))
NAMING = frozenset(map(SIGNS.index, WORDS))
CLASSING = frozenset(map(SIGNS.index, CLASSES))
"""Where these stand among all signs, which is how the scanner calls them."""

MORE = 0.3
"""What a second sign in the same line adds to the weightiest."""

NOTHING_WRONG = (
    r"\b(?:0|no|without|zero) (?:errors?|fail(?:ures?|ed|ing|s)?|warnings?|problems?|exceptions?)\b"
    r"|\b(?:errors?|failures?|failed|warnings?)\s?[:=]\s?0\b"
)
REASSURING = re.compile(NOTHING_WRONG.encode(), re.IGNORECASE)
REASSURING_WORDS = (b"error", b"fail", b"warning", b"problem", b"exception")
"""One of these stands in all that reassures."""

COUNTED = re.compile(
    rb"\b[1-9][0-9]* (?:errors?|fail(?:ures?|ed|ing|s)?|problems?)\b"
    rb"|\b(?:errors?|failures?|failed)\s?[:=]\s?[1-9]|\bexit(?:ed)?\b.{0,20}\b[1-9]",
    re.IGNORECASE,
)

DAMPING: tuple[tuple[str, float], ...] = (
    (NOTHING_WRONG, 0.3),
    (r"^\s*[$>+] \S", 0.3),
    (r"\b(?:ok|pass(?:ed)?|success(?:ful)?|done)\b|✓|✔", 0.3),
    (
        r"\b(?:download|install|fetch|unpack|setting up|get:|cach|upload|requirement already)",
        0.15,
    ),
    (r"\b(?:note|warning): ", 0.3),
)
"""What is left of a sign where the line denies it, where a command has yet to run, where something
went well, where it tells what every build does, where a compiler only warns or adds to an error."""

OF_COUNTS = 2
"""Only so many of these take from a line that counts what failed."""

DAMPED_BY = Matcher((pattern for pattern, _ in DAMPING), "i")

NAME_BYTES = frozenset(b"-_/.")
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAMED = 1.0
LONGEST_WORD_BYTES = 24


def ends_well(end: bytes) -> bool:
    """Whether the end of a text says that nothing failed, and nothing in it that something did."""
    lowered = end.lower()
    # The search is slow where there is nothing to find, and mostly there is not.
    if not any(word in lowered for word in REASSURING_WORDS):
        return False
    return REASSURING.search(end) is not None and not COUNTED.search(end)


def weight(data: bytes, hits: Sequence[Hit], line: bytes) -> float:
    """What the signs in one line are worth: less where it only names them, or denies them."""
    # Several signs end at one place; each place is looked at once.
    named = {end for end in {end for sign, end in hits if sign in NAMING} if _names_it(data, end)}
    signs = {-1 if _is_name(data, sign, end, named) else sign for sign, end in hits}
    weights = [WEIGHTS[sign] if sign >= 0 else NAMED for sign in signs]
    most = max(weights)
    damping = _damping(line, counts=not COUNTING.isdisjoint(signs))
    return (most + MORE * (sum(weights) - most)) * damping


def _damping(line: bytes, *, counts: bool) -> float:
    factor = 1.0
    for place in DAMPED_BY.found(line):
        if place < OF_COUNTS or not counts:
            factor *= DAMPING[place][1]
    return factor


def _is_name(data: bytes, sign: int, end: int, named: Collection[int]) -> bool:
    if sign in NAMING:
        return end in named
    return sign in CLASSING and (_goes_on(data, end) or data[end : end + 1] == b"]")


def _names_it(data: bytes, end: int) -> bool:
    """Whether the word is part of a name: `error-handling.js`, `--fail-fast`, `/errors/`."""
    if _goes_on(data, end):
        return True
    before = data[max(end - LONGEST_WORD_BYTES - 1, 0) : end].rstrip(LETTERS)
    return before[-1:] in (b"-", b"_", b"/")


def _goes_on(data: bytes, end: int) -> bool:
    """Whether a name goes on after the word: `error-handling.js`, `EncoderException.java`."""
    after = data[end : end + 2]
    return len(after) == 2 and after[0] in NAME_BYTES and after[1] in LETTERS
