"""What a validator says: which rule, where, and what was found there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

RULES = MappingProxyType(
    {
        "A1": "roles and shape of messages",
        "A2": "a call without its result",
        "A3": "a result without its call",
        "A4": "ids are unique",
        "A5": "order of calls, results and text",
        "A6": "results of one message split over several",
        "A7": "id, name or input of a call",
        "A8": "empty or blank text",
        "A9": "an error result holds only text",
        "A10": "content of a result",
        "A11": "thinking blocks",
        "A13": "server tools and their results",
        "A14": "connector tools and their results",
        "A15": "citations of documents",
        "A16": "images",
        "A17": "cache_control",
        "A18": "compaction blocks",
        "A19": "definitions of tools",
        "A20": "the last message",
        "A21": "a forced tool",
        "A22": "size and encoding",
        "A23": "what precedes a fallback",
        "C1": "a call without its result",
        "C2": "a result without its call",
        "C3": "content of a result",
        "C4": "content and calls of a message",
        "C5": "arguments of a call",
        "C6": "id, name or number of calls",
        "C8": "roles and shape of messages",
        "R1": "a call without its result",
        "R2": "a result without its call",
        "R3": "reasoning and the item it produced",
        "R4": "shape of a reasoning item",
        "R5": "ids of items",
        "R6": "content of a result",
        "R7": "roles and parts of messages",
        "R9": "approvals of connector tools",
        "R10": "calls of one step apart",
        "M1": "roles and shape of turns",
        "M2": "results do not match the calls",
        "M3": "a call in the wrong place",
        "M4": "content of a result",
        "M5": "signature of a call",
        "M6": "empty part",
    }
)
"""The rules that a request alone can break: A of Anthropic, C of Chat, R of Responses, M of Gemini.

Ids that are missing name rules only the provider can judge; each dialect's file says which.
"""

SHOWN_CHARS = 60
"""Ids and names are quoted; a body of megabytes in the place of an id is not."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule of a provider that a request breaks, and that is answered with status 400."""

    rule: str
    """The id in the table of rules: `A2`, `C1`, `R1`, `M2`."""
    where: str
    """The message and the block: `messages[7].content[1]`."""
    found: str
    """What was found there, in one sentence without a full stop."""

    @property
    def kind(self) -> str:
        """The rule in words."""
        return RULES[self.rule]

    def __str__(self) -> str:
        return f"{self.where}: {self.found} ({self.rule}: {self.kind})"


def in_reading_order(violations: Iterable[Violation]) -> list[Violation]:
    """Sort by place, so that what a reader meets first comes first; the whole body before all."""
    return sorted(violations, key=lambda violation: _numbers(violation.where))


def shown(value: object) -> str:
    """A value as it may stand in a sentence: short, on one line, and never nested."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN_CHARS else value[:SHOWN_CHARS] + "…")
    return str(value)[:SHOWN_CHARS]


def _numbers(where: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\[(\d+)\]", where)]
