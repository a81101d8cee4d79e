"""Which requests carry a history, and in which dialect; all others pass untouched."""

from __future__ import annotations

import re
from dataclasses import dataclass

MODEL = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)$")

ENDINGS: tuple[tuple[str, str, bool], ...] = (
    ("/v1/messages", "anthropic", False),
    ("/v1/messages/count_tokens", "anthropic", True),
    ("/chat/completions", "openai-chat", False),
    ("/responses", "openai-responses", False),
    ("/responses/input_tokens", "openai-responses", True),
)
"""How a path ends, the dialect of the body, and whether it is only counted."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a request asks for."""

    dialect: str
    model: str = ""
    """Where the path names it; else the body does."""
    counts: bool = False
    """Whether the history is only counted, so that its last calls may still be unanswered."""


def endpoint_of(method: str, path: str) -> Endpoint | None:
    """The endpoint whose body is a history; None: the request is none of our business."""
    if method != "POST":
        return None
    named = MODEL.search(path)
    if named:
        return Endpoint("gemini", named[1], named[2] == "countTokens")
    for ending, dialect, counts in ENDINGS:
        if path.endswith(ending):
            return Endpoint(dialect, counts=counts)
    return None
