"""The wire formats histories come in: one module each, and how to find the right one."""

from __future__ import annotations

from headgate.dialects import anthropic, gemini, openai_chat, openai_responses
from headgate.dialects.dialect import Dialect
from headgate.errors import HistoryError

DIALECTS: tuple[Dialect, ...] = (anthropic, openai_chat, openai_responses, gemini)


def dialect_named(name: str) -> Dialect:
    """The dialect that `--dialect` names."""
    for dialect in DIALECTS:
        if dialect.name == name:
            return dialect
    raise HistoryError(f"no dialect {name!r}; there are {', '.join(d.name for d in DIALECTS)}")
