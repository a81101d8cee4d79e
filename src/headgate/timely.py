"""A store that has to answer in time: what it does is done in a thread, which nobody waits for
longer than the policy says.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from headgate.errors import StoreError
from headgate.types import About, Ref, Writer

T = TypeVar("T")


class TooLate(StoreError):
    """The store did not answer in time."""


def in_time(act: Callable[[], T], wait_s: float | None) -> T:
    """What `act` gives; a `StoreError` where that is not there in time. None waits for ever."""
    if wait_s is None:
        return act()
    ends: list[T] = []
    failures: list[StoreError] = []

    def noted() -> None:
        try:
            ends.append(act())
        except StoreError as error:
            failures.append(error)

    thread = Thread(target=noted, name="headgate-store", daemon=True)
    thread.start()
    thread.join(wait_s)
    if failures:
        raise failures[0]
    if not ends:
        raise TooLate(f"the store did not answer within {wait_s} s")
    return ends[0]


class TimelyWriter:
    """A writer each step of which has to be done in time; one that was not leaves it to itself."""

    def __init__(self, begin: Callable[[], Writer], wait_s: float) -> None:
        self._writer = in_time(begin, wait_s)
        self._wait_s = wait_s
        self._hangs = False

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        self._do(lambda: self._writer.write(data))

    def commit(self, ref: Ref, sha256: str) -> About:
        """Make the bytes readable under `ref`."""
        return self._do(lambda: self._writer.commit(ref, sha256))

    def abort(self) -> None:
        """Forget the bytes; one that hangs is not touched, and forgets them in the end."""
        if not self._hangs:
            with suppress(StoreError):
                self._do(self._writer.abort)

    def _do(self, act: Callable[[], T]) -> T:
        try:
            return in_time(act, self._wait_s)
        except TooLate:
            self._hangs = True
            raise
