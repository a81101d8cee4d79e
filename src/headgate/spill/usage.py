"""How much is on disk, counted before it is written: in all, and for each session.

One lock guards the counts, and everything that makes room. What is counted is never less than what
is there: a kill leaves it too high, and the next count of the files puts it right. A writer that
does not know how long its original gets has its temporary file made as long as it may become, so
that who counts the files counts what is promised too.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from threading import RLock, get_ident
from types import TracebackType
from typing import Final

import msgspec
from xxhash import xxh3_64_intdigest

from headgate.disk import Folder, create_once, open_file, still_there, store_error
from headgate.errors import StoreError
from headgate.locks import LOCK_WAIT_S, AnyLock, Guard, take_lock, try_lock
from headgate.retention import Retention

FILE_NAME: Final = "usage"

COUNTS: Final = struct.Struct("<8sQQQ")
SUM: Final = struct.Struct("<Q")
LINE_BYTES: Final = COUNTS.size + SUM.size
MAGIC: Final = b"hg-use1\n"

ROLE: Final = "the count of what is kept"

LEAST_INODES: Final = 1_000
INODE_SHARE: Final = 0.01
"""What stays free of the names a disk has: so many, or this share of them if that is less."""


class Counts(msgspec.Struct, frozen=True, gc=False):
    """What is there, and when it was last swept."""

    bytes: int = 0
    count: int = 0
    swept_ns: int = 0

    def plus(self, more_bytes: int, more_count: int) -> Counts:
        """The counts after a change; never below zero, whatever was miscounted."""
        size, count = self.bytes + more_bytes, self.count + more_count
        return Counts(max(size, 0), max(count, 0), self.swept_ns)


class Sheet:
    """The counts of one folder, in a file that stays open from one use to the next.

    Who uses it holds the lock of the counts. A forked child may use what it inherits: nothing is
    read or written at the place where another left off.
    """

    __slots__ = ("_counts", "_line", "fd", "file")

    def __init__(self, folder: Folder) -> None:
        self.file = folder / FILE_NAME
        self.fd = -1
        self._line = b""
        self._counts: Counts | None = None
        """What the line says that was last read or written."""

    def read(self) -> Counts | None:
        """What is written down; None: nobody knows, count the files."""
        if self._is_open():
            return self.counts()
        return None if self.file.folder.open() is not None else Counts()

    def write(self, counts: Counts) -> None:
        """Write down what is there."""
        try:
            while not self._is_open():
                folder, line = self.file.folder.make(), _encoded(counts)
                if create_once(folder, FILE_NAME, line, durable=False):
                    return
        except OSError as error:
            raise store_error(ROLE, self.file.path, error) from error
        self.change(counts)

    def counts(self) -> Counts | None:
        """What stands in the file that is open now."""
        try:
            line = os.pread(self.fd, LINE_BYTES, 0)
        except OSError as error:
            raise store_error(ROLE, self.file.path, error) from error
        if line != self._line:
            self._line, self._counts = line, _decoded(line)
        return self._counts

    def change(self, counts: Counts) -> None:
        """Write it down in the file that was read under the same lock: it need not be looked at."""
        if self.fd < 0:
            self.write(counts)
            return
        line = _encoded(counts)
        try:
            os.pwrite(self.fd, line, 0)
        except OSError as error:
            raise store_error(ROLE, self.file.path, error) from error
        self._line, self._counts = line, counts

    def open(self) -> None:
        """Open the file; `FileNotFoundError` where there is none."""
        held = self.file.folder.open()
        if held is None:
            raise FileNotFoundError(self.file.path)
        self.fd = open_file(self.file, held, os.O_RDWR)

    def close(self, close: Callable[[int], None] = os.close) -> None:
        """Let go of the file; the next use opens it again."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            close(fd)

    def __del__(self) -> None:
        self.close()

    def _is_open(self) -> bool:
        """Whether there is a file to use, which is then open and still the one at its path."""
        if self.fd >= 0 and still_there(self.fd):
            return True
        self.close()
        try:
            self.open()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise store_error(ROLE, self.file.path, error) from error
        return True


