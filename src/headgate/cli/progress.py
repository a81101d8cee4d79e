"""A line on the terminal for work that takes longer than a second; gone when it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType

AFTER_S = 1.0
"""What is done sooner needs no line."""

EVERY_S = 0.2
"""Often enough to look alive, seldom enough to cost nothing."""

ERASE = b"\r\x1b[K"


class Progress:
    """Counts what passes by, and shows it on stderr if that is a terminal."""

    def __init__(
        self, *, count_lines: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._started = self._shown = clock()
        self._on = sys.stderr is not None and sys.stderr.isatty()
        self._visible = False
        self._count_lines = count_lines
        self._bytes = 0
        self._lines = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._visible:
            _put(ERASE)

    def add(self, chunk: bytes) -> None:
        """Count a piece that passed."""
        self._bytes += len(chunk)
        if self._on and self._count_lines:
            self._lines += chunk.count(b"\n")
        self.tick()

    def watching(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The same pieces, counted as they are taken."""
        for piece in pieces:
            self.add(piece)
            yield piece

    def tick(self) -> None:
        """Show where we are, if it is time to."""
        if not self._on:
            return
        now = self._clock()
        if now - self._started < AFTER_S or now - self._shown < EVERY_S:
            return
        self._shown, self._visible = now, True
        _put(ERASE + self.line(now - self._started).encode())

    def line(self, elapsed_s: float) -> str:
        """What is shown after this many seconds."""
        parts = [size(self._bytes)]
        if self._count_lines:
            parts += [f"{self._lines:,} lines", f"{elapsed_s:.0f} s"]
        else:
            parts.append(f"{size(int(self._bytes / elapsed_s))}/s")
        return f"headgate: {', '.join(parts)}"


def size(count: int) -> str:
    """Bytes as a person reads them: `930 B`, `12.3 MB`."""
    if count < 1_000:
        return f"{count} B"
    if count < 999_950:
        return f"{count / 1e3:.1f} kB"
    if count < 999_950_000:
        return f"{count / 1e6:.1f} MB"
    return f"{count / 1e9:,.2f} GB"


def _put(data: bytes) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()
