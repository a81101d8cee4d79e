"""Which server, offered how: the ways to start a proxy."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from headgate.mcp.toolgate import ToolGate
from headgate.proxy.link import Link
from headgate.proxy.relay import Relay
from headgate.proxy.rules import Rules
from headgate.proxy.stdio import Child, OwnStdio

Opener: TypeAlias = Callable[[str], ToolGate]
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


async def serve(upstream: Upstream, opener: Opener, rules: Rules, http: str | None) -> int:
    """Run a proxy until its client is gone, or it is told to stop; gives the exit code."""
    if http is not None:
        from headgate.proxy.endpoint import serve_http  # needs the extra

        return await serve_http(upstream, opener, rules, http)
    return await serve_stdio(upstream, opener(""), rules)


async def serve_stdio(upstream: Upstream, tool_gate: ToolGate, rules: Rules) -> int:
    """Offer a server on our own stdin and stdout."""
    server = await upstream.connect()
    relay = Relay(OwnStdio(), server, tool_gate, rules)
    running = asyncio.ensure_future(relay.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
    warming = asyncio.create_task(asyncio.to_thread(tool_gate.warm))
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await running
    finally:
        if isinstance(server, Child):
            await server.stop()
        await asyncio.gather(warming, return_exceptions=True)
    return server.code if isinstance(server, Child) and not relay.client_left else 0
