"""What providers charge for a prompt's cached and rewritten parts: data, and one sum over it.

Prices are in parts of the plain input price, so they hold for every model of a provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Prices:
    """What one input token costs when it is written to the cache, and when it is read from it."""

    write: float
    read: float


ANTHROPIC = Prices(write=1.25, read=0.1)

PRICES: Mapping[str, Prices] = MappingProxyType(
    {
        "anthropic": ANTHROPIC,
        "openai-chat": Prices(write=1.0, read=0.1),
        "openai-responses": Prices(write=1.0, read=0.1),
        "gemini": Prices(write=1.0, read=0.1),
    }
)
"""By dialect. A provider that is not here is taken to charge as the dearest one does."""

COLD_NS = 3_600 * 10**9
"""A prompt that was not sent for so long is in no cache any more, unless OpenAI is asked to keep it
for a day: Anthropic's longest is an hour, and Gemini promises none."""

BINDING_MODELS = ("claude-fable-5-1", "claude-fable-5.1", "claude-mythos-5-1", "claude-mythos-5.1")
"""Models whose thinking blocks are bound to everything before them."""


def prices_of(dialect: str) -> Prices:
    """What a dialect's provider charges."""
    return PRICES.get(dialect, ANTHROPIC)


def binds_thinking(model: str) -> bool:
    """Whether a change before a thinking block makes the provider drop or refuse it."""
    name = model.lower().rpartition("/")[2]
    return any(name.removeprefix("us.anthropic.").startswith(bound) for bound in BINDING_MODELS)


def pays(removed: int, suffix: int, requests: int, prices: Prices) -> bool:
    """Whether taking `removed` tokens out is worth writing the `suffix` behind them again.

    A conversation that has made many requests is expected to make as many more; each then reads
    `removed` tokens less from the cache.
    """
    return removed * prices.read * requests >= suffix * (prices.write - prices.read)
