"""The few words of ASGI that the gateway speaks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]


async def answer(
    send: Send,
    status: int,
    body: bytes,
    *,
    content_type: bytes = b"application/json",
    headers: tuple[tuple[bytes, bytes], ...] = (),
    only_head: bool = False,
    before_end: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Send an answer in one piece; to HEAD, all of it but its body."""
    length = b"%d" % len(body)
    named = [(b"content-type", content_type), (b"content-length", length), *headers]
    await send({"type": "http.response.start", "status": status, "headers": named})
    shown = b"" if only_head else body
    if before_end is not None:
        await send({"type": "http.response.body", "body": shown, "more_body": True})
        await before_end()
        shown = b""
    await send({"type": "http.response.body", "body": shown})
