"""An append-only log of checksummed records that many processes write, and a kill cannot tear.

The ledger and the index of the store are journals. A record is its length, a checksum and its
bytes. Several records go in with one write under an exclusive lock; what a crash left behind them
is set aside before the next write, so that a torn tail never swallows a good record.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from xxhash import xxh3_64_intdigest

from headgate.disk import (
    File,
    OpenFolder,
    Temp,
    clean_temps,
    create_once,
    open_file,
    read_range,
    store_error,
    write_all,
)
from headgate.errors import StoreError
from headgate.locks import LOCK_WAIT_S, Guard, take_lock

VERSION: Final = b"01"
HEADER: Final = b"headgate-log-%b\n" % VERSION
"""Stands once, at the head of the file."""

NEWER: Final = re.compile(rb"headgate-log-([0-9][0-9])\n")

FRAME: Final = struct.Struct("<IQ")
"""Length of the bytes that follow, and their xxh3 with the length as its seed."""

READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@dataclass(frozen=True, slots=True)
class Repair:
    """A damaged journal was cut back to its longest valid prefix; the rest stands beside it."""

    path: str
    lost_bytes: int
    kept_records: int


class Journal:
    """One log file, shared by every process that opens it.

    Records come in the order of the file. They come again from the start where the file was
    replaced or repaired, so a reader must bear a record it knows.
    """

    def __init__(self, file: File, *, durable: bool = False) -> None:
        self.path = file.path
        self._file = file
        self._durable = durable
        self._guard = Guard()
        self._fd = -1
        self._can_write = False
        self._offset = 0
        self._kept = 0
        self._repairs: list[Repair] = []

    def catch_up(self) -> list[bytes]:
        """The records that are new since the last time, written by us or by others."""
        with self._guard.lock:
            if self._guard.take_fork():
                self.close()
            try:
                if self._fd >= 0 and self._is_unchanged(os.fstat(self._fd)):
                    return []
                return self._catch_up()
            except OSError as error:
                raise store_error("the journal", self.path, error) from error

    def append(self, decide: Callable[[list[bytes]], Sequence[bytes]]) -> None:
        """Write what `decide` returns, given the records that others wrote first.

        Nobody else writes between the two, so `decide` can give way to an earlier record.
        All its records are in the journal when this returns, or none is and it raises.
        """
        with self._guard.lock:
            if self._guard.take_fork():
                self.close()
            try:
                self._append(decide)
            except OSError as error:
                raise store_error("the journal", self.path, error) from error

    def rewrite(self, change: Callable[[list[bytes]], Sequence[bytes]]) -> None:
        """Put what `change` makes of all records in their place, whole or not at all.

        Whoever has the old file open finds out before he reads or writes again.
        """
        with self._guard.lock:
            if self._guard.take_fork():
                self.close()
            try:
                self._rewrite(change)
            except OSError as error:
                raise store_error("the journal", self.path, error) from error

    def take_repairs(self) -> list[Repair]:
        """What was repaired since the last time somebody asked."""
        taken, self._repairs = self._repairs, []
        return taken

    def close(self, close: Callable[[int], None] = os.close) -> None:
        """Let go of the file; the next use opens it again and reads it from the start."""
        # Bound here: when the program ends, `os` may be gone before the last journal is.
        fd, self._fd, self._can_write = self._fd, -1, False
        self._offset = self._kept = 0
        if fd >= 0:
            close(fd)

    def __del__(self) -> None:
        if self._fd >= 0:
            self.close()

    def _catch_up(self) -> list[bytes]:
        fd = self._open()
        if fd is not None and not os.fstat(fd).st_nlink:
            self.close()
            fd = self._open()
        if fd is None:
            return []
        try:
            locked = take_lock(fd, fcntl.LOCK_SH)
            records, whole = self._read_new(fd, os.fstat(fd).st_size)
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)
        # Without the lock an unfinished record may just be on its way.
        if whole or not locked:
            return records
        with suppress(OSError, StoreError):
            return self._repaired()
        return records

    def _is_unchanged(self, status: os.stat_result) -> bool:
        return status.st_size == self._offset > 0 and bool(status.st_nlink)

    def _append(self, decide: Callable[[list[bytes]], Sequence[bytes]]) -> None:
        try:
            fd, size = self._locked()
            records: list[bytes] = []
            if size != self._offset:
                records, whole = self._read_new(fd, size)
                if not whole:
                    records = self._repair(fd, size)
            if fresh := decide(records):
                self._write(fd, fresh)
        finally:
            self._let_go()

    def _rewrite(self, change: Callable[[list[bytes]], Sequence[bytes]]) -> None:
        try:
            records = self._repair(*self._locked())
            folder = self._file.folder.make()
            clean_temps(folder)
            temp = Temp(folder)
            try:
                write_all(temp.fd, HEADER + b"".join(map(framed, change(records))))
                if self._durable:
                    os.fsync(temp.fd)
                temp.rename(folder, self._file.name)
            finally:
                temp.discard()
        finally:
            # Closing it lets go of the lock: who waited finds that the file was replaced.
            self.close()

    def _write(self, fd: int, records: Sequence[bytes]) -> None:
        block = b"".join(map(framed, records))
        try:
            write_all(fd, block)
            if self._durable:
                os.fsync(fd)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(fd, self._offset)
            raise
        self._offset += len(block)
        self._kept += len(records)

    def _read_new(self, fd: int, size: int) -> tuple[list[bytes], bool]:
        """The records after our offset, and whether the file ends with the last of them."""
        if size == self._offset > 0:
            return [], True
        if size < self._offset:
            self._offset = self._kept = 0
        block = read_range(fd, self._offset, size)
        start = 0
        if not self._offset:
            if not _has_header(block, self.path):
                return [], False
            start = len(HEADER)
        records, end = _split(block, start)
        self._offset += end
        self._kept += len(records)
        return records, end == len(block)

    def _repaired(self) -> list[bytes]:
        try:
            return self._repair(*self._locked())
        finally:
            self._let_go()

    def _repair(self, fd: int, size: int) -> list[bytes]:
        """Read all from the start, and set aside what stands after the longest valid prefix."""
        self._offset = self._kept = 0
        records, whole = self._read_new(fd, size)
        if whole:
            return records
        if size > self._offset:
            self._set_aside(read_range(fd, self._offset, size))
        os.ftruncate(fd, self._offset)
        if not self._offset:
            write_all(fd, HEADER)
            self._repairs.append(Repair(self.path, size, 0))
            self._offset = len(HEADER)
            return []
        self._repairs.append(Repair(self.path, size - self._offset, self._kept))
        return records

    def _set_aside(self, tail: bytes) -> None:
        folder, name, number = self._file.folder.make(), self._file.name, 1
        while not create_once(folder, f"{name}.damaged-{number}", tail, durable=self._durable):
            number += 1

    def _let_go(self) -> None:
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _locked(self) -> tuple[int, int]:
        """The file under the exclusive lock, still the one at its path, and its size.

        Who asks lets go of it, also where this is broken off in the middle.
        """
        for _ in range(8):
            fd = self._fd if self._can_write else self._open_to_write()
            if not take_lock(fd, fcntl.LOCK_EX):
                raise StoreError(
                    f"{self.path} was locked by another process for {LOCK_WAIT_S:.0f} s; "
                    f"see whether it was stopped"
                )
            status = os.fstat(fd)
            if status.st_nlink:
                return fd, status.st_size
            self.close()
        raise StoreError(f"{self.path} is deleted again and again by somebody else")

    def _open(self) -> int | None:
        """The file as it can be had, perhaps only to read; None where there is none."""
        if self._fd >= 0:
            return self._fd
        held = self._file.folder.open()
        if held is None:
            return None
        try:
            return self._opened(held, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            self._file.folder.forget()
            return None
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise
            return self._opened(held, os.O_RDONLY)

    def _open_to_write(self) -> int:
        self.close()
        folder = self._file.folder
        try:
            return self._opened(folder.make(), os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            folder.forget()
        create_once(folder.make(), self._file.name, HEADER, durable=self._durable)
        if self._durable:
            folder.sync()
        return self._opened(folder.make(), os.O_RDWR | os.O_APPEND)

    def _opened(self, held: OpenFolder, flags: int) -> int:
        self._fd = open_file(self._file, held, flags)
        self._can_write = bool(flags & os.O_RDWR)
        return self._fd


def framed(record: bytes) -> bytes:
    """A record as it stands in the file."""
    return FRAME.pack(len(record), xxh3_64_intdigest(record, len(record))) + record


def damaged_bytes(file: File) -> int:
    """How many bytes of a journal belong to no whole record; 0 where there is none."""
    held = file.folder.open()
    if held is None:
        return 0
    try:
        fd = open_file(file, held, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise store_error("the journal", file.path, error) from error
    try:
        take_lock(fd, fcntl.LOCK_SH)
        block = read_range(fd, 0, os.fstat(fd).st_size)
    finally:
        os.close(fd)
    if not _has_header(block, file.path):
        return len(block)
    return len(block) - _split(block, len(HEADER))[1]


def _split(block: bytes, start: int) -> tuple[list[bytes], int]:
    """The whole records of a block, and where the first byte stands that belongs to none."""
    records: list[bytes] = []
    size, head = len(block), FRAME.size
    while start + head <= size:
        length, checksum = FRAME.unpack_from(block, start)
        end = start + head + length
        if end > size:
            break
        record = block[start + head : end]
        if xxh3_64_intdigest(record, length) != checksum:
            break
        records.append(record)
        start = end
    return records, start


def _has_header(block: bytes, path: str) -> bool:
    if block.startswith(HEADER):
        return True
    newer = NEWER.match(block)
    if newer and newer[1] > VERSION:
        raise StoreError(f"{path} has format {newer[1].decode()}, written by a newer version")
    return False
