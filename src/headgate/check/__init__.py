"""Whether a provider would accept a history: an independent judge, built from the rules alone.

It shares nothing with the code that reads or repairs histories, so that each can be tested against
the other. It says nothing of what merely costs money or quality: only what is answered with 400.

    >>> check(b'[{"role": "user", "content": " "}]', "anthropic")
    [Violation(rule='A8', where='messages[0].content', found='the text is only white space')]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Protocol

from headgate.check import anthropic, gemini, openai_chat, openai_responses
from headgate.check.body import ARRAY_KEYS, DIALECTS, Request, lone_surrogates, parse, request_of
from headgate.check.recognise import recognise
from headgate.check.violations import RULES, Violation, in_reading_order
from headgate.errors import HistoryError

__all__ = ["DIALECTS", "RULES", "Violation", "check", "recognise_dialect"]


class _Judge(Protocol):
    def __call__(self, request: Request, *, pending: bool) -> Iterator[Violation]: ...


LARGEST_BODY_BYTES = MappingProxyType({"anthropic": 32 * 1024 * 1024})
"""Answered with 413; where a provider states no size, none is judged."""

_JUDGES: Mapping[str, _Judge] = MappingProxyType(
    {
        "anthropic": anthropic.violations,
        "openai-chat": openai_chat.violations,
        "openai-responses": openai_responses.violations,
        "gemini": gemini.violations,
    }
)


def check(
    body: bytes, dialect: str | None = None, *, pending: bool = False, model: str | None = None
) -> list[Violation]:
    """List what a provider would refuse in `body`, a request or a bare array of messages.

    Without `dialect` it is recognised. `pending`: the calls of the last assistant message still
    wait for their results, and are not missing any. `model` is for the rules that depend on it,
    where the body does not name one. Raises `HistoryError` where there is no history to judge.
    """
    value = parse(body)
    chosen = dialect or _only_dialect(value)
    request = request_of(value, chosen, model)
    judge = _JUDGES[chosen]
    return in_reading_order([*judge(request, pending=pending), *_encoding(body, value, request)])


def recognise_dialect(body: bytes) -> list[str]:
    """The dialects `body` may be written in: one where it is sure, two where it fits both."""
    return recognise(parse(body))


def _only_dialect(value: object) -> str:
    candidates = recognise(value)
    if not candidates:
        keys = ", ".join(sorted(set(ARRAY_KEYS.values())))
        raise HistoryError(f"this is no history: neither an array of messages, nor any of {keys}")
    if len(candidates) > 1:
        raise HistoryError(f"this fits {' and '.join(candidates)}; name the dialect")
    return candidates[0]


def _encoding(body: bytes, value: object, request: Request) -> Iterator[Violation]:
    """A22, which every provider shares: JSON in UTF-8, and not too much of it."""
    start = request.key if isinstance(value, list) else ""
    for where in lone_surrogates(body, value, start):
        yield Violation("A22", where, "half of a surrogate pair, which UTF-8 cannot carry")
    most = LARGEST_BODY_BYTES.get(request.dialect, len(body))
    if len(body) > most:
        yield Violation("A22", "body", f"{len(body):,} bytes, at most {most:,}")
