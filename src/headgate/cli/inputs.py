"""Where a command's text comes from: a file, or stdin; any bytes, in pieces."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from headgate.cli.output import CommandError, reason, say

CHUNK_BYTES = 1 << 20


def chunks(name: str | None) -> Iterator[bytes]:
    """The bytes of a file, or of stdin for `-` or no name, as they come."""
    try:
        with _opened(name) as fd:
            while chunk := os.read(fd, CHUNK_BYTES):
                yield chunk
    except (OSError, ValueError) as error:
        if isinstance(error, IsADirectoryError):
            raise CommandError(f"{called(name)} is a folder; name a file") from error
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise CommandError(f"{called(name)} cannot be read: {why}") from error


def called(name: str | None) -> str:
    """How an input is called in a message."""
    return "stdin" if name in (None, "-") else repr(name)


@contextmanager
def _opened(name: str | None) -> Iterator[int]:
    if name is not None and name != "-":
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)
        return
    if sys.stdin is None:
        raise CommandError("stdin is closed; name a file, or pipe something in")
    if sys.stdin.isatty():
        say("reading from the terminal; end with Ctrl-D")
    yield sys.stdin.fileno()
