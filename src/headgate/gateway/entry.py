"""Who may come in: checks that cost nothing, before a byte of the body is read.

The gateway listens on loopback, where any page in the user's browser can reach it: so the host that
was called, and the page that calls, must be known. Beyond loopback a token must be shown.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.gateway.headers import TOKEN_HEADER
from headgate.gateway.refusals import Refusal

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

TOKEN_FOLDER = "/token/"
"""A client that can set nothing but a base URL shows its token there."""


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
        if host_name(host) not in self.hosts:
            raise Refusal(421, "host", f"host {host[:100]!r} is not allowed; see --allow-host")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() not in self.origins:
            raise Refusal(403, "origin", "pages may not call this; see --allow-origin")
        shown = headers.get(TOKEN_HEADER, b"").decode("latin-1")
        if path.startswith(TOKEN_FOLDER):
            shown, slash, rest = path[len(TOKEN_FOLDER) :].partition("/")
            path = slash + rest
        if self.token and not hmac.compare_digest(shown.encode(), self.token.encode()):
            said = f"show the token in {TOKEN_HEADER.decode()}, or as /token/TOKEN/ in the URL"
            raise Refusal(401, "token", said)
        return path


def host_name(host: str) -> str:
    """The name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")
