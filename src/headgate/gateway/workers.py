"""Many workers behind one port: processes of their own, which are started again when they die.

They share the socket, the counters and the state folder. The parent has the admin port, and no part
in any request.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import BinaryIO, Final

from headgate.gateway.admin import Admin
from headgate.gateway.counters import Counters
from headgate.gateway.server import Part, Stop, serve
from headgate.gateway.serving import Serving

LOG = logging.getLogger("headgate.gateway")

VARIABLE: Final = "_HEADGATE_GATEWAY_WORKER"
"""Tells a process that it is a worker, and what it inherits."""

PAUSES_S: Final = (0.5, 30.0)
"""Before a worker that died is started again; twice as long each time it dies young."""

YOUNG_S: Final = 60.0

PARENT_CHECK_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """What a worker inherits."""

    socket_fd: int
    counters_fd: int
    row: int
    rows: int
    parent: int
    """The process that started it."""

    def __str__(self) -> str:
        return ",".join(map(str, astuple(self)))

    def socket(self) -> socket.socket:
        """The socket that all workers share."""
        return socket.socket(fileno=self.socket_fd)

    def counters(self) -> Counters:
        """Its own row of the counters that all workers share."""
        with os.fdopen(self.counters_fd, "r+b") as file:
            return Counters(self.rows, file=file, row=self.row)


def place_of(text: str) -> Place:
    """Read what `str(place)` wrote."""
    return Place(*map(int, text.split(",")))


class Workers:
    """Starts workers, and starts them again."""

    def __init__(
        self, command: Sequence[str], opened: socket.socket, file: BinaryIO, count: int
    ) -> None:
        self._command = command
        self._opened = opened
        self._file = file
        self._count = count
        self.counters = Counters(count, file=file)
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()

    def alive(self) -> tuple[int, int]:
        """How many workers there are, and how many there should be."""
        return len(self._running), self._count

    def stop(self) -> None:
        """Let them finish what is under way."""
        self._stopping.set()
        for process in self._running.values():
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)

    async def run(self) -> None:
        """Keep them running until they are stopped."""
        await asyncio.gather(*(self._keep_running(row) for row in range(self._count)))

    async def _keep_running(self, row: int) -> None:
        shortest, longest = PAUSES_S
        pause, loop = shortest, asyncio.get_running_loop()
        while not self._stopping.is_set():
            born = loop.time()
            code = await self._one_life(row)
            self.counters.clear_gauges(row)
            if self._stopping.is_set():
                return
            pause = shortest if loop.time() - born > YOUNG_S else min(pause * 2, longest)
            LOG.error("worker %d ended with %d; the next starts in %g s", row, code, pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _one_life(self, row: int) -> int:
        fds = (self._opened.fileno(), self._file.fileno())
        place = Place(*fds, row, self._count, os.getpid())
        process = await asyncio.create_subprocess_exec(
            *self._command,
            env={**os.environ, VARIABLE: str(place)},
            pass_fds=fds,
            # Ctrl-C in a terminal goes to the parent alone, which stops them once.
            start_new_session=True,
        )
        self._running[row] = process
        if self._stopping.is_set():
            process.send_signal(signal.SIGTERM)
        try:
            return await process.wait()
        finally:
            del self._running[row]


async def supervise(
    workers: Workers, serving: Serving, admin: socket.socket | None, started: Callable[[Stop], None]
) -> None:
    """Run workers, with the admin port beside them."""
    if admin is None:
        started(workers.stop)
        await workers.run()
        return
    parts: list[Part] = [(Admin(serving, workers.counters, workers.alive), admin)]

    def admin_started(stop: Stop) -> None:
        def stop_all() -> None:
            workers.stop()
            stop()

        started(stop_all)

    await asyncio.gather(workers.run(), serve(parts, serving, admin_started))


async def until_orphaned(parent: int, stop: Stop) -> None:
    """Stop a worker whose parent is gone: nobody would ever stop it."""
    while os.getppid() == parent:
        await asyncio.sleep(PARENT_CHECK_S)
    stop()
