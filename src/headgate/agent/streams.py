"""One way to read what a provider's client streams, be the client sync or async.

A sync client reads in a thread of its own, a daemon: a request that nobody waits for any more ends
with its next event or at its timeout, and keeps nothing else from ending.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from threading import Event as Signal
from threading import Thread
from typing import Protocol, TypeAlias

from headgate.model import Wire, object_in

Create: TypeAlias = Callable[..., object]


class Stream(Protocol):
    """What a sync client gives for `stream=True`."""

    def __iter__(self) -> Iterator[object]:
        """Its events."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class AsyncStream(Protocol):
    """What an async client gives, once awaited."""

    def __aiter__(self) -> AsyncIterator[object]:
        """Its events."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


async def events(client: object, create: Create, body: Mapping[str, object]) -> AsyncIterator[Wire]:
    """Send a request and give its events as plain objects."""
    arguments = _arguments(create, body)
    is_async = hasattr(type(client), "__aenter__")
    read = _awaited(create, arguments) if is_async else _pumped(create, arguments)
    async with aclosing(read):
        async for event in read:
            yield _plain(event)


def _arguments(create: Create, body: Mapping[str, object]) -> Wire:
    """A body as the arguments of a call: what the client has no name for goes along as it is."""
    names = inspect.signature(create).parameters
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in names.values()):
        return {**body, "stream": True}
    known = {name: value for name, value in body.items() if name in names}
    beside = {name: value for name, value in body.items() if name not in names}
    if beside:
        known["extra_body"] = {**object_in(body, "extra_body"), **beside}
    return {**known, "stream": True}


async def _awaited(create: Create, arguments: Wire) -> AsyncGenerator[object, None]:
    stream: AsyncStream = await create(**arguments)  # type: ignore[misc]  # an async client's call
    try:
        async for event in stream:
            yield event
    finally:
        await stream.close()


async def _pumped(create: Create, arguments: Wire) -> AsyncGenerator[object, None]:
    loop, left = asyncio.get_running_loop(), Signal()
    mailbox: asyncio.Queue[object] = asyncio.Queue()

    def post(item: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(mailbox.put_nowait, item)

    def pump() -> None:
        try:
            _read(create, arguments, post, left)
        except BaseException as error:  # noqa: BLE001  # raised where it is waited for
            post(_Failed(error))
        post(END)

    Thread(target=pump, name="headgate-model", daemon=True).start()
    try:
        while (item := await mailbox.get()) is not END:
            if isinstance(item, _Failed):
                raise item.error
            yield item
    finally:
        left.set()


def _read(create: Create, arguments: Wire, post: Callable[[object], None], left: Signal) -> None:
    stream: Stream = create(**arguments)  # type: ignore[assignment]  # a sync client's call
    try:
        for event in stream:
            if left.is_set():
                return
            post(event)
    finally:
        stream.close()


END = object()


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _plain(event: object) -> Wire:
    """An event as the object it came as, with whatever the client does not know."""
    to_dict = getattr(event, "to_dict", None)
    made = to_dict(mode="json", warnings=False) if to_dict else event
    return made if isinstance(made, dict) else {}
