"""Compressed originals: one frame for each chunk, so that reading a range stays fast.

The head of the file says how long each frame is; a chunk that compressing would make longer stands
as it is. What comes out is checked against the checksums the original was stored with.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from headgate.disk import read_range, write_all
from headgate.errors import StoreError

MAGIC: Final = b"headgate-z-01\n"
HEAD: Final = struct.Struct("<QII")
"""Length of the original, bytes in a chunk, number of frames."""

SIZE: Final = struct.Struct("<I")
AS_IT_IS: Final = 1 << 31
"""Set in the size of a frame that is not compressed."""

LEVEL: Final = 1
"""Most of the gain in two fifths of the time that level 6 takes: a log shrinks to a sixth."""


@dataclass(frozen=True, slots=True)
class Table:
    """The head of a compressed original: where each frame stands."""

    length: int
    chunk_bytes: int
    starts: tuple[int, ...]
    """Of each frame, and behind the last."""
    sizes: tuple[int, ...]

    @property
    def file_bytes(self) -> int:
        """How long the file is."""
        return self.starts[-1]


def table_of(fd: int) -> Table | None:
    """Read the head; None: this is no compressed original, or a damaged one."""
    fixed = len(MAGIC) + HEAD.size
    head = read_range(fd, 0, fixed)
    if len(head) != fixed or not head.startswith(MAGIC):
        return None
    length, chunk_bytes, frames = HEAD.unpack_from(head, len(MAGIC))
    if not chunk_bytes or frames != -(-length // chunk_bytes):
        return None
    packed = read_range(fd, fixed, fixed + frames * SIZE.size)
    if len(packed) != frames * SIZE.size:
        return None
    sizes = struct.unpack(f"<{frames}I", packed)
    lengths = (size & ~AS_IT_IS for size in sizes)
    starts = tuple(accumulate(lengths, initial=fixed + len(packed)))
    return Table(length, chunk_bytes, starts, sizes)


def read_chunks(fd: int, table: Table, first: int, stop: int) -> bytes | None:
    """The chunks from `first` up to `stop` as they were; None: a frame is damaged."""
    stop = min(stop, len(table.sizes))
    if first >= stop:
        return b""
    block = memoryview(read_range(fd, table.starts[first], table.starts[stop]))
    chunks: list[bytes] = []
    for number in range(first, stop):
        at = table.starts[number] - table.starts[first]
        frame = block[at : at + (table.sizes[number] & ~AS_IT_IS)]
        chunk = bytes(frame) if table.sizes[number] & AS_IT_IS else _inflated(frame, table)
        if chunk is None:
            return None
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _inflated(frame: memoryview, table: Table) -> bytes | None:
    try:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        return inflater.decompress(frame, table.chunk_bytes)
    except zlib.error:
        return None


def write_packed(fd: int, chunks: Iterable[bytes], length: int, chunk_bytes: int) -> int:
    """Write an original compressed; answers with the length of the file."""
    frames = -(-length // chunk_bytes)
    fixed = len(MAGIC) + HEAD.size + frames * SIZE.size
    os.lseek(fd, fixed, os.SEEK_SET)
    sizes: list[int] = []
    for chunk in chunks:
        frame = _deflated(chunk)
        shorter = len(frame) < len(chunk)
        sizes.append(len(frame) if shorter else len(chunk) | AS_IT_IS)
        write_all(fd, frame if shorter else chunk)
    if len(sizes) != frames:
        raise StoreError(f"an original of {length} bytes has {frames} chunks, not {len(sizes)}")
    os.lseek(fd, 0, os.SEEK_SET)
    write_all(fd, MAGIC + HEAD.pack(length, chunk_bytes, frames) + b"".join(map(SIZE.pack, sizes)))
    return os.lseek(fd, fixed + sum(size & ~AS_IT_IS for size in sizes), os.SEEK_SET)


def _deflated(chunk: bytes) -> bytes:
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflater.compress(chunk) + deflater.flush()
