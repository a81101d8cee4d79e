"""Spine: a request comes in, is made ready, goes out; its answer passes byte for byte.

Whatever fails on our side, the request goes out as it came, and the failure is counted and told.
What fails on the other side is the client's to see, and to try again.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import msgspec

from headgate.gateway.asgi import Receive, Scope, Send, answer
from headgate.gateway.counters import Counters
from headgate.gateway.endpoints import Endpoint, endpoint_of
from headgate.gateway.exchange import Exchange, Outbound
from headgate.gateway.headers import sent
from headgate.gateway.incoming import ClientLeft, Incoming, plain_body
from headgate.gateway.preparing import Preparing, Ready
from headgate.gateway.refusals import Refusal
from headgate.gateway.serving import Serving
from headgate.gateway.telemetry import Span, Spans, no_spans
from headgate.gateway.telling import Telling
from headgate.gateway.upstream_client import UpstreamClient
from headgate.gateway.upstreams import Upstream, leaves_its_folder, upstream_for


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and whom it is for."""

    incoming: Incoming
    upstream: Upstream
    target: str
    endpoint: Endpoint | None
    span: Span


class Gateway:
    """The gateway of one worker, as an ASGI application."""

    def __init__(
        self, serving: Serving, counters: Counters | None = None, spans: Spans = no_spans
    ) -> None:
        self.serving = serving
        self.counters = counters or Counters()
        self._spans = spans
        self._tell = Telling()
        self._preparing = Preparing(serving, self.counters, self._tell)
        self._exchange: Exchange

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            self.counters.add("in_flight")
            try:
                await self._serve(Incoming(scope, receive), send)
            finally:
                self.counters.add("in_flight", count=-1)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        client = UpstreamClient(self.serving)
        self._exchange = Exchange(client, self.counters, self._tell)
        try:
            if not self.serving.passthrough:
                await self._preparing.warm_up()
        except Exception as error:  # noqa: BLE001  # requests will go out as they come
            self._tell("starting", error)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await client.close()
        self._preparing.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, incoming: Incoming, send: Send) -> None:
        """Answer, and stop where the client leaves."""
        answering = asyncio.ensure_future(self._answer(incoming, send))
        leaving = asyncio.ensure_future(incoming.until_gone())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.counters.add("broken", "client")
        except asyncio.CancelledError:
            self.counters.add("broken", "shutdown")
            raise
        finally:
            for task in (answering, leaving):
                task.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)

    async def _answer(self, incoming: Incoming, send: Send) -> None:
        endpoint = endpoint_of(incoming.method, incoming.path)
        self.counters.add("requests", endpoint.dialect if endpoint else "other")
        try:
            with self._spans(endpoint) as span:
                asked = self._asked(incoming, endpoint, span)
                if asked is None:
                    await self._greet(incoming, send)
                else:
                    await self._pass_on(asked, send)
        except Refusal as refusal:
            if refusal.reason:
                self.counters.add("refused", refusal.reason)
            await self._refuse(refusal, incoming, endpoint, send)
        except ClientLeft:
            self.counters.add("broken", "client")
        except Exception as error:  # noqa: BLE001  # nobody is left without an answer
            self.counters.add("broken", "fault")
            self._tell("answering", error)
            fault = Refusal(500, "", "a fault of its own")
            await self._refuse(fault, incoming, endpoint, send)

    def _asked(self, incoming: Incoming, endpoint: Endpoint | None, span: Span) -> Asked | None:
        """Whom the request is for; None: for nobody, it only asks who is there."""
        path = self.serving.entry.path_inside(incoming.path, incoming.by_name)
        if leaves_its_folder(path or "/"):
            raise Refusal(400, "path", "the path has steps upwards")
        if path in ("", "/") and incoming.method in ("GET", "HEAD"):
            return None
        found = upstream_for(path, incoming.by_name, self.serving.upstreams)
        if found is None:
            names = ", ".join(f"/{one.name}/" for one in self.serving.upstreams)
            said = f"nothing says which provider this is for; begin the path with one of {names}"
            raise Refusal(404, "upstream", said)
        upstream, path = found
        return Asked(incoming, upstream, upstream.target(path, incoming.query), endpoint, span)

    async def _pass_on(self, asked: Asked, send: Send) -> None:
        """Send a request on; where its body carries a history, made ready."""
        if asked.endpoint is None:
            await self._exchange(self._untouched(asked), send)
            return
        incoming, most_bytes = asked.incoming, self.serving.most_body_bytes
        raw = await incoming.body(most_bytes)
        started = time.perf_counter()
        body = plain_body(raw, incoming.encoding, most_bytes)
        ready = await self._preparing.ready(body, asked.endpoint)
        asked.span.prepared(ready)
        self._count(ready, len(body), time.perf_counter() - started)
        answered = await self._exchange(self._prepared(asked, raw, ready), send)
        asked.span.answered(asked.upstream.name, answered.status)
        if answered.usage is not None:
            asked.span.reported(answered.usage)
            if not asked.endpoint.counts:
                self._preparing.learn(ready, asked.endpoint, answered.usage)

    def _untouched(self, asked: Asked) -> Outbound:
        """A request that carries no history: its body goes on while it comes in."""
        incoming, headers = asked.incoming, sent(asked.incoming.headers)
        if b"content-length" in incoming.by_name:
            headers.append((b"content-length", incoming.by_name[b"content-length"]))
        body = incoming.chunks() if incoming.has_body else None
        return Outbound(asked.upstream, incoming.method, asked.target, headers, body, is_read=False)

    def _prepared(self, asked: Asked, raw: bytes, ready: Ready) -> Outbound:
        """The request with its body as it is to be sent; unchanged, the very bytes that came."""
        headers, body = sent(asked.incoming.headers), raw
        if ready.done == "changed":
            headers = [(name, value) for name, value in headers if name != b"content-encoding"]
            body = ready.body
        method = asked.incoming.method
        return Outbound(asked.upstream, method, asked.target, headers, body, is_read=True)

    def _count(self, ready: Ready, length: int, seconds: float) -> None:
        self.counters.add("bodies", ready.done)
        self.counters.time("added_seconds", seconds)
        self.counters.add("sent_bytes", "before", length)
        self.counters.add("sent_bytes", "after", len(ready.body))

    async def _greet(self, incoming: Incoming, send: Send) -> None:
        """Say who is there; clients ask before they begin."""
        names = [one.name for one in self.serving.upstreams]
        body = msgspec.json.encode({"gateway": "headgate", "upstreams": names})
        await answer(send, 200, body, only_head=incoming.method == "HEAD")

    async def _refuse(
        self, refusal: Refusal, incoming: Incoming, endpoint: Endpoint | None, send: Send
    ) -> None:
        """Answer ourselves, and then let the client finish what it was sending."""
        body = refusal.body(endpoint.dialect if endpoint else "")
        headers = ((b"connection", b"close"),)
        await answer(send, refusal.status, body, headers=headers, before_end=incoming.drain)
