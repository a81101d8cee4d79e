"""Servers that run in one event loop, and come to an end in good order."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

import uvicorn
import uvloop

from headgate.errors import HeadgateError
from headgate.gateway.asgi import Receive, Scope, Send
from headgate.gateway.protocol import BoundedProtocol
from headgate.gateway.serving import Serving

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Part: TypeAlias = tuple[Application, socket.socket]
"""What is served, and where."""

Stop: TypeAlias = Callable[[], None]

SWITCH_S = 0.0005
"""How long the thread that prepares may hold up the streams; Python's own default is ten times."""

KEPT_OPEN_S = 75
"""Longer than clients keep a connection in hand: the one who closes it should be them."""

WAITING_CONNECTIONS = 2048


class CannotListen(HeadgateError):
    """A port is taken, or not ours to take."""


class Server(uvicorn.Server):
    """A server that leaves signals to others, and says when it listens."""

    def __init__(self, application: Application, shutdown_timeout_s: float) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                http=BoundedProtocol,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=KEPT_OPEN_S,
                timeout_graceful_shutdown=max(round(shutdown_timeout_s), 1),
            )
        )
        self.listens = asyncio.Event()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]  # narrower
        """Take none."""
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        try:
            await super().startup(sockets)
        except SystemExit as ended:  # uvicorn's way to say that the application did not start
            raise CannotListen("the gateway could not start") from ended
        self.listens.set()


def listening_on(host: str, port: int) -> socket.socket:
    """A socket that clients can connect to."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(WAITING_CONNECTIONS)
        opened.setblocking(False)
    except OSError as error:
        opened.close()
        why = error.strerror or str(error)
        raise CannotListen(f"cannot listen on port {port} of {host}: {why.lower()}") from error
    return opened


def url_of(opened: socket.socket) -> str:
    """Where a socket listens."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(parts: Sequence[Part], serving: Serving, started: Callable[[Stop], None]) -> None:
    """Serve until somebody stops it; `started` is told when all listen, and how to stop them."""
    # What it says of broken requests is counted by us, and told without what was in them.
    said = logging.getLogger("uvicorn.error")
    level, before = said.level, sys.getswitchinterval()
    said.setLevel(logging.CRITICAL + 1)
    sys.setswitchinterval(SWITCH_S)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(parts, serving, started))
    finally:
        said.setLevel(level)
        sys.setswitchinterval(before)


async def serve(parts: Sequence[Part], serving: Serving, started: Callable[[Stop], None]) -> None:
    """Serve in this event loop until somebody stops it."""
    servers = [Server(application, serving.shutdown_timeout_s) for application, _ in parts]

    def stop() -> None:
        for server in servers:
            server.should_exit = True

    tasks = [
        asyncio.ensure_future(server.serve(sockets=[opened]))
        for server, (_, opened) in zip(servers, parts, strict=True)
    ]
    for task, server in zip(tasks, servers, strict=True):
        listening = asyncio.ensure_future(server.listens.wait())
        await asyncio.wait({task, listening}, return_when=asyncio.FIRST_COMPLETED)
        listening.cancel()
    if any(task.done() for task in tasks):
        stop()
    else:
        started(stop)
    stopped = await asyncio.gather(*tasks, return_exceptions=True)
    for error in stopped:
        if isinstance(error, BaseException):
            raise error
