"""Threads for tools that block: as many as there are calls, kept a while for the next ones.

They are daemons: a tool that never ends must not keep the process from ending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NoReturn, TypeVar

from headgate.locks import Guard

T = TypeVar("T")

IDLE_S = 10.0
"""How long a thread waits for another call: over the pause between two batches of a busy agent."""


class Workers:
    """Runs what it is given at once, each in a thread of its own."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._guard = Guard()
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0
        """Threads that wait and are not meant for a task that is already in the queue."""

    def start(self, task: Callable[[], None]) -> None:
        """Run `task`, which must not raise."""
        with self._guard.lock:
            if self._guard.take_fork():
                # The threads stayed in the parent.
                self._tasks, self._idle = SimpleQueue(), 0
            if self._idle:
                self._idle -= 1
            else:
                Thread(target=self._work, name="headgate-tool", daemon=True).start()
            self._tasks.put(task)

    async def run(self, act: Callable[[], T]) -> T:
        """Wait on the running event loop for what `act` gives or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Callable[[], T]] = loop.create_future()

        def settle(outcome: Callable[[], T]) -> None:
            # Whoever waited may have been cancelled.
            if not future.done():
                future.set_result(outcome)

        def task() -> None:
            outcome = _attempted(act)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, outcome)

        self.start(task)
        return (await future)()

    def _work(self) -> None:
        while True:
            try:
                task = self._tasks.get(timeout=self._idle_s)
            except Empty:
                if self._left():
                    return
                continue
            task()
            # What a thread holds on to while it waits would stay alive with it.
            del task
            with self._guard.lock:
                self._idle += 1

    def _left(self) -> bool:
        """Whether nobody counts on this thread any more."""
        with self._guard.lock:
            if not self._idle:
                return False
            self._idle -= 1
            return True


def _attempted(act: Callable[[], T]) -> Callable[[], T]:
    """What comes of it: gives again what it gave, or raises what it raised."""
    try:
        given = act()
    except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
        return partial(_raise, error)
    return lambda: given


def _raise(error: BaseException) -> NoReturn:
    raise error
