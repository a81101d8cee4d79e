"""The object files of a session: written whole or not at all, checked whenever they are read."""

from __future__ import annotations

import os
from typing import Final

from headgate.disk import (
    READ_FLAGS,
    Folder,
    Temp,
    clean_temps,
    read_range,
    store_error,
    write_all,
)
from headgate.errors import StoreError
from headgate.refs import REF_PATTERN
from headgate.spill.chunks import CHUNK_BYTES, Counted, Tally, chunks_hold
from headgate.spill.index import Kept
from headgate.types import Ref

BLOCK_BYTES: Final = 8 * CHUNK_BYTES
"""What is in memory at once of an object that is read from end to end."""


class Objects:
    """One file per ref. A file under its ref is whole: it was written elsewhere and renamed."""

    def __init__(self, session: Folder, *, durable: bool) -> None:
        self.folder = session.sub("objects", "the objects folder")
        self._temps = session.sub("tmp", "the folder of unfinished objects")
        self._durable = durable
        self._cleaned = False

    def begin(self) -> Temp:
        """A file to write the next object to."""
        try:
            try:
                return self._begin()
            except FileNotFoundError:
                self._temps.forget()
                return self._begin()
        except OSError as error:
            raise store_error(self._temps.role, self._temps.path, error) from error

    def write(self, temp: Temp, block: bytes | memoryview) -> None:
        """Write the next part of an object."""
        try:
            write_all(temp.fd, block)
        except OSError as error:
            raise store_error(self._temps.role, self._temps.path, error) from error

    def finish(self, temp: Temp, ref: Ref, length: int) -> None:
        """Give a written object its name; from here on it can be found."""
        try:
            size = os.fstat(temp.fd).st_size
            if size != length:
                raise StoreError(f"the object of {ref} has {size} bytes on disk, not {length}")
            self._finish(temp, ref)
        except OSError as error:
            raise store_error(self.folder.role, self.folder.path, error) from error

    def length(self, ref: Ref) -> int | None:
        """How long an object is; None where there is none."""
        fd = self._open(ref)
        if fd is None:
            return None
        try:
            return os.fstat(fd).st_size
        finally:
            os.close(fd)

    def read(self, kept: Kept, start: int, stop: int) -> bytes | None:
        """The bytes from `start` to `stop` as they were written; None where the object is gone."""
        start, stop = max(start, 0), min(stop, kept.length)
        first = start // kept.chunk_bytes
        begin = first * kept.chunk_bytes
        end = min(-(-stop // kept.chunk_bytes) * kept.chunk_bytes, kept.length)
        fd = self._open(kept.ref)
        if fd is None:
            return None
        try:
            size = os.fstat(fd).st_size
            block = read_range(fd, begin, end)
        except OSError as error:
            raise store_error(f"the object of {kept.ref} in", self.folder.path, error) from error
        finally:
            os.close(fd)
        if size != kept.length:
            raise damaged(kept.ref, f"it has {size} bytes, and had {kept.length}")
        if not chunks_hold(block, first, kept.sums, kept.chunk_bytes):
            raise damaged(kept.ref, f"bytes {begin} to {end} are not what was written")
        return block[start - begin : stop - begin] if start < stop else b""

    def intact(self, kept: Kept) -> bool:
        """Whether every byte of an object is as it was written."""
        try:
            if self.length(kept.ref) != kept.length:
                return False
            starts = range(0, kept.length, BLOCK_BYTES)
            return all(self.read(kept, at, at + BLOCK_BYTES) is not None for at in starts)
        except StoreError:
            return False

    def counted(self, ref: Ref) -> tuple[Counted, int] | None:
        """An object that is not listed, in numbers, and when it was written, in nanoseconds."""
        fd = self._open(ref)
        if fd is None:
            return None
        tally = Tally()
        try:
            while block := read_range(fd, tally.length, tally.length + BLOCK_BYTES):
                tally.add(block)
            return tally.counted(), os.fstat(fd).st_mtime_ns
        except OSError as error:
            raise store_error(f"the object of {ref} in", self.folder.path, error) from error
        finally:
            os.close(fd)

    def refs(self) -> list[Ref]:
        """Every ref that has an object, listed or not."""
        folder = self.folder.open()
        if folder is None:
            return []
        try:
            return sorted(name for name in os.listdir(folder.fd) if REF_PATTERN.fullmatch(name))
        except OSError as error:
            raise store_error(self.folder.role, self.folder.path, error) from error

    def _begin(self) -> Temp:
        folder = self._temps.make()
        if not self._cleaned:
            clean_temps(folder)
            self._cleaned = True
        return Temp(folder)

    def _finish(self, temp: Temp, ref: Ref) -> None:
        if self._durable:
            os.fsync(temp.fd)
        folder = self.folder.make()
        try:
            temp.rename(folder, ref)
        except FileNotFoundError:
            if not self.folder.gone:
                raise
            self.folder.forget()
            folder = self.folder.make()
            temp.rename(folder, ref)
        if self._durable:
            self.folder.sync()

    def _open(self, ref: Ref) -> int | None:
        for _ in range(2):
            folder = self.folder.open()
            if folder is None:
                return None
            try:
                return os.open(ref, READ_FLAGS, dir_fd=folder.fd)
            except FileNotFoundError:
                if not self.folder.gone:
                    return None
                self.folder.forget()
            except OSError as error:
                raise store_error(f"the object of {ref} in", self.folder.path, error) from error
        return None


def damaged(ref: Ref, how: str) -> StoreError:
    """The error for an object that is not what was written."""
    return StoreError(f"the object of {ref} is damaged: {how}; run the tool again to get it back")
