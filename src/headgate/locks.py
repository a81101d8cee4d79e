"""Locks between threads, and between processes, that neither a fork nor a kill leaves behind."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable
from typing import Final, TypeAlias
from weakref import WeakSet

AnyLock: TypeAlias = "threading.Lock | threading.RLock"

LOCK_WAIT_S: Final = 10.0
"""The lock is held for microseconds. After this long its holder was stopped in the middle."""

LOCK_PAUSES_S: Final = (0.00005, 0.002)
"""The first and the longest pause between two tries for the lock."""


class Guard:
    """A lock for threads that a forked child finds open, whoever held it in the parent.

    Used as `with guard.lock:`. Python lets no Ctrl-C come between taking a lock of its own and the
    block below it, nor before it is let go of; in a `with` of an object of ours it would, and the
    lock would be held for ever.
    """

    __slots__ = ("__weakref__", "_is_forked", "_make", "lock")

    def __init__(self, make: Callable[[], AnyLock] = threading.Lock) -> None:
        self._make = make
        self._is_forked = False
        self.lock = make()
        GUARDS.add(self)

    def take_fork(self) -> bool:
        """Whether this is a fork's first time; asked under the lock, and told once."""
        taken, self._is_forked = self._is_forked, False
        return taken

    def open_in_fork(self) -> None:
        """Be open in a child, whose threads stayed in the parent."""
        self.lock = self._make()
        self._is_forked = True


GUARDS: Final[WeakSet[Guard]] = WeakSet()


def _open_in_fork() -> None:
    for guard in GUARDS:
        guard.open_in_fork()


# At once, and not when each is next taken: two threads of the child could be first at one.
os.register_at_fork(after_in_child=_open_in_fork)


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
