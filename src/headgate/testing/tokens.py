"""How the stand-in counts: as the table of models says, exactly or through a multiplier."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from headgate.measure.meters import meter_for
from headgate.measure.models import counted_as

UNKNOWN_WINDOW_TOKENS = 128_000
"""For models whose maker has published none."""


def count_for(model: str) -> Callable[[str], int]:
    """The count of a model, by its name."""
    counting = counted_as(model)
    return lambda text: counting.in_model(_counted(counting.vocab, text))


def window_of(model: str) -> int:
    """The most tokens a prompt for this model may have."""
    return counted_as(model).window or UNKNOWN_WINDOW_TOKENS


@lru_cache(maxsize=4_096)
def _counted(vocab: str, text: str) -> int:
    """A conversation sends the same blocks again and again."""
    return meter_for(vocab, "tokens").count(text)
