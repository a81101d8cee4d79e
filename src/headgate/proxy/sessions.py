"""Sessions over HTTP (protocol versions before 2026-07-28): each has a server of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable
from typing import Protocol
from uuid import uuid4

import anyio
import mcp_types
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from starlette.types import Message as AsgiMessage
from starlette.types import Receive, Scope, Send

from headgate.mcp.wire import fields_of, loaded
from headgate.proxy.message import (
    INVALID_REQUEST,
    Message,
    Unreadable,
    message_of,
    refusal,
)
from headgate.proxy.opening import Refused
from headgate.proxy.relay import Relay
from headgate.proxy.rules import Rules
from headgate.proxy.upstream import Opener, Upstream

log = logging.getLogger("headgate.mcp")

MOST_SESSIONS = 64
"""Each is a process; more than this is a client that forgets to close them."""

IDLE_S = 30 * 60.0
"""A session that nobody asks anything for this long is closed."""

ABOUT_ALL = ("notifications/tools/", "notifications/resources/", "notifications/prompts/")


class Sessions:
    """All sessions of one endpoint, by the id in `Mcp-Session-Id`."""

    def __init__(self, upstream: Upstream, opener: Opener, rules: Rules) -> None:
        self._upstream = upstream
        self._opener = opener
        self._rules = rules
        self._open: dict[str, StreamableHTTPServerTransport] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._starting = 0
        """Sessions whose servers are just being started."""

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._open

    @property
    def is_full(self) -> bool:
        """Whether no more can be opened."""
        return len(self._open) + self._starting >= MOST_SESSIONS

    async def ask(self, session_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of a session."""
        transport = self._open[session_id]
        await transport.handle_request(scope, receive, send)
        if transport.is_terminated:
            self._open.pop(session_id, None)

    async def open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request that opens a session; one that is refused opens none."""
        session_id = uuid4().hex
        transport = StreamableHTTPServerTransport(session_id, idle_timeout=IDLE_S)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(session_id, transport, ready))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        self._starting += 1
        try:
            await ready
            self._open[session_id] = transport
        finally:
            self._starting -= 1
        status: list[int] = []

        async def watched(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
            await send(message)

        try:
            await transport.handle_request(scope, receive, watched)
        finally:
            if not status or status[0] >= 400:
                await self._discard(session_id, transport)

    async def close(self) -> None:
        """End all of them."""
        for session_id, transport in list(self._open.items()):
            await self._discard(session_id, transport)
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(
        self,
        session_id: str,
        transport: StreamableHTTPServerTransport,
        ready: asyncio.Future[None],
    ) -> None:
        try:
            server = await self._upstream.connect()
        except OSError as error:
            ready.set_exception(error)
            return
        try:
            async with transport.connect() as (incoming, outgoing):
                relay = Relay(
                    SessionLink(incoming, outgoing),
                    server,
                    self._opener(session_id[:12]),
                    self._rules,
                )
                ready.set_result(None)
                with transport.idle_scope or anyio.CancelScope():
                    await relay.run()
        except Refused as error:
            log.warning("a session ended: %s", error)
        except Exception:
            log.exception("a session ended")
        finally:
            await server.stop()
            await self._discard(session_id, transport)

    async def _discard(self, session_id: str, transport: StreamableHTTPServerTransport) -> None:
        self._open.pop(session_id, None)
        if not transport.is_terminated:
            await transport.terminate()


class Outgoing(Protocol):
    """Where the SDK's transport takes messages for its client."""

    async def send(self, item: SessionMessage, /) -> None:
        """Take one."""
        ...


class SessionLink:
    """The client of one session, through the SDK's transport."""

    ending = "closed its session"

    def __init__(
        self, incoming: AsyncIterable[SessionMessage | Exception], outgoing: Outgoing
    ) -> None:
        self._incoming = aiter(incoming)
        self._outgoing = outgoing
        self._tokens: dict[bytes, bytes] = {}
        """Requests that are open, each with its progress token."""

    async def receive(self) -> Message | None:
        """The next message of the client."""
        while (item := await self._next()) is not None:
            if isinstance(item, Exception):
                continue  # the transport has answered it
            raw = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            try:
                message = message_of(raw)
            except Unreadable:
                continue
            if message.is_request:
                meta = fields_of(fields_of(message.params).get("_meta", b""))
                self._tokens[message.id] = meta.get("progressToken", b"")
            return message
        return None

    async def _next(self) -> SessionMessage | Exception | None:
        # Who ends a session closes both ends of its streams, that which waits here too.
        try:
            return await anext(self._incoming, None)
        except anyio.ClosedResourceError:
            return None

    async def send(self, message: Message) -> None:
        """Send a message on the stream of the request that it belongs to."""
        metadata = None
        if message.is_answer:
            self._tokens.pop(message.id, None)
        else:
            metadata = ServerMessageMetadata(related_request_id=self._related(message))
        try:
            read = mcp_types.jsonrpc_message_adapter.validate_json(message.raw, by_name=False)
        except ValueError:
            if not message.is_answer:
                return
            # What the server said is no answer of the protocol, but somebody waits for one.
            odd = refusal(message.id, INVALID_REQUEST, "the server's answer could not be read")
            read = mcp_types.jsonrpc_message_adapter.validate_json(odd.raw, by_name=False)
        try:
            await self._outgoing.send(SessionMessage(read, metadata))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the client is gone

    async def close(self) -> None:
        """The server is gone; the transport is ended by who opened it."""

    async def stop(self) -> None:
        """The same."""

    def _related(self, message: Message) -> str | int | None:
        """A request that a message of the server is about; the newest where nothing tells."""
        if not self._tokens or message.method.startswith(ABOUT_ALL):
            return None
        token = fields_of(message.params).get("progressToken")
        newest = list(self._tokens)[-1]
        named = [number for number, own in self._tokens.items() if own and own == token]
        found = loaded((named or [newest])[0])
        return found if isinstance(found, str | int) else None
