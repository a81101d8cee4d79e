"""Lines that hold a label found nowhere else: a ticket, an error code, an address, a word of alarm.

In a text where nothing else stands out, such a line is most likely what somebody looks for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from headgate.scan import Scanner

LABEL = re.compile(
    r"\b(?:[A-Z][A-Z0-9]+(?:[-_][A-Z]+)*-\d{2,}"  # ABC-1234, CVE-2026-31337
    r"|0x[0-9A-Fa-f]{6,}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?:pass(?:word|phrase)|credential|secret|private key|api[_ ]?key)s?(?= ?(?:is|=|:)\s?\S)"
    r"|FIXME|XXX|HACK|SECURITY|DO NOT|race condition|vulnerab\w+|exploit\w*"
    r"|malware|backdoor\w*)"
)

SCANNER = Scanner(
    [
        *(rb"\b[A-Z][A-Z0-9]+[A-Z_-]*-[0-9]{2}", rb"\b0x[0-9A-Fa-f]{6}"),
        rb"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-",
        rb"\b(password|passphrase|credential|secret|private key|api[_ ]?key)",
        rb"\b(FIXME|XXX|HACK|SECURITY|DO NOT|race condition|vulnerab|exploit|malware|backdoor)",
    ]
)
"""Finds every line that may have a label, and others."""

LEAST_CHARS = 8
"""Shorter ones are usual: `UTF-16`, `SHA-256`; words of alarm count at any length."""

MOST_LINES = 6
MOST_HITS = 4_000


def labelled(texts: Sequence[str]) -> list[int]:
    """The lines or parts with a label of their own, the longest labels first."""
    found = [(label, i) for i in _parts(texts) for label in LABEL.findall(texts[i])]
    counts = Counter(label for label, _ in found)
    alone = [
        (label, i)
        for label, i in found
        if counts[label] == 1 and (len(label) >= LEAST_CHARS or label.isalpha())
    ]
    # Where every line has one, they are what the text consists of.
    if len(alone) * 20 > max(len(texts), 60):
        return []
    ranked = sorted(alone, key=lambda one: (-len(one[0]), one[1]))
    return list(dict.fromkeys(i for _, i in ranked))[:MOST_LINES]


def _parts(texts: Sequence[str]) -> list[int]:
    """The parts that may have a label, found in one fast pass."""
    data = "\0".join(texts).encode(errors="replace")
    hits = SCANNER.hits(data, MOST_HITS)
    if len(hits) == MOST_HITS:
        return []
    parts: dict[int, None] = {}
    part, at = 0, 0
    for _, end in hits:
        part += data.count(b"\0", at, end)
        at = end
        parts[part] = None
    return list(parts)
