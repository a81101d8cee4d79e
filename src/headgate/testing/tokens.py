"""How the stand-in counts: o200k, times what a model's own vocabulary needs more of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import ceil

import splintr

FACTORS = (
    ("claude-sonnet-4-6", 1.16),
    ("claude-opus-4-6", 1.30),
    ("claude-opus-4-8", 1.70),
    ("claude-sonnet-5", 1.58),
    ("claude-opus-5", 1.58),
    ("claude-fable-5", 1.61),
)


def count_for(model: str) -> Callable[[str], int]:
    """The count of a model, by its name."""
    factor = next((factor for name, factor in FACTORS if model.startswith(name)), 1.0)
    return lambda text: ceil(_o200k(text) * factor)


@lru_cache(maxsize=4_096)
def _o200k(text: str) -> int:
    return len(_vocabulary().encode_ordinary(text))


@cache
def _vocabulary() -> splintr.AnyTokenizer:
    return splintr.Tokenizer.from_pretrained("o200k_base")
