"""A request as it comes in: its head at once, its body when somebody wants it, within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec

from headgate.gateway.asgi import Receive, Scope
from headgate.gateway.headers import Headers
from headgate.gateway.inflate import CannotInflate, inflated
from headgate.gateway.refusals import Refusal

LINGER_S = 5.0
"""After a refusal; a connection that is closed while bytes come in loses the answer too."""


class ClientLeft(Exception):
    """Nobody is there any more to answer."""


class Incoming:
    """One request of a client."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["raw_path"].decode("latin-1")
        """As the client escaped it."""
        self.query: str = scope["query_string"].decode("latin-1")
        self.headers: Headers = list(scope["headers"])
        self.by_name = dict(reversed(self.headers))
        """The first of each name."""
        self._receive = receive
        self._all_read = asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        while not self._all_read.is_set():
            event = await self._receive()
            if event["type"] == "http.disconnect":
                self._all_read.set()
                raise ClientLeft
            if not event.get("more_body", False):
                self._all_read.set()
            if event.get("body"):
                yield event["body"]

    async def body(self, most_bytes: int) -> bytes:
        """The whole body; raises `Refusal` before more than that is held."""
        self._check_length(most_bytes)
        parts: list[bytes] = []
        size = 0
        async for chunk in self.chunks():
            size += len(chunk)
            if size > most_bytes:
                raise _too_large(most_bytes)
            parts.append(chunk)
        return b"".join(parts)

    async def drain(self) -> None:
        """Take what still comes, for a while: who is still sending does not read an answer."""
        with suppress(ClientLeft, TimeoutError):
            async with asyncio.timeout(LINGER_S):
                async for _ in self.chunks():
                    pass

    async def until_gone(self) -> None:
        """Come back when the client has left; not before its body is read."""
        await self._all_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    @property
    def encoding(self) -> str:
        """How the body is encoded; empty: not at all."""
        return self.by_name.get(b"content-encoding", b"").decode("latin-1").strip().lower()

    @property
    def has_body(self) -> bool:
        """Whether a body was announced, be it empty."""
        return b"content-length" in self.by_name or b"transfer-encoding" in self.by_name

    def _check_length(self, most_bytes: int) -> None:
        length = self.by_name.get(b"content-length", b"0")
        if length.isdigit() and int(length) > most_bytes:
            raise _too_large(most_bytes)


def plain_body(raw: bytes, encoding: str, most_bytes: int) -> bytes:
    """A body as JSON; raises `Refusal` where it is none that can be held or looked at."""
    body: bytes | None = raw
    if encoding:
        try:
            body = inflated(raw, encoding, most_bytes)
        except CannotInflate as error:
            raise Refusal(400, "encoding", f"the body cannot be read: {error}") from error
    if body is None:
        raise _too_large(most_bytes)
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except RecursionError:
        raise Refusal(400, "depth", "the body is nested too deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # the provider, who knows better, says what is wrong with it
    return body


def _too_large(most_bytes: int) -> Refusal:
    most = f"{most_bytes / 2**20:g} MB"
    return Refusal(413, "size", f"the body has more than {most}; see --max-body")
