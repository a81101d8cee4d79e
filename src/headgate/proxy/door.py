"""Who may come in where a server is offered over HTTP: only this machine, or who has a token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from headgate.errors import HeadgateError
from headgate.loopback import LEAST_TOKEN_CHARS, Reason, is_loopback, shut_out

LOCAL = ("127.0.0.1", "localhost", "[::1]")

REFUSED: Mapping[Reason, tuple[int, str]] = MappingProxyType(
    {
        "host": (421, "this host is not served here"),
        "origin": (403, "this origin may not ask"),
        "token": (401, "a bearer token is needed"),
    }
)


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
        reason = shut_out(
            headers.get("host", ""),
            headers.get("origin"),
            headers.get("authorization", "").removeprefix("Bearer "),
            hosts=self._ours(),
            origins=self._ours("http://", "https://"),
            token=self.token,
        )
        return REFUSED[reason] if reason else None

    def _ours(self, *schemes: str) -> frozenset[str] | None:
        """The names it may be reached by; None: any, where a token stands for them."""
        if not is_loopback(self.host):
            return None
        return frozenset(
            f"{scheme}{name}:{self.port}" for scheme in schemes or ("",) for name in LOCAL
        )


def door_of(http: str, token: str) -> Door:
    """The door at an address; one that others can reach needs a token."""
    host, port = address_of(http)
    if not is_loopback(host) and len(token) < LEAST_TOKEN_CHARS:
        raise BadAddress(
            f"{host} can be reached from elsewhere; set HEADGATE_TOKEN to a secret of at least "
            f"{LEAST_TOKEN_CHARS} characters that clients send as a bearer token"
        )
    return Door(host, port, token)


def address_of(http: str) -> tuple[str, int]:
    """Host and port of `8789`, `0.0.0.0:8789` or `[::1]:8789`."""
    host, _, port = http.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BadAddress(f"--http {http!r}; it takes a port, or HOST:PORT, as in 127.0.0.1:8789")
    return host or "127.0.0.1", int(port)
