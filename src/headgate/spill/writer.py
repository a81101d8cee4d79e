"""Takes an original in pieces to a temporary file, as much of it as has room."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Final, Protocol

import msgspec

from headgate.disk import Temp
from headgate.errors import StoreError
from headgate.refs import REF_PATTERN
from headgate.spill.chunks import CHUNK_BYTES, Counted, Tally
from headgate.spill.house import NoRoom
from headgate.spill.index import Line
from headgate.spill.objects import BLOCK_BYTES, Objects
from headgate.types import About, Ref

AHEAD_BYTES: Final = 16 << 20
"""What a writer has counted beyond what it has, so that it need not ask for every chunk."""


class Keeper(Protocol):
    """What a writer needs of its store."""

    def reserve(self, temp: Temp, have: int, want: int, exact: int) -> int:
        """Count what `temp` is about to hold; answers with how long it may get."""
        ...

    def release(
        self, size_bytes: int, count: int, temp: Temp | None = None, *, wait: bool = True
    ) -> None:
        """Count what is not needed after all no longer."""
        ...

    def keep(self, draft: Draft, ref: Ref, counted: Counted) -> Line:
        """Keep a draft, unless the same content is kept already."""
        ...

    def told(self, line: Line) -> About:
        """What a reader may know of an original, by its line in the index."""
        ...


class Draft(Protocol):
    """An original that has no name yet."""

    @property
    def call_id(self) -> str:
        """The call that brought it."""
        ...

    @property
    def tool(self) -> str:
        """The tool that it came from."""
        ...

    def place(self, ref: Ref, length: int, now_ns: int) -> None:
        """Give the object its place on disk; the store asks for it where it has none yet."""
        ...


class Whole(msgspec.Struct, frozen=True, gc=False):
    """An original that is in memory from its first byte to its last."""

    store: Keeper
    objects: Objects
    original: bytes
    call_id: str
    tool: str

    def place(self, ref: Ref, length: int, now_ns: int) -> None:
        """Give the object its place on disk."""
        temp, granted = self.objects.begin(), 0
        try:
            granted = self.store.reserve(temp, 0, length, length)
            self.objects.write(temp, self.original)
            self.objects.finish(temp, ref, length, granted, now_ns)
        except BaseException:
            give_back(self.store, temp, granted)
            raise


class LocalWriter:
    """Takes one original in pieces; a chunk at most is in memory, the rest in a temporary file.

    Of an original that is larger than retention allows, the first part is kept.
    """

    def __init__(
        self,
        store: Keeper,
        objects: Objects,
        tally: Tally,
        call_id: str,
        tool: str,
        *,
        most_bytes: int | None,
    ) -> None:
        self.call_id = call_id
        self.tool = tool
        self._store = store
        self._objects = objects
        self._tally = tally
        self._most = most_bytes
        self._taken_bytes = 0
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._temp: Temp | None = None
        self._granted = 0
        self._is_full = False
        self._ended = False

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; a disk that cannot take them is a `StoreError`, and the writer has ended."""
        self._check_open()
        for block in _blocks(data):
            if self._is_full:
                self._tally.pass_by(block)
                continue
            self._take(block)
            if self._waiting_bytes > CHUNK_BYTES and not self._is_full:
                self._flush()

    def commit(self, ref: Ref, sha256: str) -> About:
        """Make the bytes readable under `ref`, all or nothing; once more changes nothing."""
        self._check_open()
        try:
            if not REF_PATTERN.fullmatch(ref):
                raise StoreError(f"{ref!r} is no ref")
            if not self._is_full:
                self._add_rest()
            sha256 = sha256.lower()
            counted = self._tally.counted(sha256)
            if counted.sha256 != sha256:
                raise StoreError(f"{ref}: the bytes have sha256 {counted.sha256}, not {sha256}")
            return self._store.told(self._store.keep(self, ref, counted))
        finally:
            self.abort()

    def abort(self) -> None:
        """Forget the bytes; harmless after `commit`."""
        self._end(wait=True)

    def place(self, ref: Ref, length: int, now_ns: int) -> None:
        """Give the object its place on disk; the store asks for it where it has none yet."""
        temp = self._temp = self._temp or self._objects.begin()
        if self._granted < length:
            self._granted = self._store.reserve(temp, self._granted, length, length)
        self._objects.write(temp, self._rest())
        self._objects.finish(temp, ref, length, self._granted, now_ns)
        unused, self._granted, self._temp = self._granted - length, 0, None
        if unused:
            self._store.release(unused, 0)

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._ended:
            return
        try:
            # Anything may be going on in this thread, the very lock being held by it among that.
            self._end(wait=False)
        except (AttributeError, TypeError):
            # As the program ends, modules may be gone before us; the next sweep gives it back.
            if not is_ending():
                raise

    def _end(self, *, wait: bool) -> None:
        self._ended = True
        self._waiting = []
        temp, granted = self._temp, self._granted
        self._temp, self._granted = None, 0
        if temp is not None:
            give_back(self._store, temp, granted, wait=wait)

    def _check_open(self) -> None:
        if self._ended:
            raise ValueError("this writer has ended; begin another")

    def _take(self, block: bytes) -> None:
        """Hold a block, or its first part where no more is kept of one original."""
        room = len(block) if self._most is None else self._most - self._taken_bytes
        part = block[:room] if room >= len(block) else block[: _whole_chars(block, room)]
        self._waiting.append(part)
        self._waiting_bytes += len(part)
        self._taken_bytes += len(part)
        if len(part) < len(block):
            self._add_rest()
            self._is_full = True
            self._tally.pass_by(block[len(part) :])

    def _add_rest(self) -> None:
        """Count what waits; where it has no room beside what is written, nothing more is kept."""
        rest = self._rest()
        if self._temp is not None and not self._has_room(self._tally.length + len(rest)):
            self._stop()
            return
        self._tally.add(rest)

    def _rest(self) -> bytes:
        if len(self._waiting) > 1:
            self._waiting = [b"".join(self._waiting)]
        return self._waiting[0] if self._waiting else b""

    def _flush(self) -> None:
        """Write all whole chunks, so that chunks on disk and in the index are the same."""
        block = self._rest()
        whole = len(block) - len(block) % CHUNK_BYTES
        try:
            self._temp = self._temp or self._objects.begin()
            if not self._has_room(self._tally.length + whole):
                self._stop()
                return
            self._tally.add(block, whole)
            self._objects.write(self._temp, memoryview(block)[:whole])
        except BaseException:
            self.abort()
            raise
        self._waiting = [block[whole:]]
        self._waiting_bytes = len(block) - whole

    def _has_room(self, length: int) -> bool:
        """Whether the file may get so long; it may soon get twice as long, if there is room."""
        if length <= self._granted:
            return True
        assert self._temp is not None
        ahead = length + min(length, AHEAD_BYTES)
        ahead = ahead if self._most is None else min(ahead, self._most)
        try:
            self._granted = self._store.reserve(self._temp, self._granted, ahead, length)
        except NoRoom:
            if not self._tally.length:
                raise
            return False
        return True

    def _stop(self) -> None:
        """Keep no more than is written."""
        self._tally.pass_by(self._rest())
        self._waiting, self._waiting_bytes = [], 0
        self._is_full = True


def give_back(store: Keeper, temp: Temp, granted: int, *, wait: bool = True) -> None:
    """Remove a file that gets no name, and what was counted for it."""
    if granted and temp.is_ours:
        store.release(granted, 1, temp, wait=wait)
    temp.discard()


def _whole_chars(block: bytes, most: int) -> int:
    """Where to cut so that no character of UTF-8 is cut, if this is UTF-8 at all."""
    starts = (at for at in range(most, max(most - 4, -1), -1) if block[at] & 0xC0 != 0x80)
    return next(starts, most)


def _blocks(data: bytes | memoryview) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    view = memoryview(data).cast("B")
    for at in range(0, len(view), BLOCK_BYTES):
        yield bytes(view[at : at + BLOCK_BYTES])
