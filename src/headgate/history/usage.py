"""What a provider says a request cost, read alike from the usage objects of all of them.

Anthropic reports cached tokens beside its input tokens, the others inside of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.types import NOTHING

MOST_TOKENS = 1 << 50
"""A larger number is no count."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one request and its response; each token is in one field only."""

    input_tokens: int = 0
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    unsent_tokens: int = 0
    """The part of the output that no later request repeats: reasoning that stays behind."""

    @property
    def prompt(self) -> int:
        """All that was sent."""
        return self.input_tokens + self.cache_creation_tokens + self.cache_read_tokens

    @property
    def context(self) -> int:
        """All that was sent, and what came back."""
        return self.prompt + self.output_tokens

    def growth_to(self, later: Usage) -> int:
        """By how much the next request was longer than this one and its response."""
        return later.prompt - (self.context - self.unsent_tokens)


def usage_of(reported: object) -> Usage | None:
    """Read a usage object of any provider, or a response that holds one; None: it has none.

    A field that is missing or no whole number counts 0.
    """
    if not isinstance(reported, Mapping):
        return None
    held = (reported.get(key) for key in ("usage", "usageMetadata", "usage_metadata"))
    usage = next((part for part in held if isinstance(part, Mapping)), reported)
    return next((read(usage) for mark, read in _READERS if mark in usage), None)


def _chat(usage: Mapping[str, object]) -> Usage:
    prompt = _part(usage, "prompt_tokens_details")
    return _inside(
        _tokens(usage, "prompt_tokens"),
        cached=_tokens(prompt, "cached_tokens"),
        written=_tokens(prompt, "cache_write_tokens"),
        output=_tokens(usage, "completion_tokens"),
        unsent=_tokens(_part(usage, "completion_tokens_details"), "reasoning_tokens"),
    )


def _gemini(usage: Mapping[str, object]) -> Usage:
    def tokens(camel: str, snake: str) -> int:
        return _tokens(usage, camel) or _tokens(usage, snake)

    thoughts = tokens("thoughtsTokenCount", "thoughts_token_count")
    candidates = tokens("candidatesTokenCount", "candidates_token_count")
    tools = tokens("toolUsePromptTokenCount", "tool_use_prompt_token_count")
    return _inside(
        tokens("promptTokenCount", "prompt_token_count") + tools,
        cached=tokens("cachedContentTokenCount", "cached_content_token_count"),
        written=0,
        output=candidates + thoughts,
        unsent=thoughts,
    )


def _messages_or_responses(usage: Mapping[str, object]) -> Usage:
    if "input_tokens_details" in usage or "total_tokens" in usage:
        return _responses(usage)
    return Usage(
        _tokens(usage, "input_tokens"),
        _tokens(usage, "cache_creation_input_tokens"),
        _tokens(usage, "cache_read_input_tokens"),
        _tokens(usage, "output_tokens"),
    )


def _responses(usage: Mapping[str, object]) -> Usage:
    sent = _part(usage, "input_tokens_details")
    return _inside(
        _tokens(usage, "input_tokens"),
        cached=_tokens(sent, "cached_tokens"),
        written=_tokens(sent, "cache_write_tokens"),
        output=_tokens(usage, "output_tokens"),
        unsent=0,
    )


_READERS = (
    ("prompt_tokens", _chat),
    ("completion_tokens", _chat),
    ("promptTokenCount", _gemini),
    ("candidatesTokenCount", _gemini),
    ("totalTokenCount", _gemini),
    ("prompt_token_count", _gemini),
    ("total_token_count", _gemini),
    ("input_tokens", _messages_or_responses),
    ("output_tokens", _messages_or_responses),
    ("cache_read_input_tokens", _messages_or_responses),
    ("cache_creation_input_tokens", _messages_or_responses),
)
"""A field that only one provider's usage has, and how that is read."""


def _inside(sent: int, *, cached: int, written: int, output: int, unsent: int) -> Usage:
    """A usage whose prompt already holds what was cached."""
    cached = min(cached, sent)
    written = min(written, sent - cached)
    return Usage(sent - cached - written, written, cached, output, min(unsent, output))


def _part(usage: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = usage.get(name)
    return part if isinstance(part, Mapping) else NOTHING


def _tokens(usage: Mapping[str, object], name: str) -> int:
    value = usage.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= MOST_TOKENS and value == int(value) else 0
