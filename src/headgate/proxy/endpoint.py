"""A server offered over streamable HTTP: one address, both generations of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from dataclasses import replace

import uvicorn
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from headgate.mcp.wire import encoded, loaded_object
from headgate.proxy.door import BadAddress, Door
from headgate.proxy.message import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    SERVER_GONE,
    Message,
    Unreadable,
    message_of,
    refusal,
)
from headgate.proxy.opening import probe
from headgate.proxy.relay import Relay
from headgate.proxy.rules import Rules
from headgate.proxy.sessions import Sessions
from headgate.proxy.shared import Exchange, Shared
from headgate.proxy.upstream import Opener, Upstream

log = logging.getLogger("headgate.mcp")

PATH = "/mcp"
BODY_BYTES = 32 << 20
PING_S = 15.0
"""A stream that says nothing for long is closed by what lies between."""


class Endpoint:
    """The ASGI application."""

    def __init__(self, upstream: Upstream, opener: Opener, rules: Rules, door: Door) -> None:
        self._upstream = upstream
        self._opener = opener
        self._rules = rules
        self._door = door
        self._sessions = Sessions(upstream, opener, rules)
        self._shared: Shared | None = None
        self._relay: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._bounded = RequestBodyLimitMiddleware(self._answered, BODY_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; who may not ask is told so before anything of it is read."""
        refused = self._door.refuses(Headers(scope=scope))
        if refused is not None:
            await _text(*refused)(scope, receive, send)
        elif scope["path"] != PATH:
            await _text(404, f"the server is at {PATH}")(scope, receive, send)
        else:
            await self._bounded(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if headers.get(MCP_PROTOCOL_VERSION_HEADER, "") in ("", *HANDSHAKE_PROTOCOL_VERSIONS):
            await self._in_session(headers, scope, receive, send)
        else:
            await self._alone(Request(scope, receive), send)

    async def close(self) -> None:
        """End everything that runs."""
        await self._sessions.close()
        if self._shared is not None and self._relay is not None:
            await self._shared.end()
            await asyncio.gather(self._relay, return_exceptions=True)

    async def _in_session(
        self, headers: Headers, scope: Scope, receive: Receive, send: Send
    ) -> None:
        session_id = headers.get("mcp-session-id")
        if session_id is not None and session_id in self._sessions:
            await self._sessions.ask(session_id, scope, receive, send)
        elif session_id is not None:
            await _answer(404, refusal(b"", INVALID_REQUEST, "Session not found"))(
                scope, receive, send
            )
        elif scope["method"] != "POST":
            # Only a message opens a session, and with it a server of its own.
            await _answer(400, refusal(b"", INVALID_REQUEST, "Missing session ID"))(
                scope, receive, send
            )
        elif self._sessions.is_full:
            await _answer(503, refusal(b"", SERVER_GONE, "Too many open sessions"))(
                scope, receive, send
            )
        else:
            try:
                await self._sessions.open(scope, receive, send)
            except OSError as error:
                words = f"{self._rules.upstream} cannot be started: {error.strerror}"
                await _answer(502, refusal(b"", SERVER_GONE, words))(scope, receive, send)

    async def _alone(self, request: Request, send: Send) -> None:
        """A request that stands for itself; cancelled by closing the connection."""
        if request.method != "POST":
            response = Response(status_code=405, headers={"Allow": "POST"})
            await response(request.scope, request.receive, send)
            return
        message, refused = _judged(await request.body(), request)
        if message is None or refused is not None:
            await (refused or Response(status_code=202))(request.scope, request.receive, send)
            return
        shared = await self._running()
        exchange = await shared.ask(message)
        leaving = asyncio.create_task(_left(request))
        replying = asyncio.create_task(_reply(exchange, request, send))
        try:
            await asyncio.wait({leaving, replying}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (leaving, replying):
                task.cancel()
            await asyncio.gather(leaving, replying, return_exceptions=True)
            await shared.leave(exchange)

    async def _running(self) -> Shared:
        """The connection that requests without a session share; started again if it ended."""
        async with self._starting:
            if self._shared is None or self._relay is None or self._relay.done():
                server = await self._upstream.connect()
                self._shared = Shared()
                gate = self._opener("")
                gate.knows_caller = False
                relay = Relay(self._shared, server, gate, self._rules)
                self._relay = asyncio.create_task(relay.run())
                self._relay.add_done_callback(_told)
            return self._shared


async def serve_http(upstream: Upstream, opener: Opener, rules: Rules, door: Door) -> int:
    """Offer a server over HTTP until told to stop."""
    await probe(upstream.connect, rules)
    listening = _listening(door)
    door = replace(door, port=listening.getsockname()[1])
    endpoint = Endpoint(upstream, opener, rules, door)
    log.info("%s is offered at http://%s:%d%s", rules.upstream, door.host, door.port, PATH)
    try:
        await server_of(endpoint).serve(sockets=[listening])
    finally:
        await endpoint.close()
    return 0


def server_of(endpoint: Endpoint) -> uvicorn.Server:
    """What serves it: HTTP/1.1 alone, whatever else a client would rather speak."""
    config = uvicorn.Config(
        endpoint,
        http="h11",  # The other one loses the body of a request that wishes for HTTP/2.
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def _listening(door: Door) -> socket.socket:
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    try:
        return socket.create_server((door.host.strip("[]"), door.port), family=family)
    except OSError as error:
        words = os.strerror(error.errno) if error.errno else str(error)
        raise BadAddress(f"{door.host}:{door.port}: {words.lower()}") from error


def _judged(body: bytes, request: Request) -> tuple[Message | None, Response | None]:
    """The request in a body, or the answer to what is none; neither: nobody waits for one."""
    try:
        message = message_of(body)
    except Unreadable as error:
        return None, _answer(400, refusal(error.id, PARSE_ERROR, str(error)))
    if not message.method or not body.lstrip().startswith(b"{"):
        return None, _answer(400, refusal(b"", INVALID_REQUEST, "one request at a time"))
    if not message.is_request:
        return None, None  # this version has none that a server without sessions could act on
    twice = find_duplicated_routing_header(request.headers.items())
    if twice is not None:
        words = f"{twice} header appears more than once"
        return None, _answer(400, refusal(message.id, INVALID_REQUEST, words))
    verdict = classify_inbound_request(loaded_object(body), headers=dict(request.headers))
    if message.method == "initialize":
        # It belongs to sessions; here it would speak for all who share the server.
        return None, _answer(404, refusal(message.id, METHOD_NOT_FOUND, "Method not found"))
    if isinstance(verdict, InboundLadderRejection):
        fields = {"code": verdict.code, "message": verdict.message, "data": verdict.data}
        said = {name: value for name, value in fields.items() if value is not None}
        raw = b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (message.id, encoded(said))
        return None, _answer(ERROR_CODE_HTTP_STATUS.get(verdict.code, 400), Message(raw))
    return message, None


async def _reply(exchange: Exchange, request: Request, send: Send) -> None:
    """The answer alone as JSON; with something before it, or a long wait, a stream of events."""
    first = await _next(exchange)
    if first is not None and first.is_answer:
        code = loaded_object(first.error).get("code") if first.error else None
        status = ERROR_CODE_HTTP_STATUS.get(code, 200) if isinstance(code, int) else 200
        await _answer(status, first)(request.scope, request.receive, send)
        return
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    message = first
    while True:
        event = b": ping\r\n\r\n" if message is None else _event(message)
        is_last = message is not None and message.is_answer
        await send({"type": "http.response.body", "body": event, "more_body": not is_last})
        if is_last:
            return
        message = await _next(exchange)


async def _next(exchange: Exchange) -> Message | None:
    with contextlib.suppress(TimeoutError):
        return await asyncio.wait_for(exchange.replies.get(), PING_S)
    return None


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _event(message: Message) -> bytes:
    return b"event: message\r\ndata: %b\r\n\r\n" % message.raw.replace(b"\n", b" ")


def _answer(status: int, message: Message) -> Response:
    return Response(message.raw, status_code=status, media_type="application/json")


def _text(status: int, words: str) -> Response:
    return Response(json.dumps({"error": words}), status_code=status, media_type="application/json")


def _told(relay: asyncio.Task[None]) -> None:
    if not relay.cancelled() and relay.exception() is not None:
        log.warning("the connection ended: %s", relay.exception())
