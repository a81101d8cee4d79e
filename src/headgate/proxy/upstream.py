"""The servers that can be stood before: a command that is run, or an address."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias
from urllib.parse import urlsplit

from headgate.proxy.link import Link
from headgate.proxy.stdio import Child

if TYPE_CHECKING:
    from headgate.mcp.toolgate import ToolGate

Opener: TypeAlias = "Callable[[str], ToolGate]"
"""Opens the gate of a session; the empty name is that of the proxy itself."""


class Upstream(Protocol):
    """A server that can be connected to, again and again."""

    @property
    def name(self) -> str:
        """What it is called where people or models are told about it."""
        ...

    async def connect(self) -> Link:
        """Start it, or a connection to it."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """A server that is run."""

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The program's name."""
        return os.path.basename(self.words[0])

    async def connect(self) -> Child:
        """Run it."""
        return await Child.start(self.words)


@dataclass(frozen=True, slots=True)
class Remote:
    """A server that is reached over HTTP."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Its host: a path or a query may hold what nobody should read."""
        return urlsplit(self.url).hostname or "the server"

    async def connect(self) -> Link:
        """Connect to it."""
        from headgate.proxy.remote import RemoteLink  # needs the extra

        return await RemoteLink.open(self.url, self.headers)
