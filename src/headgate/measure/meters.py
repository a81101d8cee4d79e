"""Meters that need no vocabulary, and the one place that finds a meter by its name."""

from __future__ import annotations

import math

from headgate.errors import PolicyError
from headgate.measure.vocab import PRETRAINED, TokenMeter
from headgate.types import Meter, Unit

PER_CHAR = {"chars/4": 4.0, "chars/3.5": 3.5}
"""The seeds' rules of thumb, by their names."""

BLOCK = 1 << 20
"""Large texts are turned from text to bytes, or back, this much at a time."""

CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""


class CharMeter:
    """Counts characters: Unicode code points."""

    unit: Unit = "chars"
    name = "chars"

    def count(self, text: str) -> int:
        """The number of code points."""
        return len(text)

    def estimate(self, data: bytes) -> int:
        """The number of code points in UTF-8 `data`, exact at any size."""
        return chars_in(data)


class ByteMeter:
    """Counts bytes of UTF-8."""

    unit: Unit = "bytes"
    name = "bytes"

    def count(self, text: str) -> int:
        """The length in UTF-8; a lone surrogate counts as the escape shown for it, `\\ud800`."""
        return bytes_in(text)

    def estimate(self, data: bytes) -> int:
        """The length, exact at any size."""
        return len(data)


class PerCharMeter:
    """Takes a fixed number of characters for a token, and a part of one for a whole."""

    unit: Unit = "tokens"

    def __init__(self, chars_per_token: float) -> None:
        if not (math.isfinite(chars_per_token) and chars_per_token > 0):
            raise PolicyError(f"chars per token is {chars_per_token}; it is a number above 0")
        self.chars_per_token = chars_per_token
        self.name = f"chars/{chars_per_token:g}"

    def count(self, text: str) -> int:
        """The tokens by this rule."""
        return math.ceil(len(text) / self.chars_per_token)

    def estimate(self, data: bytes) -> int:
        """The same, of UTF-8 `data`."""
        return math.ceil(chars_in(data) / self.chars_per_token)


def meter_for(vocab: str, unit: Unit) -> Meter:
    """The meter for a unit; `vocab` names the vocabulary or rule by which tokens are counted."""
    if unit == "chars":
        return CharMeter()
    if unit == "bytes":
        return ByteMeter()
    if vocab in PER_CHAR:
        return PerCharMeter(PER_CHAR[vocab])
    if vocab in PRETRAINED or vocab.endswith(".json"):
        return TokenMeter(vocab)
    known = ", ".join([*PRETRAINED, *PER_CHAR])
    raise PolicyError(f"vocab is {vocab!r}; there is {known}, or the path of a tokenizer.json")


def chars_in(data: bytes) -> int:
    """The number of code points in UTF-8, found without decoding."""
    if data.isascii():
        return len(data)
    blocks = (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))
    return sum(len(block.translate(None, CONTINUATION)) for block in blocks)


def bytes_in(text: str) -> int:
    """The length of a text in UTF-8, lone surrogates as their escapes."""
    if text.isascii():
        return len(text)
    blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))
    return sum(len(block.encode("utf-8", "backslashreplace")) for block in blocks)
