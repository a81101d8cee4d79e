"""A store that behaves badly on purpose, for tests of what happens then."""

from __future__ import annotations

from threading import Event as Signal

from headgate.errors import StoreError
from headgate.spill.memory import MemoryStore
from headgate.types import About, Ref, Writer


class BadStore:
    """Keeps originals in memory until it breaks: after `most_bytes` of one original it is full.

    With `hangs` it does not answer before `released` is set.
    """

    def __init__(self, most_bytes: int = 0, *, hangs: bool = False) -> None:
        self.most_bytes = most_bytes
        self.released = Signal()
        if not hangs:
            self.released.set()
        self.memory = MemoryStore(1 << 30)

    def writer(
        self, *, call_id: str, tool: str, clean: bool | None = None, hashed: bool = False
    ) -> Writer:
        """Gives a writer that breaks, once released."""
        self.released.wait()
        writer = self.memory.writer(call_id=call_id, tool=tool, clean=clean, hashed=hashed)
        return _BadWriter(writer, self.most_bytes)

    def read(self, ref: Ref, start: int, stop: int) -> bytes:
        """Reads what was kept before it broke."""
        return self.memory.read(ref, start, stop)

    def about(self, ref: Ref) -> About:
        """Knows what was kept before it broke."""
        return self.memory.about(ref)

    def path_for(self, ref: Ref, call_id: str) -> str | None:
        """Has no files."""
        return None


class _BadWriter:
    def __init__(self, writer: Writer, most_bytes: int) -> None:
        self._writer = writer
        self._left = most_bytes

    def write(self, data: bytes | memoryview) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise StoreError("the disk is full")
        self._writer.write(data)

    def commit(self, ref: Ref, sha256: str) -> About:
        return self._writer.commit(ref, sha256)

    def abort(self) -> None:
        self._writer.abort()
