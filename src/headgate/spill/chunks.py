"""What is learnt of an original while its bytes pass by: digest, lines, checksums, clean or not."""

from __future__ import annotations

import codecs
import hashlib
from threading import Thread
from typing import Final

import msgspec
from xxhash import xxh3_64_digest

from headgate.measure.lengths import line_ends_in

CHUNK_BYTES: Final = 262_144
"""One read and one checksum: small enough to find a line fast, large enough for a short index."""

SUM_BYTES: Final = 8

BESIDE_BYTES: Final = 4 * CHUNK_BYTES
"""From here on SHA-256 runs in a thread of its own, beside the write it would otherwise double."""

NEWLINE: Final = 0x0A


class Counted(msgspec.Struct, frozen=True, gc=False):
    """An original in numbers."""

    sha256: str
    length: int
    lines: int
    chunk_lines: tuple[int, ...]
    sums: bytes
    """The xxh3 of each chunk, one after the other."""
    clean: bool
    """Whether it is valid UTF-8 without NUL, so that any tool can open it."""
    full_length: int = 0
    """How long it was, where only the first `length` bytes were to be kept; else 0."""


class Tally:
    """Counts an original in blocks; all but the last are a multiple of `CHUNK_BYTES` long.

    `clean` is what the caller knows; where he does not, it is found out. One who has `hashed` the
    same bytes says their digest at the end.
    """

    def __init__(self, clean: bool | None = None, *, hashed: bool = False) -> None:
        self._sha = None if hashed else hashlib.sha256()
        self.length = 0
        self._passed = 0
        self._chunk_lines: list[int] = []
        self._sums: list[bytes] = []
        self._open_line = False
        self._hashing: Thread | None = None
        self._clean = clean is not False
        self._decoder = codecs.getincrementaldecoder("utf-8")() if clean is None else None

    def add(self, block: bytes, stop: int | None = None) -> None:
        """Count the next block, or what stands before `stop` in it."""
        size = len(block) if stop is None else stop
        if self._sha is not None:
            self._hash(self._sha, block if size == len(block) else memoryview(block)[:size])
        for start in range(0, size, CHUNK_BYTES):
            piece = block[start : min(start + CHUNK_BYTES, size)]
            self._chunk_lines.append(line_ends_in(piece))
            self._sums.append(xxh3_64_digest(piece))
            if self._decoder:
                self._look(piece, last=False)
        if self._decoder and block.find(b"\0", 0, size) >= 0:
            self._clean, self._decoder = False, None
        if size:
            self._open_line = block[size - 1] != NEWLINE
            self.length += size

    def pass_by(self, block: bytes) -> None:
        """Take in what is not kept: it belongs to the digest alone, and so does all after it."""
        if self._sha is not None:
            self._hash(self._sha, block)
        self._passed += len(block)

    def counted(self, hashed: str = "") -> Counted:
        """The numbers, with the digest of who has `hashed` it; nothing is added after this."""
        self._wait()
        if self._decoder:
            self._look(b"", last=True)
        return Counted(
            self._sha.hexdigest() if self._sha is not None else hashed,
            self.length,
            sum(self._chunk_lines) + self._open_line,
            tuple(self._chunk_lines),
            b"".join(self._sums),
            self._clean,
            self.length + self._passed if self._passed else 0,
        )

    def _hash(self, sha: hashlib._Hash, view: bytes | memoryview) -> None:
        self._wait()
        if len(view) < BESIDE_BYTES:
            sha.update(view)
            return
        self._hashing = Thread(target=sha.update, args=(view,))
        self._hashing.start()

    def _wait(self) -> None:
        if self._hashing is not None:
            self._hashing.join()
            self._hashing = None

    def _look(self, piece: bytes | memoryview, *, last: bool) -> None:
        try:
            if self._decoder:
                self._decoder.decode(piece, last)
        except UnicodeDecodeError:
            self._clean, self._decoder = False, None


def chunks_hold(block: bytes, first: int, sums: bytes, chunk_bytes: int) -> bool:
    """Whether a block that begins with chunk `first` has the checksums it was stored with."""
    view = memoryview(block)
    starts = range(0, len(block), chunk_bytes)
    found = b"".join(xxh3_64_digest(view[at : at + chunk_bytes]) for at in starts)
    return found == sums[first * SUM_BYTES : first * SUM_BYTES + len(found)]
