"""A request as the provider bills it: segments in the order a model reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

MEDIA_TOKENS = 1_500
"""An image or a document is billed by its area or pages, never by its base64; one price for all."""

MESSAGE_TOKENS = 3
"""What a message costs beside its content: its role and its ends."""

Count: TypeAlias = Callable[[str], int]
"""Tokens of a text, in the vocabulary of the model that is asked."""

MEDIA = frozenset({"image", "document", "image_url", "input_image", "input_file", "input_audio"})
UNREAD = frozenset(
    {
        *("cache_control", "caller", "data", "encrypted_content", "role", "status", "type"),
        *("id", "call_id", "tool_call_id", "tool_use_id"),
        *("signature", "thoughtSignature", "thought_signature"),
    }
)
"""Fields that are sent but cost nothing: the model reads none of them as words."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One block of a prompt."""

    key: str
    """All that makes it what it is, so that an equal key is an equal block."""
    tokens: int
    part: str
    """`tools`, `system` or `messages`."""
    lives_s: int = 0
    """How long a cache keeps the prefix that ends here, in seconds; 0: no breakpoint."""


def canonical(value: object) -> str:
    """JSON that is equal for equal values, `cache_control` aside at every depth we send it."""
    return json.dumps(without_marks(value), sort_keys=True, ensure_ascii=False)


def without_marks(value: object) -> object:
    """The value without `cache_control`, which is no part of what a model reads."""
    if isinstance(value, Mapping):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list | tuple):
        return [without_marks(item) for item in value]
    return value


def tokens_of(value: object, count: Count) -> int:
    """What a block costs: its words, the syntax of its arguments, and a fixed price for media."""
    texts: list[str] = []
    media = sum(_gather(value, texts))
    return count("\n".join(texts)) + media * MEDIA_TOKENS


def total(segments: Sequence[Segment]) -> int:
    """The tokens of a whole prompt."""
    return sum(segment.tokens for segment in segments)


def _gather(value: object, texts: list[str]) -> Iterator[int]:
    """Collect the texts of a block and yield a one for every medium in it."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _gather(item, texts)
    elif isinstance(value, Mapping):
        if value.get("type") in MEDIA or "inlineData" in value or "fileData" in value:
            yield 1
            return
        for name, item in value.items():
            if name in UNREAD:
                continue
            if name in ("input", "args", "response", "input_schema", "parameters"):
                texts.append(json.dumps(item, ensure_ascii=False))
            else:
                yield from _gather(item, texts)
    elif value is not None:
        texts.append(json.dumps(value))
