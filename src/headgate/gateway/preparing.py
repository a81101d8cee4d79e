"""Bodies made ready to send, beside the event loop; any failure of ours gives the body as it came.

One thread does the work: a gate decides one history at a time, and more threads would only wait. A
body that takes too long goes out as it came, and so do all that follow until that one is done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from headgate.errors import HistoryError
from headgate.events import Event, LedgerFailed, SpillFailed
from headgate.gate import Gate
from headgate.gateway.counters import Counters
from headgate.gateway.endpoints import Endpoint
from headgate.gateway.reading_tool import reading_tool, with_tool
from headgate.gateway.serving import Serving
from headgate.gateway.telling import Telling
from headgate.history.usage import usage_of
from headgate.ledger import Ledger
from headgate.spill.memory import MemoryStore
from headgate.types import ToolResult

if TYPE_CHECKING:
    from headgate.outgoing import Outcome

Done = Literal[
    "changed", "unchanged", "passthrough", "no_history", "gave_up", "failed", "late", "busy"
]

MOST_TOOL_NAMES = 8
"""Clients name our tool each in their own way, but not in many; a further one gets files alone."""

MOST_WAITING = 64
"""Reports that wait to be learnt from; more than that are not worth a delay."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A body to send, and what was done with it."""

    body: bytes
    done: Done
    outcome: Outcome | None = None
    gate: Gate | None = None
    """The one that prepared it, which also learns from it."""


class Preparing:
    """The gates of one worker, which share one ledger and one store."""

    def __init__(self, serving: Serving, counters: Counters, tell: Telling) -> None:
        self._serving = serving
        self._counters = counters
        self._tell = tell
        self._policy = serving.for_files()
        self._thread = ThreadPoolExecutor(1, "headgate-prepare")
        self._late = 0
        self._waiting = 0
        self._gate = self._opened("")
        self._gates: dict[str, Gate] = {"": self._gate}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def warm_up(self) -> None:
        """Load what the first request would wait for."""
        self._loop = asyncio.get_running_loop()
        await self._loop.run_in_executor(self._thread, self._admit_something)

    async def ready(self, body: bytes, endpoint: Endpoint) -> Ready:
        """The body as it is to be sent; whatever happens, there is one."""
        if self._serving.passthrough:
            return Ready(body, "passthrough")
        if self._late:
            return Ready(body, "busy")
        started = time.perf_counter()
        work = self._thread.submit(self._prepare, body, endpoint)
        try:
            ready = await asyncio.wait_for(
                asyncio.wrap_future(work), self._serving.prepare_timeout_s
            )
        except TimeoutError:
            self._wait_for(work)
            self._tell("preparing took too long")
            return Ready(body, "late")
        except HistoryError:
            return Ready(body, "no_history")
        except Exception as error:  # noqa: BLE001  # the user's turn goes on without us
            self._tell("preparing", error)
            return Ready(body, "failed")
        self._counters.time("prepare_seconds", time.perf_counter() - started)
        self._count(ready)
        return ready

    def learn(self, ready: Ready, endpoint: Endpoint, usage: Mapping[str, object]) -> None:
        """Take in what the provider reported; nobody waits for it."""
        told = usage_of(usage)
        if told is None:
            return
        for kind, count in (
            ("input", told.input_tokens),
            ("cache_read", told.cache_read_tokens),
            ("cache_write", told.cache_creation_tokens),
            ("output", told.output_tokens),
        ):
            self._counters.add("usage_tokens", kind, count)
        if ready.gate is None or self._late or self._waiting >= MOST_WAITING:
            return
        self._waiting += 1
        observe = partial(ready.gate.observe, dialect=endpoint.dialect, model=endpoint.model)
        work = self._thread.submit(observe, ready.body, usage)
        asyncio.wrap_future(work).add_done_callback(self._learnt)

    def close(self) -> None:
        """Let the thread end when it is done."""
        self._thread.shutdown(wait=not self._late)

    def _prepare(self, body: bytes, endpoint: Endpoint) -> Ready:
        gate = self._gate_for(body)
        outcome = gate.prepare(
            body, dialect=endpoint.dialect, pending=endpoint.counts, model=endpoint.model
        )
        if outcome.gave_up:
            return Ready(body, "gave_up", outcome, gate)
        if outcome.body == body:
            return Ready(body, "unchanged", outcome, gate)
        return Ready(outcome.body, "changed", outcome, gate)

    def _gate_for(self, body: bytes) -> Gate:
        """The gate whose markers name what this client can do."""
        name = reading_tool(body)
        if name not in self._gates:
            if len(self._gates) > MOST_TOOL_NAMES:
                return self._gate
            self._gates[name] = self._opened(name)
        return self._gates[name]

    def _opened(self, tool: str) -> Gate:
        serving = self._serving
        return Gate(
            with_tool(self._policy, tool) if tool else self._policy,
            session=serving.session,
            state=serving.state,
            files=serving.files,
            hooks=(self._hear,),
            store=self._gate.store if tool else None,
            ledger=self._gate.ledger if tool else None,
        )

    def _admit_something(self) -> None:
        """Vocabularies and patterns, loaded by a result that nobody keeps."""
        gate = Gate(
            self._policy,
            state=self._serving.state,
            store=MemoryStore(1024 * 1024),
            ledger=Ledger(),
        )
        text = "\n".join(f"ERROR: line {number} of a log" for number in range(1_500))
        gate.admit([ToolResult.of("bash", text, call_id="warm_up")])
        body = b'{"messages":[{"role":"user","content":"hi"}]}'
        reading_tool(body)
        gate.prepare(body, dialect="anthropic")

    def _hear(self, event: Event) -> None:
        """Count what could not be kept; called in the thread."""
        if not isinstance(event, SpillFailed | LedgerFailed) or self._loop is None:
            return
        what = "original" if isinstance(event, SpillFailed) else "verdict"
        self._loop.call_soon_threadsafe(partial(self._counters.add, "kept_failures", what))
        self._loop.call_soon_threadsafe(partial(self._tell, event.error))

    def _wait_for(self, work: Future[Ready]) -> None:
        """Let others pass until a late one is done."""
        if work.cancel():
            return
        self._late += 1
        asyncio.wrap_future(work).add_done_callback(self._no_longer_late)

    def _no_longer_late(self, work: asyncio.Future[Ready]) -> None:
        self._late -= 1
        if not work.cancelled():
            work.exception()

    def _learnt(self, work: asyncio.Future[None]) -> None:
        self._waiting -= 1
        error = None if work.cancelled() else work.exception()
        if error is not None and not isinstance(error, HistoryError):
            self._tell("learning from usage", error)

    def _count(self, ready: Ready) -> None:
        outcome = ready.outcome
        if outcome is None:
            return
        for verdict, state in zip(outcome.verdicts, outcome.states, strict=True):
            if state == "fresh":
                self._counters.add("results", verdict.fate)
                self._counters.add("result_tokens", "before", verdict.before.tokens)
                self._counters.add("result_tokens", "after", verdict.after.tokens)
        self._counters.add("fixes", count=len(outcome.fixes))
        self._counters.add("epochs", count=outcome.epoch is not None)
