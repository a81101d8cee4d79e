"""Who may come in: checks that cost nothing, before a byte of the body is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from headgate.gateway.headers import TOKEN_HEADER
from headgate.gateway.refusals import Refusal
from headgate.loopback import LOCAL_NAMES, Reason, shut_out

TOKEN_FOLDER = "/token/"
"""A client that can set nothing but a base URL shows its token there."""

REFUSED: Mapping[Reason, tuple[int, str]] = MappingProxyType(
    {
        "host": (421, "host {host} is not allowed; see --allow-host"),
        "origin": (403, "pages may not call this; see --allow-origin"),
        "token": (
            401,
            f"show the token in {TOKEN_HEADER.decode()}, or as /token/TOKEN/ in the URL",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """Who is let in."""

    hosts: frozenset[str] = LOCAL_NAMES
    """Names by which the gateway may be called, without a port, in lower case."""
    origins: frozenset[str] = frozenset()
    """Pages that may call it."""
    token: str = field(default="", repr=False)
    """Empty: none is asked for."""

    def path_inside(self, path: str, headers: Mapping[bytes, bytes]) -> str:
        """The path of a request that may come in, without its token; raises `Refusal`."""
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers[b"origin"].decode("latin-1") if b"origin" in headers else None
        shown = headers.get(TOKEN_HEADER, b"").decode("latin-1")
        if path.startswith(TOKEN_FOLDER):
            shown, slash, rest = path[len(TOKEN_FOLDER) :].partition("/")
            path = slash + rest
        reason = shut_out(
            host, origin, shown, hosts=self.hosts, origins=self.origins, token=self.token
        )
        if reason is not None:
            status, said = REFUSED[reason]
            raise Refusal(status, reason, said.format(host=repr(host[:100])))
        return path
