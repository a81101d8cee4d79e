"""From a model's name to how its tokens are counted; the table is data, in `models.toml`."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

MULTIPLIED = "o200k"
"""The vocabulary that multipliers refer to."""

_VENDOR = re.compile(r"(?:[a-z]+(?:-[a-z]+)*\.)+")
_LONG_CONTEXT = "[1m]"
"""How some clients ask for the variant with a window of a million tokens."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How a model's tokens are counted: exactly in its vocabulary, or through a multiplier."""

    vocab: str
    multiplier: float
    window: int | None
    exact: bool
    """Whether the vocabulary is the model's own."""

    @property
    def name(self) -> str:
        """As shown to people: `o200k`, `o200k x 1.58`."""
        return self.vocab if self.exact else f"{self.vocab} x {self.multiplier:g}"

    def in_vocab(self, tokens: int) -> int:
        """The model's tokens in those of the vocabulary, rounded down: what fits, fits."""
        return int(tokens / self.multiplier)

    def in_model(self, tokens: int) -> int:
        """Tokens of the vocabulary in the model's, rounded to the nearest."""
        return round(tokens * self.multiplier)


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    vocab: str | None = None
    multiplier: float = 1.0
    window: int | None = None

    def counting(self) -> Counting:
        vocab = self.vocab or MULTIPLIED
        return Counting(vocab, self.multiplier, self.window, exact=self.vocab is not None)


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fallback: _Entry
    models: Mapping[str, _Entry]


def counted_as(model: str) -> Counting:
    """How to count for a model; one nobody has heard of gets the table's fallback."""
    table = _table()
    name = plain_name(model)
    key = max((key for key in table.models if name.startswith(key)), key=len, default=None)
    counting = (table.models[key] if key else table.fallback).counting()
    if _LONG_CONTEXT in name:
        return Counting(counting.vocab, counting.multiplier, 1_000_000, counting.exact)
    return counting


def knows(model: str) -> bool:
    """Whether the table has an entry for a model."""
    name = plain_name(model)
    return any(name.startswith(key) for key in _table().models)


def plain_name(model: str) -> str:
    """A model's name without the provider, region and platform it is reached through.

    `us.anthropic.claude-opus-4-6-v1:0`, `openrouter/anthropic/claude-opus-4.6` and
    `claude-opus-4-6` begin alike.
    """
    name = model.strip().lower().rpartition("/")[2].removeprefix("ft:")
    if vendor := _VENDOR.match(name):
        name = name[vendor.end() :]
    return name.replace(".", "-") if name.startswith("claude") else name


@functools.cache
def _table() -> _Table:
    # Both are slow to import, and most processes never ask for a model.
    import tomllib
    from importlib.resources import files

    text = files(__package__).joinpath("models.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)
