"""One thing that was looked at, and the text that every round trip sends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LINES = 3_000
ODD = "ERROR: replica 7 is 9321 ms behind"
"""A line in the middle that must arrive."""

PATH = re.compile(r"the whole is in (/.+?\.txt)(?: |;|\])")


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is well, and what is to be said about it."""

    client: str
    way: str
    name: str
    ok: bool
    says: str


def big_text(lines: int = LINES) -> str:
    """A result that fits nowhere: many lines, one of which, in the middle, matters."""
    return "\n".join(
        ODD if n == lines // 2 else f"worker {n}: compiled module_{n}.c in {n} ms"
        for n in range(1, lines + 1)
    )


def judged(client: str, way: str, text: str, sent: str, most_tokens: int) -> list[Check]:
    """Look at what arrived of `sent`: short, with the line that matters, the whole in a file."""
    found = arrived(client, way, text, sent, most_tokens)
    if len(found) > 1:
        found.append(Check(client, way, "read back", *_read_back(text, sent)))
    return found


def arrived(client: str, way: str, text: str, sent: str, most_tokens: int) -> list[Check]:
    """Look at what arrived of `sent`: short, and with the line that matters."""
    from headgate.measure.meters import meter_for

    meter = meter_for("o200k", "tokens")
    before, after = meter.count(sent), meter.count(text)
    if after >= before:
        says = f"a result of {before:,} tokens arrived as it was"
        return [Check(client, way, "shortened", False, says)]
    says = f"{before:,} tokens arrive as {after:,}, {most_tokens:,} allowed"
    fits = Check(client, way, "shortened", after <= most_tokens, says)
    is_there = ODD in text
    says = f"the line that matters is {'there' if is_there else 'lost'}"
    return [fits, Check(client, way, "kept", is_there, says)]


def _read_back(text: str, sent: str) -> tuple[bool, str]:
    found = PATH.search(text)
    if found is None:
        return False, f"no file is named in what arrived: {text[:200]!r}"
    try:
        whole = Path(found[1]).read_text(encoding="utf-8")
    except OSError as error:
        return False, f"{found[1]} cannot be read: {error.strerror}"
    if sent not in whole:
        return False, f"{found[1]} has {len(whole):,} characters, and not those that were sent"
    return True, f"every byte is in {found[1]}"
