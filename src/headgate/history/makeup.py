"""What the tokens of a text depend on: its count in a public vocabulary, and what it is made of.

How many more tokens than o200k a model needs is not one number: it differs for words, digits and
punctuation. These few sums are enough to learn how, and they add up over texts.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import NamedTuple

from headgate.types import Meter

DIGITS = string.digits.encode()
CAPITALS = string.ascii_uppercase.encode()
MARKS = string.punctuation.encode()
WIDE = bytes(range(0x80, 0x100))


class Makeup(NamedTuple):
    """Sums over one or more texts; a plain tuple, because thousands of them are added up."""

    tokens: int = 0
    """As the meter counts them."""
    bytes: int = 0
    line_ends: int = 0
    digits: int = 0
    capitals: int = 0
    marks: int = 0
    """ASCII punctuation."""
    wide: int = 0
    """Bytes beyond ASCII."""
    results: int = 0
    """Tool results: each is wrapped, and some clients add reminders of their own to it."""
    fixed_tokens: int = 0
    """The cost of media, which no vocabulary changes."""


NOTHING_MADE = Makeup()


def total(makeups: Iterable[Makeup]) -> Makeup:
    """What several texts are made of together."""
    return Makeup(*map(sum, zip(NOTHING_MADE, *makeups, strict=True)))


def makeup_of(text: str, meter: Meter) -> Makeup:
    """Look at a text once; a large one has its tokens estimated from samples."""
    data = text.encode("utf-8", "backslashreplace")
    size = len(data)
    return Makeup(
        tokens=meter.estimate(data),
        bytes=size,
        line_ends=data.count(b"\n"),
        digits=size - len(data.translate(None, DIGITS)),
        capitals=size - len(data.translate(None, CAPITALS)),
        marks=size - len(data.translate(None, MARKS)),
        wide=0 if data.isascii() else size - len(data.translate(None, WIDE)),
    )


def fixed(tokens: int) -> Makeup:
    """What costs the same in every vocabulary."""
    return Makeup(fixed_tokens=tokens)
