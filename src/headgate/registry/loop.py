"""An event loop of its own thread, for async tools in a program that has no loop.

It lives as long as the registry: an async client keeps its connections on the loop it began with.
"""

from __future__ import annotations

import asyncio
import weakref
from threading import Thread, current_thread

from headgate.locks import Guard


class LoopThread:
    """A loop that is started when it is first needed."""

    def __init__(self) -> None:
        self._guard = Guard()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, running; not for what runs on it, which would wait for itself."""
        if self._thread is current_thread():
            raise RuntimeError("an async tool would wait for itself here; await arun_batch instead")
        with self._guard.lock:
            if self._guard.take_fork():
                # It stands still in a child: its thread stayed in the parent.
                self._loop = None
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(
                    target=_run, args=(self._loop,), name="headgate-loop", daemon=True
                )
                self._thread.start()
                weakref.finalize(self, _stop, self._loop)
            return self._loop

    def close(self) -> None:
        """Stop the loop and wait for its end; the next use starts another."""
        with self._guard.lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            _stop(loop)
            thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        _cancel_all(loop)
    finally:
        loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """Let tools that were left on the loop clean up."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=1))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(loop.stop)
