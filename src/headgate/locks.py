"""Locks between threads, and between processes, that neither a fork nor a kill leaves behind."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from types import TracebackType
from typing import Final

LOCK_WAIT_S: Final = 10.0
"""The lock is held for microseconds. After this long its holder was stopped in the middle."""

LOCK_PAUSES_S: Final = (0.00005, 0.002)
"""The first and the longest pause between two tries for the lock."""


class Guard:
    """A lock for threads that a forked child finds open, whoever held it in the parent."""

    __slots__ = ("_lock", "pid")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.pid = os.getpid()
        """Of who took it last."""

    def __enter__(self) -> bool:
        """Take the lock, and say whether this is a fork's first time."""
        pid = os.getpid()
        forked = self.pid != pid
        if forked:
            self._lock, self.pid = threading.Lock(), pid
        self._lock.acquire()
        return forked

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._lock.release()

    def take(self, *, wait: bool) -> bool:
        """Take it as the lock of a file is taken: within a while or at once, or not at all."""
        pid = os.getpid()
        if self.pid != pid:
            self._lock, self.pid = threading.Lock(), pid
        return self._lock.acquire(timeout=LOCK_WAIT_S) if wait else self._lock.acquire(False)

    def release(self) -> None:
        """Let go of it."""
        self._lock.release()


def take_lock(fd: int, kind: int) -> bool:
    """Take the lock of an open file, or say after a while that somebody keeps it."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return _waited_for(fd, kind)
    return True


def try_lock(fd: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of an open file, unless somebody has it."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _waited_for(fd: int, kind: int) -> bool:
    pause, longest = LOCK_PAUSES_S
    until = time.monotonic() + LOCK_WAIT_S
    while time.monotonic() <= until:
        time.sleep(pause)
        if try_lock(fd, kind):
            return True
        pause = min(pause * 2, longest)
    return False
