"""Which models a rule holds for, as data. A model that is not listed is never judged by it."""

from __future__ import annotations

import re

REFUSES_PREFILL = (
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-sonnet-4-6",
    "claude-mythos",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5",
    "claude-fable-5",
)
"""Answer a history that ends with an assistant message with 400: everything since 4.6."""

REFUSES_FORCED_TOOL = ("claude-fable-5-1",)
"""Answer `tool_choice` of type `any` or `tool` with 400."""

ALWAYS_REASONS = (
    *("o1", "o3", "o3-mini", "o3-pro", "o4-mini"),
    *("gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "gpt-5-codex"),
    *("gpt-5.1-codex", "gpt-5.2-codex", "gpt-5.3-codex"),
)
"""Put a reasoning item before every call they make; the others reason when they are asked to."""

WANTS_CALLS_TOGETHER = ("deepseek",)
"""Refuse a message between the calls of one step."""

_PLACE = re.compile(r"^(?:.*/|(?:[a-z]+\.)?anthropic\.)")
_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)(?:-v\d.*)?$|-v\d.*$")
_GEMINI = re.compile(r"gemini-(\d+)")
_DOT = re.compile(r"(?<=\d)\.(?=\d)")


def is_one_of(model: str, families: tuple[str, ...]) -> bool:
    """Whether `model` is one of these, or a finer name: `deepseek-chat` for `deepseek`."""
    name = _plain(model)
    return any(name == family or name.startswith(family + "-") for family in families)


def is_exactly(model: str, names: tuple[str, ...]) -> bool:
    """Whether `model` is one of these, a date or a place in its name aside."""
    return _plain(model) in names


def signs_its_calls(model: str) -> bool:
    """Whether a model puts a signature on its calls and wants it back: Gemini since 3."""
    found = _GEMINI.search(model)
    return found is not None and int(found[1][:4]) >= 3


def _plain(model: str) -> str:
    name = _DATE.sub("", _PLACE.sub("", model.lower()))
    return _DOT.sub("-", name) if name.startswith("claude") else name
