"""Many clients on one server, where each request stands for itself (protocol 2026-07-28 on).

Ids and progress tokens are the clients' own, and two clients may have chosen the same. So each
request goes out under a number of ours, and whatever speaks of it is turned back.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from headgate.mcp.wire import fields_of, object_of
from headgate.proxy.message import (
    SERVER_GONE,
    Message,
    refusal,
    request,
    with_id,
    with_params,
    with_result,
)

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

EMITS = "notifications/message"

OVER = "the server has ended; ask again, and it is started again"


@dataclass(slots=True)
class Exchange:
    """One request over HTTP, and what comes back for it."""

    number: bytes
    asked: Message
    token: bytes
    """The client's own progress token, as it is written; empty: it wants no progress."""
    replies: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)


class Shared:
    """The client side of a relay that many clients use."""

    ending = "went away"

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[Message | None] = asyncio.Queue()
        self._open: dict[bytes, Exchange] = {}
        self._count = 0
        self._is_over = False

    async def ask(self, message: Message) -> Exchange:
        """Pass a client's request on under a number of ours; one that comes late is refused."""
        self._count += 1
        number = b"%d" % self._count
        params = fields_of(message.params)
        meta = fields_of(params.get("_meta", b""))
        exchange = Exchange(number, message, meta.get("progressToken", b""))
        sent = with_id(message, number)
        if exchange.token:
            meta["progressToken"] = number
            sent = with_params(sent, object_of({**params, "_meta": object_of(meta)}))
        if self._is_over:
            exchange.replies.put_nowait(refusal(message.id, SERVER_GONE, OVER))
            return exchange
        self._open[number] = exchange
        await self._inbox.put(sent)
        return exchange

    async def leave(self, exchange: Exchange) -> None:
        """Forget an exchange; one that was not answered is cancelled."""
        if self._open.pop(exchange.number, None) is not None:
            params = b'{"requestId":%b,"reason":"the client left"}' % exchange.number
            await self._inbox.put(request("notifications/cancelled", params))

    async def end(self) -> None:
        """No client will ask any more."""
        await self._inbox.put(None)

    async def receive(self) -> Message | None:
        """The next message of any client."""
        return await self._inbox.get()

    async def send(self, message: Message) -> None:
        """Give a message to the client that it is for."""
        if message.is_answer:
            exchange = self._open.pop(message.id, None)
            if exchange is not None:
                turned = with_id(_subscribed(message, exchange), exchange.asked.id)
                exchange.replies.put_nowait(turned)
            return
        found = self._spoken_of(message)
        if found is not None:
            exchange, turned = found
            exchange.replies.put_nowait(turned)

    async def close(self) -> None:
        """The server is gone: what it never got to see is refused."""
        self._is_over = True
        for exchange in self._open.values():
            exchange.replies.put_nowait(refusal(exchange.asked.id, SERVER_GONE, OVER))
        self._open.clear()

    async def stop(self) -> None:
        """The same."""
        await self.close()

    def _spoken_of(self, message: Message) -> tuple[Exchange, Message] | None:
        params = fields_of(message.params)
        if message.method == "notifications/progress":
            exchange = self._open.get(params.get("progressToken", b""))
            if exchange is None or not exchange.token:
                return None
            params["progressToken"] = exchange.token
            return exchange, with_params(message, object_of(params))
        meta = fields_of(params.get("_meta", b""))
        exchange = self._open.get(meta.get(SUBSCRIPTION_KEY, b"").strip(b'"'))
        if exchange is not None:
            meta[SUBSCRIPTION_KEY] = exchange.asked.id
            return exchange, with_params(message, object_of({**params, "_meta": object_of(meta)}))
        if message.method == EMITS and len(self._open) == 1:
            # Nothing says whose log line it is; with two open it might be told to the wrong one.
            return next(iter(self._open.values())), message
        return None


def _subscribed(message: Message, exchange: Exchange) -> Message:
    """The answer that ends a subscription names it, and so is turned back too."""
    if SUBSCRIPTION_KEY.encode() not in message.result[-4_096:]:
        return message
    result = fields_of(message.result)
    meta = fields_of(result.get("_meta", b""))
    if SUBSCRIPTION_KEY not in meta:
        return message
    meta[SUBSCRIPTION_KEY] = exchange.asked.id
    return with_result(message, object_of({**result, "_meta": object_of(meta)}))