class Usage:
    """The counts of one state folder, and their lock: for threads, for processes, for forks."""

    def __init__(self, state: Folder) -> None:
        self._sheet = Sheet(state)
        self._guard = Guard(RLock)
        self._held: tuple[AnyLock, int] | None = None
        """The lock that is held, and by which thread."""

    def locked(self, *, wait: bool = True) -> Books:
        """The counts, which nobody else changes meanwhile; `wait` for who has them now, or not."""
        return Books(self, self._sheet, wait)

    def take(self, *, wait: bool) -> None:
        """Take the lock of the file that is at its path now."""
        lock, us = self._guard.lock, get_ident()
        ours = self._held == (lock, us)
        if ours and not wait:
            raise self._busy(wait)
        try:
            # What is ours already, a Ctrl-C kept us from letting go of: nobody asks twice.
            if not ours and not lock.acquire(timeout=LOCK_WAIT_S if wait else 0):
                raise self._busy(wait)
            self._held = (lock, us)
            if self._guard.take_fork():
                # What a fork inherits is locked wherever its parent has locked it.
                self._sheet.close()
            self._lock_file(wait)
        except BaseException:
            if self._held == (lock, us):
                self.let_go()
            with suppress(RuntimeError):  # most often it is no longer ours, or not yet
                lock.release()
            raise

    def let_go(self) -> None:
        """Let go of the lock."""
        self._held = None
        try:
            if self._sheet.fd >= 0:
                # Not by closing: a child that was forked just now holds the same open file.
                fcntl.flock(self._sheet.fd, fcntl.LOCK_UN)
        finally:
            self._guard.lock.release()

    def _lock_file(self, wait: bool) -> None:
        sheet = self._sheet
        for _ in range(8):
            if sheet.fd < 0:
                self._open()
            if not (take_lock(sheet.fd, fcntl.LOCK_EX) if wait else try_lock(sheet.fd)):
                raise self._busy(wait)
            if still_there(sheet.fd):
                return
            sheet.close()
        raise StoreError(f"{sheet.file.path} is deleted again and again by somebody else")

    def _open(self) -> None:
        file = self._sheet.file
        folder = file.folder
        try:
            for _ in range(3):
                folder.make()
                try:
                    self._sheet.open()
                except FileNotFoundError:
                    folder.forget()
                else:
                    return
                # Empty: who finds it so counts the files.
                create_once(folder.make(), FILE_NAME, b"", durable=False)
        except OSError as error:
            raise store_error(ROLE, file.path, error) from error
        raise StoreError(f"{file.path} is deleted again and again by somebody else")

    def _busy(self, wait: bool) -> StoreError:
        waited = f"for {LOCK_WAIT_S:.0f} s" if wait else "just now"
        return StoreError(
            f"{self._sheet.file.path} was locked by another process {waited}; "
            f"see whether it was stopped"
        )


class Books:
    """The counts while their lock is held, from the beginning of a `with` to its end."""

    __slots__ = ("_sheet", "_usage", "_wait")

    def __init__(self, usage: Usage, sheet: Sheet, wait: bool) -> None:
        self._usage = usage
        self._sheet = sheet
        self._wait = wait

    def __enter__(self) -> Books:
        self._usage.take(wait=self._wait)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._usage.let_go()

    def total(self) -> Counts | None:
        """What all sessions have; None: nobody knows, count the files."""
        return self._sheet.counts()

    def set_total(self, counts: Counts) -> None:
        """Write down what all sessions have."""
        self._sheet.change(counts)


def _encoded(counts: Counts) -> bytes:
    line = COUNTS.pack(MAGIC, counts.bytes, counts.count, counts.swept_ns)
    return line + SUM.pack(xxh3_64_intdigest(line))


def _decoded(line: bytes) -> Counts | None:
    if len(line) != LINE_BYTES:
        return None
    (checksum,) = SUM.unpack_from(line, COUNTS.size)
    if xxh3_64_intdigest(line[: COUNTS.size]) != checksum:
        return None
    magic, size_bytes, count, swept_ns = COUNTS.unpack_from(line)
    return Counts(size_bytes, count, swept_ns) if magic == MAGIC else None


class Disk(msgspec.Struct, frozen=True, gc=False):
    """What a disk has left."""

    size_bytes: int
    free_bytes: int
    inodes: int
    free_inodes: int

    def short_bytes(self, retention: Retention, need_bytes: int) -> int:
        """What is missing to the floor of free space once so many bytes are written."""
        if retention.free_bytes is None:
            return 0
        if self.free_inodes < LEAST_INODES and self.free_inodes < int(self.inodes * INODE_SHARE):
            return max(need_bytes, 1)
        return max(retention.floor_bytes(self.size_bytes) + need_bytes - self.free_bytes, 0)


def disk_of(folder: Folder) -> Disk:
    """The disk that a folder is on."""
    try:
        found = os.fstatvfs(folder.make().fd)
    except OSError as error:
        raise store_error(folder.role, folder.path, error) from error
    return Disk(
        found.f_blocks * found.f_frsize,
        found.f_bavail * found.f_frsize,
        found.f_files,
        found.f_favail,
    )
