"""What to read back, parsed from arguments that a model or a person wrote.

An argument that cannot be meant is answered in one sentence that says what to write instead; a page
that makes no sense is ignored, as tools that page do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.errors import RequestError

PATTERN_BYTES = 1_024
"""The longest pattern or path; what a reader needs is far shorter."""

SHOWN_CHARS = 80
"""How much of a value that cannot be meant is repeated to its author."""

NAMES = (
    "ref",
    "tool",
    "lines",
    "bytes",
    "page",
    "page_size",
    "search",
    "path",
    "sql",
    "max_tokens",
)
"""Every argument; `ref` and `tool` say which result, and are for the caller to resolve."""

WAYS = ("lines", "bytes", "page", "search", "path", "sql")

QUERY_BYTES = 8_192
"""The longest query: a model's, and not a program's."""

TOGETHER = ({"search", "lines"}, {"search", "bytes"}, {"path", "page"}, {"sql", "page"})
"""Where to look, and which of the values found."""

RANGE = re.compile(r"([0-9]{1,18})? *(-)? *([0-9]{1,18})?")
"""A number of more digits counts no lines or bytes of anything."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of lines or bytes as it was asked for; without `first`, the last `last` of them."""

    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """What to show of one original; nothing set: its start."""

    lines: Span | None = None
    """From 1, both ends included."""
    bytes: Span | None = None
    """From 0, both ends included."""
    page: int | None = None
    page_size: int | None = None
    search: str | None = None
    """A pattern; `lines` or `bytes` beside it say where to look."""
    path: str | None = None
    """A JSON path; `page` beside it says which of the values it selects."""
    sql: str | None = None
    """A query over a result that is JSON or CSV; `page` beside it says which of its rows."""
    tokens: int | None = None
    """The most this answer may take, where the reader wants less or more than usual."""


def request_of(arguments: Mapping[str, object]) -> Request:
    """Parse arguments that nobody checked; a `RequestError` is words for their author."""
    given = {name: value for name, value in arguments.items() if value is not None and value != ""}
    for name in given:
        if name not in NAMES:
            raise RequestError(f"there is no argument {_seen(name)}; there are {', '.join(NAMES)}")
    page, page_size = _pages(given)
    ways = [way for way in WAYS if way in given and (way != "page" or page is not None)]
    _check_one_way(ways)
    asks_for_page = not ways and ("page" in given or "page_size" in given)
    return Request(
        lines=_span(given, "lines", lowest=1),
        bytes=_span(given, "bytes", lowest=0),
        page=1 if asks_for_page else page,
        page_size=page_size,
        search=_text(given, "search", 'search="error|warning"'),
        path=_text(given, "path", 'path="$.items[0].name"'),
        sql=_text(given, "sql", 'sql="SELECT name FROM result LIMIT 20"', QUERY_BYTES),
        tokens=_tokens(given),
    )


def _pages(given: Mapping[str, object]) -> tuple[int | None, int | None]:
    """Page and page size; what is no number is ignored, what is too small is the first page."""
    page, page_size = _whole(given.get("page")), _whole(given.get("page_size"))
    if page_size is not None and page_size < 1:
        page_size = None
    return (None if page is None else max(page, 1)), page_size


def _check_one_way(ways: Sequence[str]) -> None:
    if len(ways) < 2 or set(ways) in TOGETHER:
        return
    raise RequestError(
        f"{', '.join(ways[:-1])} and {ways[-1]} were given; give one of {', '.join(WAYS)}, "
        "or search with lines or bytes to say where to look"
    )


def _span(given: Mapping[str, object], name: str, *, lowest: int) -> Span | None:
    if name not in given:
        return None
    value = given[name]
    first, dash, last = _range(value)
    if first is None and not (dash and last):
        example = f'{name}="401-800", {name}="401-", or {name}="-50" for the last 50'
        raise RequestError(f"{name} is {_seen(value)}; write {example}")
    if first is None:
        return Span(None, last)
    if first < lowest:
        raise RequestError(f"{name} is {_seen(value)}; {name} count from {lowest}")
    if dash is None:
        return Span(first, first)
    if last is not None and last < first:
        raise RequestError(f'{name} is {_seen(value)}, backwards; write {name}="{last}-{first}"')
    return Span(first, last)


def _range(value: object) -> tuple[int | None, str | None, int | None]:
    number = _whole(value)
    text = value.strip() if isinstance(value, str) else str(number)
    # Answers show numbers with separators, and what was shown is what gets copied.
    found = RANGE.fullmatch(re.sub(r"(?<=\d)[,_](?=\d{3}(?!\d))", "", text))
    if found is None or (found[3] and not found[2]):
        return None, None, None
    return (int(found[1]) if found[1] else None), found[2], (int(found[3]) if found[3] else None)


def _text(
    given: Mapping[str, object], name: str, example: str, most: int = PATTERN_BYTES
) -> str | None:
    if name not in given:
        return None
    value = given[name]
    if not isinstance(value, str):
        raise RequestError(f"{name} is {_seen(value)}; it takes text, as in {example}")
    length = len(value.encode("utf-8", "surrogatepass"))
    if length > most:
        raise RequestError(f"{name} is {length:,} bytes long; at most {most:,} are read")
    return value


def _tokens(given: Mapping[str, object]) -> int | None:
    if "max_tokens" not in given:
        return None
    tokens = _whole(given["max_tokens"])
    if tokens is None or tokens <= 0:
        seen = _seen(given["max_tokens"])
        raise RequestError(f"max_tokens is {seen}; it takes a whole number, as in max_tokens=2000")
    return tokens


def _whole(value: object) -> int | None:
    """A whole number, however a model wrote it; None: it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 10**18 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10**18 else None
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value.strip()):
        return int(value)
    return None


def _seen(value: object) -> str:
    """A value as its author is shown it: short, on one line, without controls."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
