"""The ways to start a proxy: on our own stdin and stdout, or over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from headgate.proxy.door import Door
from headgate.proxy.rules import Rules
from headgate.proxy.stdio import Child, OwnStdio
from headgate.proxy.upstream import Opener, Upstream


async def serve(upstream: Upstream, opener: Opener, rules: Rules, door: Door | None) -> int:
    """Run a proxy until its client is gone, or it is told to stop; gives the exit code."""
    if door is not None:
        from headgate.proxy.endpoint import serve_http  # needs the extra

        return await serve_http(upstream, opener, rules, door)
    return await serve_stdio(upstream, opener, rules)


async def serve_stdio(upstream: Upstream, opener: Opener, rules: Rules) -> int:
    """Offer a server on our own stdin and stdout."""
    server = await upstream.connect()
    try:
        # While the server starts: what it takes to load the gate is then no time lost.
        from headgate.proxy.relay import Relay

        tool_gate = opener("")
        relay = Relay(OwnStdio(), server, tool_gate, rules)
        running = asyncio.ensure_future(relay.run())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, running.cancel)
        warming = asyncio.create_task(asyncio.to_thread(tool_gate.warm))
        with contextlib.suppress(asyncio.CancelledError):
            await running
        await asyncio.gather(warming, return_exceptions=True)
    finally:
        await server.stop()
    return server.code if isinstance(server, Child) and not relay.client_left else 0
