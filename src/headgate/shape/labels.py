"""Lines that hold a label found nowhere else: a ticket, an error code, an address, a word of alarm.

In a text where nothing else stands out, such a line is most likely what somebody looks for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

LABEL = re.compile(
    r"\b(?:[A-Z][A-Z0-9]+(?:[-_][A-Z]+)*-\d{2,}"  # ABC-1234, CVE-2026-31337
    r"|0x[0-9A-Fa-f]{6,}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?:pass(?:word|phrase)|credential|secret|private key|api[_ ]?key)s?(?= ?(?:is|=|:)\s?\S)"
    r"|FIXME|XXX|HACK|SECURITY|DO NOT|race condition|vulnerab\w+|exploit\w*"
    r"|malware|backdoor\w*)"
)

LEAST_CHARS = 8
"""Shorter ones are usual: `UTF-16`, `SHA-256`; words of alarm count at any length."""

MOST_LINES = 6
MOST_BYTES = 2 << 20


def labelled(texts: Sequence[str]) -> list[int]:
    """The lines or parts with a label of their own, the longest labels first."""
    if sum(map(len, texts)) > MOST_BYTES:
        return []
    found = [(label, i) for i, text in enumerate(texts) for label in LABEL.findall(text)]
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
