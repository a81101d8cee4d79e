"""Compressed originals: one frame for each chunk, so that reading a range stays fast.

The head of the file says where each frame stands; a chunk that compressing would make longer stands
as it is. What comes out is checked against the checksums the original was stored with.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from headgate.disk import read_range, write_all
from headgate.errors import StoreError

MAGIC: Final = b"headgate-z-01\n"
HEAD: Final = struct.Struct("<QII")
"""Length of the original, bytes in a chunk, number of frames."""

HEAD_BYTES: Final = len(MAGIC) + HEAD.size

START: Final = struct.Struct("<Q")
"""Where a frame stands; there is one more than frames, for the end of the last."""

AS_IT_IS: Final = 1 << 63
"""Set in the start of a frame that is not compressed."""

LEVEL: Final = 1
"""Most of the gain in two fifths of the time that level 6 takes: a log shrinks to a sixth."""


@dataclass(frozen=True, slots=True)
class Table:
    """The head of a compressed original; where its frames stand is looked up when asked for."""

    length: int
    chunk_bytes: int
    frames: int


def table_of(fd: int) -> Table | None:
    """Read the head; None: this is no compressed original, or a damaged one."""
    head = read_range(fd, 0, HEAD_BYTES)
    if len(head) != HEAD_BYTES or not head.startswith(MAGIC):
        return None
    length, chunk_bytes, frames = HEAD.unpack_from(head, len(MAGIC))
    if not chunk_bytes or frames != -(-length // chunk_bytes):
        return None
    return Table(length, chunk_bytes, frames)


def read_chunks(fd: int, table: Table, first: int, stop: int) -> bytes | None:
    """The chunks from `first` up to `stop` as they were; None: a frame is damaged."""
    stop = min(stop, table.frames)
    if first >= stop:
        return b""
    at = HEAD_BYTES + first * START.size
    listed = read_range(fd, at, at + (stop - first + 1) * START.size)
    if len(listed) != (stop - first + 1) * START.size:
        return None
    marked = [number for (number,) in START.iter_unpack(listed)]
    starts = [number & ~AS_IT_IS for number in marked]
    if sorted(starts) != starts or starts[-1] - starts[0] > (stop - first) * table.chunk_bytes:
        return None
    block = memoryview(read_range(fd, starts[0], starts[-1]))
    chunks: list[bytes] = []
    for number, start, end in zip(marked, starts, starts[1:], strict=False):
        frame = block[start - starts[0] : end - starts[0]]
        chunk = bytes(frame) if number & AS_IT_IS else _inflated(frame, table)
        if chunk is None:
            return None
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _inflated(frame: memoryview, table: Table) -> bytes | None:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(frame, table.chunk_bytes)
    except zlib.error:
        return None


def packed_bytes(length: int, chunk_bytes: int) -> int:
    """The most that an original of this length takes, compressed."""
    return HEAD_BYTES + (-(-length // chunk_bytes) + 1) * START.size + length


def write_packed(fd: int, chunks: Iterable[bytes], length: int, chunk_bytes: int) -> int:
    """Write an original compressed; answers with the length of the file."""
    frames = -(-length // chunk_bytes)
    at = os.lseek(fd, HEAD_BYTES + (frames + 1) * START.size, os.SEEK_SET)
    starts: list[int] = []
    for chunk in chunks:
        frame = deflated(chunk)
        shorter = len(frame) < len(chunk)
        starts.append(at if shorter else at | AS_IT_IS)
        write_all(fd, frame if shorter else chunk)
        at += min(len(frame), len(chunk))
    if len(starts) != frames:
        raise StoreError(f"an original of {length} bytes has {frames} chunks, not {len(starts)}")
    os.lseek(fd, 0, os.SEEK_SET)
    table = b"".join(map(START.pack, [*starts, at]))
    write_all(fd, MAGIC + HEAD.pack(length, chunk_bytes, frames) + table)
    return os.lseek(fd, at, os.SEEK_SET)


def deflated(chunk: bytes) -> bytes:
    """A chunk as its frame holds it."""
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflater.compress(chunk) + deflater.flush()
