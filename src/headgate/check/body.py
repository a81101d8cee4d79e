"""From the bytes of a request to the array that is checked; nothing here knows a rule.

The standard parser reads everything a client can send: lone surrogates too, which the fast ones
refuse, and which are a rule of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from headgate.check.violations import shown
from headgate.errors import HistoryError
from headgate.types import NOTHING

DIALECTS = ("anthropic", "openai-chat", "openai-responses", "gemini")

ARRAY_KEYS = MappingProxyType(
    {
        "anthropic": "messages",
        "openai-chat": "messages",
        "openai-responses": "input",
        "gemini": "contents",
    }
)
"""Where the history stands in a body of each dialect."""

DIGITS_OF_A_NUMBER = 4_000
"""Longer numbers are legal JSON and no rule looks at them; Python refuses to read them."""

_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Request:
    """A history, and what stood beside it in the body; a bare array has nothing beside it."""

    dialect: str
    items: list[object]
    fields: Mapping[str, object]
    model: str
    """Empty: not named, and no rule that depends on the model is applied."""

    @property
    def key(self) -> str:
        """How the array is called in `where`, also when it came bare."""
        return ARRAY_KEYS[self.dialect]

    @property
    def is_bare(self) -> bool:
        """Whether only the array is known."""
        return not self.fields


def parse(body: bytes) -> object:
    """The JSON value in `body`; what is no JSON is a `HistoryError` that names the place."""
    if not body.strip():
        raise HistoryError("the body is empty")
    text = _text_of(body)
    try:
        return json.loads(text, parse_constant=_no_number, parse_int=_whole_number)
    except RecursionError:
        raise HistoryError("the body is nested too deep to be a request") from None
    except _NoNumber:
        constant = next(match for match in _CONSTANT.finditer(text) if match[1])
        raise HistoryError(f"{constant[1]} at character {constant.start():,} is not JSON") from None
    except json.JSONDecodeError as error:
        raise HistoryError(
            f"not JSON: {error.msg.removesuffix(' at')} at line {error.lineno:,}, "
            f"column {error.colno:,}"
        ) from None


def request_of(value: object, dialect: str, model: str | None = None) -> Request:
    """The history in a parsed body or bare array; without one, a `HistoryError` that says why."""
    if dialect not in DIALECTS:
        raise HistoryError(f"no dialect {dialect!r}; there are {', '.join(DIALECTS)}")
    key = ARRAY_KEYS[dialect]
    if isinstance(value, list):
        return Request(dialect, value, NOTHING, model or "")
    if not isinstance(value, dict):
        raise HistoryError(f"the body is {shown(value)}; a history is an array or an object")
    if key not in value:
        others = sorted({name for name in ARRAY_KEYS.values() if name in value})
        seen = f"; it has {' and '.join(others)}" if others else ""
        raise HistoryError(f"the body has no {key!r}, where {dialect} keeps its history{seen}")
    named = value.get("model")
    items = value[key]
    if dialect == "openai-responses" and isinstance(items, str):
        items = []
    if not isinstance(items, list):
        raise HistoryError(f"{key} is {shown(items)}; a history is an array")
    return Request(dialect, items, value, model or (named if isinstance(named, str) else ""))


def lone_surrogates(body: bytes, value: object, start: str) -> Iterator[str]:
    """Where a string holds half of a surrogate pair; `start` is the name of `value` itself."""
    if not _SURROGATE_ESCAPE.search(body) and b"\xed" not in body:
        return
    waiting: list[tuple[object, str]] = [(value, start)]
    while waiting:
        part, where = waiting.pop()
        if isinstance(part, str) and _SURROGATE.search(part):
            yield where or "body"
        elif isinstance(part, dict):
            names = [name for name in part if _SURROGATE.search(name)]
            yield from (f"{where or 'body'}, a key" for _ in names)
            waiting += [(child, f"{where}.{name}".lstrip(".")) for name, child in part.items()]
        elif isinstance(part, list):
            waiting += [(child, f"{where}[{place}]") for place, child in enumerate(part)]


class _NoNumber(Exception):
    pass


def _no_number(name: str) -> object:
    raise _NoNumber(name)


def _whole_number(digits: str) -> int:
    return int(digits) if len(digits) <= DIGITS_OF_A_NUMBER else 0


def _text_of(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        failed = error
    try:
        return body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        byte = body[failed.start]
        raise HistoryError(f"byte 0x{byte:02x} at {failed.start:,} is not UTF-8") from None
