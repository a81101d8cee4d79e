"""Which headers go on: all that concern the two ends, none that concern one connection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias
from urllib.parse import parse_qsl

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""Names in lower case, in order, repeated ones repeated."""

TOKEN_HEADER = b"x-headgate-token"

HOP_BY_HOP = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization"),
        *(b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    }
)
"""Between two neighbours, not between the two ends."""

NOT_SENT = HOP_BY_HOP | {b"host", b"content-length", b"expect", b"cookie", TOKEN_HEADER}
"""Cookies of a browser are no business of a provider; the length is that of what we send."""

NOT_RETURNED = HOP_BY_HOP | {b"set-cookie", b"alt-svc"}
"""They speak of the provider's own address, which is not the one the client called."""

SECRET = re.compile(rb"auth|key|token|secret|cookie|credential|signature|session", re.IGNORECASE)
"""Names of headers and queries whose values are nobody's business."""

LEAST_SECRET_CHARS = 6
"""A shorter value is no key, and would be found in every other word."""


def sent(headers: Sequence[tuple[bytes, bytes]]) -> Headers:
    """The client's headers as the upstream gets them."""
    return _without(headers, NOT_SENT)


def returned(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The upstream's headers as the client gets them."""
    return _without([(name.lower(), value) for name, value in headers], NOT_RETURNED)


def secrets_of(headers: Iterable[tuple[bytes, bytes]], query: str) -> frozenset[str]:
    """The values of a request that must not be seen in anything we say."""
    named = [(name, value.decode("latin-1")) for name, value in headers]
    named += [(name.encode(), value) for name, value in parse_qsl(query, encoding="latin-1")]
    values = [value for name, value in named if SECRET.search(name)]
    # "Bearer sk-…" is a secret, and so is its second word alone.
    words = {word for value in values for word in (value, *value.split())}
    return frozenset(word for word in words if len(word) >= LEAST_SECRET_CHARS)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret left out, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    return text


def _without(headers: Sequence[tuple[bytes, bytes]], names: frozenset[bytes]) -> Headers:
    declared = {
        word.strip().lower()
        for name, value in headers
        if name == b"connection"
        for word in value.split(b",")
    }
    return [(name, value) for name, value in headers if name not in names and name not in declared]
