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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from xxhash import xxh3_64_intdigest

from headgate.disk import (
    File,
    Folder,
    OpenFolder,
    create_once,
    open_file,
    store_error,
    try_lock,
    write_all,
)
from headgate.errors import StoreError
from headgate.journal import LOCK_WAIT_S, take_lock
from headgate.retention import Retention

FILE_NAME: Final = "usage"

COUNTS: Final = struct.Struct("<8sQQQ")
SUM: Final = struct.Struct("<Q")
MAGIC: Final = b"hg-use1\n"

LEAST_INODES: Final = 1_000
INODE_SHARE: Final = 0.01
"""What stays free of the names a disk has: so many, or this share of them if that is less."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is there, and when it was last swept."""

    bytes: int = 0
    count: int = 0
    swept_ns: int = 0

    def plus(self, more_bytes: int, more_count: int) -> Counts:
        """The counts after a change; never below zero, whatever was miscounted."""
        return replace(
            self, bytes=max(self.bytes + more_bytes, 0), count=max(self.count + more_count, 0)
        )


class Usage:
    """The counts of one state folder. Nothing is held open: it serves threads and forks alike."""

    def __init__(self, state: Folder) -> None:
        self._file = state / FILE_NAME

    @contextmanager
    def locked(self, *, wait: bool = True) -> Iterator[Books]:
        """The counts, which nobody else changes meanwhile; `wait` for who has them now, or not."""
        fd = self._open()
        try:
            if not (take_lock(fd, fcntl.LOCK_EX) if wait else try_lock(fd)):
                waited = f"for {LOCK_WAIT_S:.0f} s" if wait else "just now"
                raise StoreError(
                    f"{self._file.path} was locked by another process {waited}; "
                    f"see whether it was stopped"
                )
            yield Books(fd, self._file.path)
        finally:
            os.close(fd)

    def _open(self) -> int:
        folder = self._file.folder
        for _ in range(3):
            try:
                return open_file(self._file, folder.make(), os.O_RDWR)
            except FileNotFoundError:
                folder.forget()
            except OSError as error:
                raise store_error("the count of what is kept", self._file.path, error) from error
            try:
                # Empty: who finds it so counts the files.
                create_once(folder.make(), FILE_NAME, b"", durable=False)
            except OSError as error:
                raise store_error("the count of what is kept", self._file.path, error) from error
        raise StoreError(f"{self._file.path} is deleted again and again by somebody else")


class Books:
    """The counts while their lock is held."""

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self._path = path

    def total(self) -> Counts | None:
        """What all sessions have; None: nobody knows, count the files."""
        return _decoded(os.pread(self._fd, COUNTS.size + SUM.size, 0))

    def set_total(self, counts: Counts) -> None:
        """Write down what all sessions have."""
        try:
            os.pwrite(self._fd, _encoded(counts), 0)
        except OSError as error:
            raise store_error("the count of what is kept", self._path, error) from error

    def of(self, session: Folder) -> Counts | None:
        """What one session has; None: nobody knows, count the files."""
        held = session.open()
        if held is None:
            return Counts()
        try:
            fd = open_file(session / FILE_NAME, held, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_error("the count of", session.path, error) from error
        try:
            return _decoded(os.read(fd, COUNTS.size + SUM.size))
        finally:
            os.close(fd)

    def set_of(self, session: Folder, counts: Counts) -> None:
        """Write down what one session has."""
        file = session / FILE_NAME
        try:
            _write(file, session.make(), _encoded(counts))
        except OSError as error:
            raise store_error("the count of", file.path, error) from error


def _write(file: File, held: OpenFolder, line: bytes) -> None:
    try:
        fd = open_file(file, held, os.O_RDWR)
    except FileNotFoundError:
        if not create_once(held, file.name, line, durable=False):
            _write(file, held, line)
        return
    try:
        write_all(fd, line)
    finally:
        os.close(fd)


def _encoded(counts: Counts) -> bytes:
    line = COUNTS.pack(MAGIC, counts.bytes, counts.count, counts.swept_ns)
    return line + SUM.pack(xxh3_64_intdigest(line))


def _decoded(line: bytes) -> Counts | None:
    if len(line) != COUNTS.size + SUM.size:
        return None
    (checksum,) = SUM.unpack_from(line, COUNTS.size)
    if xxh3_64_intdigest(line[: COUNTS.size]) != checksum:
        return None
    magic, size_bytes, count, swept_ns = COUNTS.unpack_from(line)
    return Counts(size_bytes, count, swept_ns) if magic == MAGIC else None


@dataclass(frozen=True, slots=True)
class Disk:
    """What a disk has left."""

    size_bytes: int
    free_bytes: int
    inodes: int
    free_inodes: int

    def short_bytes(self, retention: Retention, need_bytes: int) -> int:
        """What is missing to the floor of free space once so many bytes are written."""
        if retention.free_bytes is None:
            return 0
        if self.inodes and self.free_inodes < min(LEAST_INODES, int(self.inodes * INODE_SHARE)):
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
