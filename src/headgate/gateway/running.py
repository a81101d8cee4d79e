"""A gateway in a thread, for the length of a `with`: for tests, and for programs of your own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from headgate.errors import HeadgateError
from headgate.gateway.admin import Admin
from headgate.gateway.app import Gateway
from headgate.gateway.counters import Counters
from headgate.gateway.server import Part, Stop, listening_on, run, url_of
from headgate.gateway.serving import Serving
from headgate.gateway.telemetry import Spans, no_spans

ONE_OF_ONE = (1, 1)
"""Workers: who answers is alive."""


class Running:
    """A gateway that listens; `url` is the base URL for Anthropic's and Google's clients."""

    def __init__(self, serving: Serving, *, spans: Spans = no_spans) -> None:
        self.serving = serving
        self.counters = Counters()
        self.url = ""
        self.admin_url = ""
        self._spans = spans
        self._parts: list[Part] = []
        self._stop_soon: Stop = lambda: None
        self._started = threading.Event()
        self._failed: HeadgateError | None = None
        self._thread = threading.Thread(target=self._run, name="headgate-gateway", daemon=True)

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's clients."""
        return f"{self.url}/v1"

    def __enter__(self) -> Self:
        serving, gateway = self.serving, Gateway(self.serving, self.counters, self._spans)
        opened = listening_on(serving.host, serving.port)
        self.url = url_of(opened)
        self._parts = [(gateway, opened)]
        if serving.admin_port is not None:
            opened = listening_on("127.0.0.1", serving.admin_port)
            self.admin_url = url_of(opened)
            self._parts.append((Admin(serving, self.counters, lambda: ONE_OF_ONE), opened))
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            raise self._failed
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._thread.join()

    def stop(self) -> None:
        """Take no more requests, and come to an end with those that are under way."""
        self._stop_soon()

    def _run(self) -> None:
        def started(stop: Stop) -> None:
            loop = asyncio.get_running_loop()
            self._stop_soon = lambda: _soon(loop, stop)
            self._started.set()

        try:
            run(self._parts, self.serving, started)
        except HeadgateError as error:
            self._failed = error
        finally:
            for _, opened in self._parts:
                opened.close()
            self._started.set()


def _soon(loop: asyncio.AbstractEventLoop, stop: Stop) -> None:
    with suppress(RuntimeError):  # it has ended already
        loop.call_soon_threadsafe(stop)
