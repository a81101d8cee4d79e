"""One pass over bytes for many patterns at once, in linear time whatever the text.

Patterns are bytes and mean bytes: `.` is one byte, a character outside ASCII is spelled out in
UTF-8, and `^` and `$` stand for line ends. For patterns of our own; what a model wrote goes
through RE2, which bounds its memory.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import hyperscan

Buffer: TypeAlias = bytes | bytearray | memoryview

PIECE_BYTES = 1 << 30
"""Hyperscan counts in 32 bits and silently stops where they overflow: longer texts go in pieces."""

OVERLAP_BYTES = 64 * 1024
"""What two pieces share, so that a hit across their border is seen; our patterns are shorter."""

Hit: TypeAlias = tuple[int, int]
"""The place of a pattern in its scanner, and the offset where a match of it ends."""


class _PerThread(threading.local):
    scratch: hyperscan.Scratch | None = None


class Scanner:
    """Searches for all patterns at once; compiled at first use, safe in threads and after a fork.

    Every possible end of a match is a hit: `a+` hits once per `a`. The GIL is released meanwhile.
    """

    def __init__(self, patterns: Sequence[bytes], *, piece_bytes: int = PIECE_BYTES) -> None:
        self._patterns = tuple(patterns)
        self._piece_bytes = piece_bytes
        self._database: hyperscan.Database | None = None
        self._thread = _PerThread()

    @property
    def key(self) -> str:
        """What tells its compiled form from any other: patterns, and who compiled it."""
        import hyperscan

        version = getattr(hyperscan, "__version__", "")  # which its types do not know
        parts = [version, *map(repr, self._patterns)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def is_compiled(self) -> bool:
        """Whether it is ready to search."""
        return self._database is not None

    def compiled_form(self) -> bytes:
        """What `restore` takes in another process on this machine."""
        import hyperscan

        form: bytes = hyperscan.dumpb(self._compiled())
        return form

    def restore(self, form: bytes) -> bool:
        """Take a compiled form instead of compiling; False where it is not one for this machine."""
        import hyperscan

        try:
            self._database = hyperscan.loadb(form, mode=hyperscan.HS_MODE_BLOCK)
            self.first(b"a")
        except hyperscan.error:
            self._database, self._thread = None, _PerThread()
            return False
        return True

    def first(self, data: Buffer) -> int | None:
        """Where a match ends, the first that the scan meets; None: nothing matches."""
        hits = self.hits(data, 1)
        return hits[0][1] if hits else None

    def hits(self, data: Buffer, cap: int) -> list[Hit]:
        """Hits ordered by their ends; with `cap` of them the scan stops, so memory is bounded."""
        found: list[Hit] = []
        if len(data) <= self._piece_bytes:
            self._scan(data, found, cap, start=0, after=0)
        else:
            self._scan_in_pieces(memoryview(data), found, cap)
        found.sort(key=_end)
        return found

    def _scan_in_pieces(self, whole: memoryview, found: list[Hit], cap: int) -> None:
        for border in range(0, len(whole), self._piece_bytes):
            if len(found) >= cap:
                return
            start = max(border - OVERLAP_BYTES, 0)
            piece = whole[start : border + self._piece_bytes]
            self._scan(piece, found, cap, start=start, after=border)

    def _scan(self, piece: Buffer, found: list[Hit], cap: int, *, start: int, after: int) -> None:
        import hyperscan

        def take(pattern: int, _from: int, end: int, _flags: int, _context: object) -> bool:
            if start + end > after and len(found) < cap:
                found.append((pattern, start + end))
            return len(found) >= cap

        database = self._compiled()
        if self._thread.scratch is None:
            # Working memory of one running scan, so each thread has its own.
            self._thread.scratch = hyperscan.Scratch(database)
        try:
            database.scan(  # type: ignore[type-var]  # the stub knows bytes only; any buffer is taken
                piece, match_event_handler=take, scratch=self._thread.scratch
            )
        except hyperscan.ScanTerminated:
            return

    def _compiled(self) -> hyperscan.Database:
        # Without a lock: one held by another thread at a fork would never open in the child.
        # Two threads that race here compile the same twice, and one result stays.
        if self._database is None:
            import hyperscan

            database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
            database.compile(
                expressions=list(self._patterns),
                ids=list(range(len(self._patterns))),
                elements=len(self._patterns),
                flags=[hyperscan.HS_FLAG_MULTILINE] * len(self._patterns),
            )
            self._database = database
        return self._database


def _end(hit: Hit) -> int:
    return hit[1]
