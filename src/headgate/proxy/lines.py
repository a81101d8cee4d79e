"""Bytes to lines, each one message, with a bound on what is held."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.proxy.message import MOST_BYTES

END_BYTES = 4_096
"""What is kept of both ends of a line that is too long: an id stands near one of them."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was not held."""

    head: bytes
    tail: bytes
    length: int


class Lines:
    """Takes bytes as they come, gives whole lines."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._held: list[bytes] = []
        self._length = 0
        self._head = b""

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that end in `data`; blank ones are none."""
        first, *rest = data.split(b"\n")
        self._add(first)
        lines: list[bytes | TooLong] = []
        for piece in rest:
            lines.append(self._take())
            self._add(piece)
        return [line for line in lines if isinstance(line, TooLong) or line.strip()]

    def close(self) -> list[bytes | TooLong]:
        """What is left without a line end."""
        line = self._take()
        return [line] if isinstance(line, TooLong) or line.strip() else []

    def _add(self, piece: bytes) -> None:
        self._held.append(piece)
        self._length += len(piece)
        if self._length <= self.most_bytes:
            return
        joined = b"".join(self._held)
        self._head = self._head or joined[:END_BYTES]
        self._held = [joined[-END_BYTES:]]

    def _take(self) -> bytes | TooLong:
        line, length, head = b"".join(self._held), self._length, self._head
        self._held, self._length, self._head = [], 0, b""
        return TooLong(head, line, length) if length > self.most_bytes else line
