"""An upstream that wants to be left alone for a while, found in whatever exception a tool raised.

No client library is imported: what they raise has a status, and headers or a response with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from headgate.registry.wording import message_of

TOO_MANY: Final = 429
UNAVAILABLE: Final = 503

STATUS: Final = ("status", "status_code", "statusCode", "http_status", "HTTPStatusCode", "code")
HEADERS: Final = ("headers", "HTTPHeaders")
INSIDE: Final = ("response", "resp", "ResponseMetadata")
"""Where a client puts the answer that it raises for."""
REQUEST: Final = ("request", "request_info")
URL: Final = ("url", "real_url")

MOST_CAUSES: Final = 8
"""How far the causes of an exception are followed."""

LONGEST_WAIT_S: Final = 7 * 24 * 3_600
"""A week: whoever is told to wait longer need not know how long."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What an upstream said when it refused."""

    retry_after_s: int | None
    """None: it did not say."""
    upstream: str
    """Its host; empty: unknown."""
    message: str


def rate_limit_of(error: BaseException, now: datetime | None = None) -> RateLimit | None:
    """What a tool's exception, or one that caused it, says of a limit; None: it is no such."""
    for each in _causes(error):
        found = _rate_limit(each, now or datetime.now(UTC))
        if found is not None:
            return found
    return None


def _rate_limit(error: BaseException, now: datetime) -> RateLimit | None:
    answers = list(_answers(error))
    status = next((found for at in answers if (found := _status(at)) is not None), None)
    if status not in (TOO_MANY, UNAVAILABLE):
        return None
    headers = {name: value for at in reversed(answers) for name, value in _headers(at)}
    wait_s = _wait_s(headers, now)
    if status == UNAVAILABLE and wait_s is None:
        return None
    message = " ".join(message_of(error).split()) or type(error).__name__
    return RateLimit(wait_s, _host(answers), message)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, those inside a group, and what it was raised from."""
    pending, seen = [error], 0
    while pending and seen < MOST_CAUSES:
        each = pending.pop(0)
        seen += 1
        yield each
        if isinstance(each, BaseExceptionGroup):
            pending += each.exceptions
        context = None if each.__suppress_context__ else each.__context__
        pending += [cause for cause in (each.__cause__ or context,) if cause is not None]


def _answers(error: BaseException) -> Iterator[object]:
    """The exception and the answers inside of it, where a status and headers may be."""
    yield error
    for name in INSIDE:
        response = _get(error, name)
        if response is None:
            continue
        yield response
        for inner in INSIDE:
            nested = _get(response, inner) if isinstance(response, Mapping) else None
            if nested is not None:
                yield nested


def _status(at: object) -> int | None:
    for name in STATUS:
        value = _get(at, name)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:4])
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600:
            return int(value)
    return None


def _headers(at: object) -> list[tuple[str, str]]:
    for name in HEADERS:
        headers = _get(at, name)
        items = getattr(headers, "items", None)
        pairs = items() if callable(items) else headers
        if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes):
            return [
                (_text(pair[0]).lower(), _text(pair[1]))
                for pair in pairs
                if isinstance(pair, tuple | list) and len(pair) == 2
            ]
    return []


def _wait_s(headers: Mapping[str, str], now: datetime) -> int | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _whole_s(milliseconds / 1_000)
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None:
        return _whole_s(seconds)
    try:
        at = parsedate_to_datetime(said or "")
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return _whole_s((at - now).total_seconds())


def _number(said: str | None) -> float | None:
    try:
        number = float(said or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _whole_s(seconds: float) -> int:
    return min(max(math.ceil(seconds), 0), LONGEST_WAIT_S)


def _host(answers: Iterable[object]) -> str:
    """Who refused: the host alone, for paths and queries may hold secrets."""
    places = [at for answer in answers for at in (answer, *_each(answer, REQUEST))]
    for url in (url for at in places for url in _each(at, URL)):
        try:
            host = urlsplit(str(url)).hostname
        except ValueError:
            continue
        if host:
            return host
    return ""


def _each(at: object, names: Iterable[str]) -> list[object]:
    return [value for name in names if (value := _get(at, name)) is not None]


def _get(at: object, name: str) -> object | None:
    """A member or an attribute; one that raises when it is looked at is not there."""
    if isinstance(at, Mapping):
        return at.get(name)
    try:
        value: object = getattr(at, name, None)
    except Exception:  # noqa: BLE001  # clients have properties that raise before a request was made
        return None
    return value


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
