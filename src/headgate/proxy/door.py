"""Who may come in where a server is offered over HTTP.

Only this machine, unless there is a token. A page in a browser may not: the names that the proxy
could be reached by, and the pages that ask, are checked first (DNS rebinding).
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.errors import HeadgateError
from headgate.loopback import is_loopback

TOKEN_CHARS = 22
"""128 bits, however they are written."""

LOCAL = ("127.0.0.1", "localhost", "[::1]")


class BadAddress(HeadgateError):
    """Where it was to be offered, it cannot be; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in."""

    host: str
    port: int
    token: str

    def refuses(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """The status and the words for who may not; None: come in."""
        if not self._is_ours(headers.get("host", "")):
            return 421, "this host is not served here"
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin.partition("://")[2]):
            return 403, "this origin may not ask"
        if self.token:
            given = headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                return 401, "a bearer token is needed"
        return None

    def _is_ours(self, place: str) -> bool:
        if not is_loopback(self.host):
            return True  # the token stands for the names it may be reached by
        return place in {f"{name}:{self.port}" for name in LOCAL}


def door_of(http: str, token: str) -> Door:
    """The door at an address; one that others can reach needs a token."""
    host, port = address_of(http)
    if not is_loopback(host) and len(token) < TOKEN_CHARS:
        raise BadAddress(
            f"{host} can be reached from elsewhere; set HEADGATE_TOKEN to a secret of at least "
            f"{TOKEN_CHARS} characters that clients send as a bearer token"
        )
    return Door(host, port, token)


def address_of(http: str) -> tuple[str, int]:
    """Host and port of `8788`, `0.0.0.0:8788` or `[::1]:8788`."""
    host, _, port = http.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BadAddress(f"--http {http!r}; it takes a port, or HOST:PORT, as in 127.0.0.1:8788")
    return host or "127.0.0.1", int(port)
