"""The repairs that only one provider needs, by the name of its dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from headgate.dialects.history import History, Message
from headgate.history import anthropic, anthropic_request, gemini, openai_chat, openai_responses
from headgate.history.report import Case, Fix


class Tidying(Protocol):
    """Mends one message; the very same one if nothing in it is refused."""

    def __call__(self, old: Message, where: str) -> tuple[Message, list[Fix]]:
        """Return the message, and what was done."""
        ...


class Settling(Protocol):
    """Mends a history as a whole; the very same one if nothing in it is refused."""

    def __call__(self, history: History, case: Case) -> tuple[History, list[Fix]]:
        """Return the history, and what was done."""
        ...


@dataclass(frozen=True, slots=True)
class Own:
    """What one provider needs beyond pairs of calls and results."""

    tidied: Tidying
    settled: Settling


OWN: Mapping[str, Own] = MappingProxyType(
    {
        "anthropic": Own(anthropic.tidied, anthropic_request.settled),
        "openai-chat": Own(openai_chat.tidied, openai_chat.settled),
        "openai-responses": Own(openai_responses.tidied, openai_responses.settled),
        "gemini": Own(gemini.tidied, gemini.settled),
    }
)
