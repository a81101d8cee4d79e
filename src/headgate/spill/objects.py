"""The object files of a session: written whole or not at all, checked whenever they are read.

An object is a file named by its ref; compressed, its name ends in `.z`. Beside one of which only
the first part is kept stands its line of the index, because its content alone no longer proves
what it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import msgspec

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
from headgate.spill.index import RECORD, Kept
from headgate.spill.pack import Table, read_chunks, table_of, write_packed
from headgate.types import Ref

BLOCK_BYTES: Final = 8 * CHUNK_BYTES
"""What is in memory at once of an object that is read from end to end."""

NEAR_NS: Final = 10**9
"""A file that was written so near to now by the disk's clock has its time already."""

PACKED: Final = ".z"
NOTE: Final = ".kept"


@dataclass(frozen=True, slots=True)
class Opened:
    """An object file that is open; `table` where it is compressed."""

    fd: int
    table: Table | None

    @property
    def length(self) -> int:
        """How long the object is, and not its file."""
        return self.table.length if self.table else os.fstat(self.fd).st_size

    def chunks(self, first: int, stop: int, chunk_bytes: int) -> bytes:
        """Whole chunks, fewer at the end; nothing from a damaged frame on."""
        if self.table is None:
            return read_range(self.fd, first * chunk_bytes, stop * chunk_bytes)
        return read_chunks(self.fd, self.table, first, stop) or b""


