"""Who may come in where something listens on this machine.

Any page in the user's browser can reach loopback: so the name that was called, and the page that
calls, must be known (DNS rebinding). Beyond loopback a token must be shown.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Container
from typing import Final, Literal

LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})

LEAST_TOKEN_CHARS: Final = 22
"""128 bits, written with 64 letters."""

Reason = Literal["host", "origin", "token"]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; IPv6 with or without its brackets."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def shut_out(
    host: str,
    origin: str | None,
    shown: str,
    *,
    hosts: Container[str] | None,
    origins: Container[str] | None,
    token: str,
) -> Reason | None:
    """Why a request may not come in, by its headers and the token it shows; None: it may.

    `hosts` are names in lower case, with the port where only that one will do. None allows all of
    them, and an empty token asks for none.
    """
    if hosts is not None and host.lower() not in hosts and host_name(host) not in hosts:
        return "host"
    if origins is not None and origin is not None and origin.lower() not in origins:
        return "origin"
    if token and not hmac.compare_digest(shown.encode(), token.encode()):
        return "token"
    return None


def host_name(host: str) -> str:
    """The name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")
