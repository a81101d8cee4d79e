"""A gateway as a program: alone, as a worker, or as the parent of workers; signals stop it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Sequence

import uvloop

from headgate.gateway.admin import Admin
from headgate.gateway.app import Gateway
from headgate.gateway.counters import Counters
from headgate.gateway.server import Part, Stop, run
from headgate.gateway.serving import Serving
from headgate.gateway.telemetry import Spans
from headgate.gateway.workers import Place, Workers, supervise, until_orphaned

ONE_OF_ONE = (1, 1)
"""Workers: who answers is alive."""

COLLECTED_AT = (20_000, 10, 100)
"""New objects, and rounds, after which the collector looks for cycles: a request makes hundreds of
objects and hardly a cycle, and waits for every look."""


def alone(
    serving: Serving,
    opened: socket.socket,
    admin: socket.socket | None,
    spans: Spans,
    ready: Callable[[], None],
) -> None:
    """Serve in this process until a signal comes."""
    counters = Counters()
    parts: list[Part] = [(Gateway(serving, counters, spans), opened)]
    if admin is not None:
        parts.append((Admin(serving, counters, lambda: ONE_OF_ONE), admin))

    def started(stop: Stop) -> None:
        stop_on_signals(stop)
        pause_seldom()
        ready()

    run(parts, serving, started)


def as_worker(serving: Serving, place: Place, spans: Spans) -> None:
    """Serve as one of many, until the parent says so or is gone."""
    watching: list[asyncio.Future[None]] = []

    def started(stop: Stop) -> None:
        stop_on_signals(stop)
        pause_seldom()
        watching.append(asyncio.ensure_future(until_orphaned(place.parent, stop)))

    run([(Gateway(serving, place.counters(), spans), place.socket())], serving, started)


def as_parent(
    serving: Serving,
    opened: socket.socket,
    admin: socket.socket | None,
    command: Sequence[str],
    count: int,
    ready: Callable[[], None],
) -> None:
    """Keep workers running until a signal comes."""

    def started(stop: Stop) -> None:
        stop_on_signals(stop)
        ready()

    async def main() -> None:
        await supervise(Workers(command, opened, file, count), serving, admin, started)

    with (
        tempfile.TemporaryFile() as file,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(main())


def pause_seldom() -> None:
    """Set all that is loaded aside: it stays, so no request need wait while it is walked over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTED_AT)


def stop_on_signals(stop: Stop) -> None:
    """Stop in good order at the first signal; the second does not wait."""
    loop = asyncio.get_running_loop()
    stopping = False

    def signalled(number: int) -> None:
        nonlocal stopping
        if stopping:
            os._exit(128 + number)
        stopping = True
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signalled, number)