class Objects:
    """One file per ref. A file under its ref is whole: it was written elsewhere and renamed."""

    def __init__(self, session: Folder, *, durable: bool) -> None:
        self.folder = session.sub("objects", "the objects folder")
        self.temps = session.sub("tmp", "the folder of unfinished objects")
        self.aside = session.sub("damaged", "the folder of damaged objects")
        self._durable = durable
        self._cleaned = False

    def begin(self) -> Temp:
        """A file to write the next object to."""
        try:
            folder = self.temps.make()
            if not self._cleaned:
                clean_temps(folder)
                self._cleaned = True
            try:
                return Temp(folder)
            except FileNotFoundError:
                self.temps.forget()
                return Temp(self.temps.make())
        except OSError as error:
            raise store_error(self.temps.role, self.temps.path, error) from error

    def write(self, temp: Temp, block: bytes | memoryview) -> None:
        """Write the next part of an object."""
        try:
            write_all(temp.fd, block)
        except OSError as error:
            raise store_error(self.temps.role, self.temps.path, error) from error

    def finish(self, temp: Temp, ref: Ref, length: int, granted: int, now_ns: int) -> None:
        """Give a written object its name; from here on it can be found.

        Its file was made `granted` bytes long, and ends from now on where its bytes do.
        """
        try:
            found = os.fstat(temp.fd)
            if found.st_size != granted:
                raise StoreError(
                    f"the object of {ref} has {found.st_size} bytes on disk, not {granted}"
                )
            if length < granted:
                os.ftruncate(temp.fd, length)
            if abs(found.st_mtime_ns - now_ns) > NEAR_NS:
                os.utime(temp.fd, ns=(now_ns, now_ns))
            self._finish(temp, ref)
        except OSError as error:
            raise store_error(self.folder.role, self.folder.path, error) from error

    def note(self, kept: Kept, reserve: Callable[[Temp, int, int], None]) -> None:
        """Put its line of the index beside an object of which only a part is kept."""
        line = msgspec.msgpack.encode(kept)
        temp = self.begin()
        try:
            reserve(temp, 0, len(line))
            self.write(temp, line)
            self._finish(temp, kept.ref + NOTE)
        except OSError as error:
            raise store_error(self.folder.role, self.folder.path, error) from error
        finally:
            temp.discard()

    def noted(self, ref: Ref) -> Kept | None:
        """The line that stands beside an object of which only a part is kept."""
        fd = self._open_file(ref + NOTE)
        if fd is None:
            return None
        try:
            record = RECORD.decode(read_range(fd, 0, BLOCK_BYTES))
        except (OSError, msgspec.DecodeError):
            return None
        finally:
            os.close(fd)
        return record if isinstance(record, Kept) and record.ref == ref else None

    def length(self, ref: Ref) -> int | None:
        """How long an object is; None where there is none."""
        with self._open(ref) as opened:
            return opened.length if opened else None

    def read(self, kept: Kept, start: int, stop: int) -> bytes | None:
        """The bytes from `start` to `stop` as they were written; None where the object is gone."""
        start, stop = max(start, 0), min(stop, kept.length)
        first, behind = start // kept.chunk_bytes, -(-stop // kept.chunk_bytes)
        begin = first * kept.chunk_bytes
        end = min(behind * kept.chunk_bytes, kept.length)
        with self._open(kept.ref) as opened:
            if opened is None:
                return None
            length = opened.length
            block = opened.chunks(first, behind, kept.chunk_bytes)
        if length != kept.length:
            raise damaged(kept.ref, f"it has {length} bytes, and had {kept.length}")
        if len(block) != max(end - begin, 0) or not chunks_hold(
            block, first, kept.sums, kept.chunk_bytes
        ):
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
        with self._open(ref) as opened:
            if opened is None:
                return None
            tally = Tally()
            per_block = BLOCK_BYTES // CHUNK_BYTES
            while block := opened.chunks(
                tally.length // CHUNK_BYTES, tally.length // CHUNK_BYTES + per_block, CHUNK_BYTES
            ):
                tally.add(block)
                if len(block) % CHUNK_BYTES:
                    break
            return tally.counted(), os.fstat(opened.fd).st_mtime_ns

    def touch(self, ref: Ref, now_ns: int) -> bool:
        """Note that an object is in use; False where it is not there as it came."""
        fd = self._open_file(ref)
        packed = self._open_file(ref + PACKED) if fd is None else None
        for found in (fd, packed):
            if found is None:
                continue
            try:
                # The time of its last change is free for this: an object never changes.
                with suppress(OSError):
                    os.utime(found, ns=(now_ns, now_ns))
            finally:
                os.close(found)
        return fd is not None

    def pack(self, kept: Kept, temp: Temp) -> int:
        """Write an object compressed to `temp`; answers with its length there."""
        starts = range(0, kept.length, kept.chunk_bytes)

        def chunks() -> Iterator[bytes]:
            for at in starts:
                chunk = self.read(kept, at, at + kept.chunk_bytes)
                if chunk is None:
                    raise StoreError(f"the object of {kept.ref} was removed meanwhile")
                yield chunk

        try:
            return write_packed(temp.fd, chunks(), kept.length, kept.chunk_bytes)
        except OSError as error:
            raise store_error(self.temps.role, self.temps.path, error) from error

    def finish_packed(self, temp: Temp, ref: Ref, changed_ns: int) -> None:
        """Put a compressed object beside the one it was made from, as old as that."""
        try:
            # A file that was made as long as it may become ends where its bytes do.
            os.ftruncate(temp.fd, os.lseek(temp.fd, 0, os.SEEK_CUR))
            os.utime(temp.fd, ns=(changed_ns, changed_ns))
            self._finish(temp, ref + PACKED)
        except OSError as error:
            raise store_error(self.folder.role, self.folder.path, error) from error

    def set_aside(self, ref: Ref) -> None:
        """Put a damaged object where nobody takes it for a whole one, and people can look at it."""
        held = self.folder.open()
        for name in (ref, ref + PACKED, ref + NOTE) if held else ():
            assert held is not None
            try:
                os.rename(name, name, src_dir_fd=held.fd, dst_dir_fd=self.aside.make().fd)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise store_error(self.folder.role, self.folder.path, error) from error

    def remove(self, *names: str) -> None:
        """Delete files of objects; one that is gone already is no error."""
        folder = self.folder.open()
        for name in names if folder else ():
            assert folder is not None
            try:
                os.unlink(name, dir_fd=folder.fd)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise store_error(self.folder.role, self.folder.path, error) from error

    def refs(self) -> list[Ref]:
        """Every ref that has an object, listed or not."""
        names = (name.removesuffix(PACKED) for name in entries(self.folder))
        return sorted({name for name in names if REF_PATTERN.fullmatch(name)})

    def _finish(self, temp: Temp, name: str) -> None:
        if self._durable:
            os.fsync(temp.fd)
        folder = self.folder.make()
        try:
            temp.rename(folder, name)
        except FileNotFoundError:
            if not self.folder.gone:
                raise
            self.folder.forget()
            folder = self.folder.make()
            temp.rename(folder, name)
        if self._durable:
            self.folder.sync()

    @contextmanager
    def _open(self, ref: Ref) -> Iterator[Opened | None]:
        """An object, as it came or compressed."""
        fd, table = self._open_file(ref), None
        if fd is None:
            fd = self._open_file(ref + PACKED)
            table = table_of(fd) if fd is not None else None
            if fd is not None and table is None:
                os.close(fd)
                raise damaged(ref, "what it was compressed to cannot be read")
        if fd is None:
            # It was compressed, and came again just now.
            fd = self._open_file(ref)
        try:
            yield Opened(fd, table) if fd is not None else None
        except OSError as error:
            raise store_error(f"the object of {ref} in", self.folder.path, error) from error
        finally:
            if fd is not None:
                os.close(fd)

    def _open_file(self, name: str) -> int | None:
        for _ in range(2):
            folder = self.folder.open()
            if folder is None:
                return None
            try:
                return os.open(name, READ_FLAGS, dir_fd=folder.fd)
            except FileNotFoundError:
                if not self.folder.gone:
                    return None
                self.folder.forget()
            except OSError as error:
                raise store_error(f"the object of {name} in", self.folder.path, error) from error
        return None


def entries(folder: Folder) -> dict[str, os.stat_result]:
    """What is in a folder, by name; nothing where there is none."""
    held = folder.open()
    if held is None:
        return {}
    found: dict[str, os.stat_result] = {}
    try:
        with os.scandir(held.fd) as listed:
            for entry in listed:
                with suppress(FileNotFoundError):
                    found[entry.name] = entry.stat(follow_symlinks=False)
    except OSError as error:
        raise store_error(folder.role, folder.path, error) from error
    return found


def damaged(ref: Ref, how: str) -> StoreError:
    """The error for an object that is not what was written."""
    return StoreError(f"the object of {ref} is damaged: {how}; run the tool again to get it back")
