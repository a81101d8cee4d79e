"""The signs by which a line is known to matter, and the places where they mislead.

Patterns and weights are data. They are matched without regard to case, in one pass over the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from headgate.scan import Hit, Scanner

SIGNS: tuple[tuple[bytes, int], ...] = (
    (rb"\b(fatal|panic|panicked|segmentation fault|core dumped|out of memory|oomkilled)\b", 10),
    (rb"traceback \(most recent call last\)", 10),
    (rb"\b[a-z0-9_.]*(error|exception)s?\b", 8),
    (rb"\berr!", 8),
    (rb"\bfail(ed|ure|ures|s|ing)?\b", 8),
    (rb"\b(critical|severe|emerg|alert)\b", 7),
    (rb"\b[0-9]+ (passed|failed|failing|errors?|warnings?|problems?|failures?|skipped)\b", 7),
    (rb"\b(undefined reference|no such file|not found|permission denied|access denied)\b", 6),
    (rb"\b(connection refused|timed out|timeout|aborted|killed|corrupt(ed)?|unreachable)\b", 6),
    (rb"\b(exit|status|return)(ed)?( with)?( exit)?( code| status)?[ :=]+[1-9]", 6),
    (rb"\b(cannot|can't|could not|couldn't|unable to|unexpected|unresolved|mismatch)\b", 5),
    (rb"\b(warn|warning|deprecated)\b", 3),
)

SCANNER = Scanner([pattern for pattern, _ in SIGNS], caseless=True)
WEIGHTS = tuple(weight for _, weight in SIGNS)

REASSURING = re.compile(
    rb"\b(0|no|without|zero) (errors?|failures?|failed|warnings?|problems?|exceptions?)\b"
    rb"|\b(errors?|failures?|failed|warnings?)\s?[:=]\s?0\b"
    rb"|\b0 failed\b",
    re.IGNORECASE,
)
"""Says that nothing went wrong."""

NAME_BYTES = frozenset(b"-_/.")
LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
WORD_SIGNS = frozenset(
    i
    for i, (pattern, _) in enumerate(SIGNS)
    if b"error|" in pattern or b"fail(" in pattern or b"warn|" in pattern
)
LONGEST_WORD_BYTES = 24


def weight(data: bytes, hits: Sequence[Hit], line: bytes) -> int:
    """What the signs in one line are worth: less where it only names them, or denies them."""
    most = max(
        1 if sign in WORD_SIGNS and _names_it(data, end) else WEIGHTS[sign] for sign, end in hits
    )
    return 2 if most > 2 and REASSURING.search(line) else most


def _names_it(data: bytes, end: int) -> bool:
    """Whether the word is part of a name: `error-handling.js`, `--fail-fast`, `/errors/`."""
    after = data[end : end + 2]
    if len(after) == 2 and after[0] in NAME_BYTES and after[1] in LETTERS:
        return True
    start = end
    while start > 0 and end - start < LONGEST_WORD_BYTES and data[start - 1] in LETTERS:
        start -= 1
    return start > 0 and data[start - 1] in b"-_/"
