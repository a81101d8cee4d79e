"""The store of last resort: originals in this process while the disk fails, within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from headgate.errors import StoreError
from headgate.locks import Guard
from headgate.spill.chunks import CHUNK_BYTES, Tally
from headgate.spill.local import not_found
from headgate.types import About, Ref


class MemoryStore:
    """Originals in memory, at most `limit_bytes` of them; the oldest go first."""

    def __init__(self, limit_bytes: int, *, clock: Callable[[], int] = time.time_ns) -> None:
        self.limit_bytes = limit_bytes
        self._clock = clock
        self._guard = Guard()
        self._kept: dict[Ref, tuple[About, bytes]] = {}
        self._used_bytes = 0

    def writer(
        self, *, call_id: str, tool: str, clean: bool | None = None, hashed: bool = False
    ) -> MemoryWriter:
        """Begin to keep an original; whether it is clean text makes no difference here."""
        return MemoryWriter(self, call_id, tool, Tally(clean=True, hashed=hashed))

    def read(self, ref: Ref, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`, fewer at the end."""
        return self._find(ref)[1][max(start, 0) : max(stop, 0)]

    def about(self, ref: Ref) -> About:
        """What is kept under a ref."""
        return self._find(ref)[0]

    def path_for(self, ref: Ref, call_id: str) -> str | None:
        """None: there is no file."""
        return None

    def all(self) -> list[About]:
        """Everything kept, oldest first."""
        with self._guard.lock:
            return [about for about, _ in self._kept.values()]

    def keep(self, about: About, content: bytes) -> About:
        """Keep an original, unless it is kept already; the oldest make room."""
        with self._guard.lock:
            if about.ref in self._kept:
                return self._kept[about.ref][0]
            about = replace(about, time_ns=self._clock())
            self._kept[about.ref] = (about, content)
            self._used_bytes += len(content)
            while self._used_bytes > self.limit_bytes:
                oldest = next(iter(self._kept))
                self._used_bytes -= len(self._kept.pop(oldest)[1])
            return about

    def _find(self, ref: Ref) -> tuple[About, bytes]:
        with self._guard.lock:
            found = self._kept.get(ref)
        if found is None:
            raise not_found(ref)
        return found


class MemoryWriter:
    """Takes one original in pieces, up to what the store may hold."""

    def __init__(self, store: MemoryStore, call_id: str, tool: str, tally: Tally) -> None:
        self._store = store
        self._tally = tally
        self._call_id = call_id
        self._tool = tool
        self._pieces: list[bytes] = []
        self._length = 0
        self._ended = False

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; more than the store may hold is a `StoreError`, and the writer has ended."""
        self._check_open()
        self._length += len(data)
        if self._length > self._store.limit_bytes:
            self.abort()
            raise StoreError(
                f"more than the {self._store.limit_bytes} bytes that may be kept in memory"
            )
        self._pieces.append(bytes(data))

    def commit(self, ref: Ref, sha256: str) -> About:
        """Make the bytes readable under `ref`."""
        self._check_open()
        content = b"".join(self._pieces)
        self.abort()
        self._tally.add(content)
        counted = self._tally.counted(sha256.lower())
        if counted.sha256 != sha256.lower():
            raise StoreError(f"{ref}: the bytes have sha256 {counted.sha256}, not {sha256}")
        about = About(
            ref,
            counted.sha256,
            counted.length,
            counted.lines,
            self._call_id,
            self._tool,
            0,
            CHUNK_BYTES,
            counted.chunk_lines,
        )
        return self._store.keep(about, content)

    def abort(self) -> None:
        """Forget the bytes; harmless after `commit`."""
        self._ended = True
        self._pieces = []

    def _check_open(self) -> None:
        if self._ended:
            raise ValueError("this writer has ended; begin another")
