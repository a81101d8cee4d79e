"""What the relay speaks to on either side."""

from __future__ import annotations

from typing import Protocol

from headgate.proxy.message import Message


class Link(Protocol):
    """One end of a connection: messages come and go, in order."""

    async def receive(self) -> Message | None:
        """The next message; None: the other end is gone, and `ending` says how."""
        ...

    async def send(self, message: Message) -> None:
        """Pass a message on; one that nobody takes any more is dropped."""
        ...

    async def close(self) -> None:
        """Say that nothing more will be sent; what is on its way may still arrive."""
        ...

    async def stop(self) -> None:
        """Close, and wait until the other end is gone."""
        ...

    @property
    def ending(self) -> str:
        """How the other end went, in words."""
        ...
