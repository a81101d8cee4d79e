"""Which headers go on: all that concern the two ends, none that concern one connection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

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


UNSPEAKABLE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""Of a value: no server may send it, though some do."""

NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")


def sent(headers: Sequence[tuple[bytes, bytes]]) -> Headers:
    """The client's headers as the upstream gets them."""
    return _without(headers, NOT_SENT)


def returned(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The upstream's headers as the client gets them; what is none is left out."""
    named = [(name.lower(), value) for name, value in headers]
    kept = _without(named, NOT_RETURNED)
    return [(n, v) for n, v in kept if NAME.fullmatch(n) and not UNSPEAKABLE.search(v)]


def _without(headers: Sequence[tuple[bytes, bytes]], names: frozenset[bytes]) -> Headers:
    declared = {
        word.strip().lower()
        for name, value in headers
        if name == b"connection"
        for word in value.split(b",")
    }
    return [(name, value) for name, value in headers if name not in names and name not in declared]
