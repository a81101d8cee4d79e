"""Meters that need no vocabulary, and the one place that finds a meter by its name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from headgate.errors import PolicyError
from headgate.measure.estimates import DENSE_CHARS_PER_TOKEN, MedianMeter, RoundedMeter
from headgate.measure.lengths import bytes_in, chars_in
from headgate.measure.plain import PlainMeter
from headgate.measure.vocab import PRETRAINED, TokenMeter
from headgate.types import Meter, Unit

PER_CHAR = {"chars/4": 4.0, "chars/3.5": 3.5}
"""Rules of thumb, by their names."""


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


OWN_RULES: tuple[Meter, ...] = (
    RoundedMeter(),
    RoundedMeter(DENSE_CHARS_PER_TOKEN),
    MedianMeter(),
    PlainMeter(),
)
RULES: Mapping[str, Meter] = MappingProxyType({meter.name: meter for meter in OWN_RULES})
"""Rules that need no vocabulary, by their names: the presets' own, and ours."""


def meter_for(vocab: str, unit: Unit) -> Meter:
    """The meter for a unit; `vocab` names the vocabulary or rule by which tokens are counted."""
    if unit == "chars":
        return CharMeter()
    if unit == "bytes":
        return ByteMeter()
    if vocab in PER_CHAR:
        return PerCharMeter(PER_CHAR[vocab])
    if vocab in RULES:
        return RULES[vocab]
    if vocab in PRETRAINED or vocab.endswith(".json"):
        return TokenMeter(vocab)
    known = ", ".join([*PRETRAINED, *PER_CHAR, *RULES])
    raise PolicyError(f"vocab is {vocab!r}; there is {known}, or the path of a tokenizer.json")
