"""The gate: carries a plan out, records it, then shows it. All I/O of the core is here.

`Gate` and `AsyncGate` do the same; the second does it in a thread, so that an event loop goes on.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import RLock, Thread
from typing import TypeVar

from headgate.admit import Plan, Spill, plan_batch, shown
from headgate.errors import RefNotFound, RequestError, StoreError
from headgate.events import Admitted, Event, Hook, LedgerFailed, Spilled, SpillFailed
from headgate.journal import Journal
from headgate.judge import Desk
from headgate.ledger import Key, Ledger
from headgate.limits import Limit, OverrideTable, limit_for, overrides_of
from headgate.marker import Kept
from headgate.measure.meters import meter_for
from headgate.policy import Policy
from headgate.read.answer import answer
from headgate.read.original import original_of
from headgate.read.request import request_of
from headgate.shape import Room
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore
from headgate.spill.memory import MemoryStore
from headgate.spill.private import session_folder, state_folder
from headgate.stream import HOLD_BYTES, Passing, judge_passing
from headgate.toolnames import class_of
from headgate.types import (
    NOTHING,
    About,
    Kind,
    Overrides,
    Ref,
    Store,
    Text,
    ToolResult,
    Verdict,
    text_of_bytes,
)

T = TypeVar("T")


class Gate:
    """Lets batches of results in, and gives back what was kept.

    One gate serves one session: a ledger and a store under one name. Opening it touches no disk;
    what cannot be opened later is reported, and the turn goes on.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        session: str = "default",
        state: str | os.PathLike[str] | None = None,
        files: str | os.PathLike[str] | None = None,
        durable: bool = False,
        store: Store | None = None,
        ledger: Ledger | None = None,
        overrides: Overrides | None = None,
        hooks: Sequence[Hook] = (),
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.policy = policy or Policy()
        self.session = session
        self.meter = meter_for(self.policy.vocab, self.policy.unit)
        self.hooks = tuple(hooks)
        self.overrides = overrides
        self.clock = clock
        self.state = Path(state) if state is not None else state_folder(os.environ)
        folder = session_folder(self.state, session)
        self.store: Store = (
            LocalStore(
                self.state,
                session,
                durable=durable,
                files_dir=Path(files) if files else None,
                clock=clock,
            )
            if store is None
            else store
        )
        self.memory = MemoryStore(self.policy.memory_bytes)
        self.ledger = (
            Ledger(Journal(folder / "ledger", durable=durable)) if ledger is None else ledger
        )
        self._key: bytes | None = None
        self._lock = RLock()

    @property
    def key(self) -> bytes:
        """The installation key; one of this process alone where none can be kept."""
        if self._key is None:
            try:
                self._key = installation_key(self.state)
            except StoreError as error:
                self._key = secrets.token_bytes(32)
                self._emit(SpillFailed("", "", f"no installation key: {error}"))
        return self._key

    def admit(
        self, batch: Sequence[ToolResult], *, question: str = "", prefix: bytes = b""
    ) -> list[ToolResult]:
        """Let in all results that answer one assistant message; gives what the model sees of each.

        `question` is what the user last said, where it is known: lines it points at are kept.
        """
        with self._lock:
            overrides = self._read_overrides()
            desk = self._desk(question)
            plan = plan_batch(batch, self.ledger, desk, overrides, prefix)
            plan = self._carry_out(plan, batch, desk, overrides, prefix)
            verdicts = self._record(plan)
            self._report(plan, verdicts)
            return [shown(result, verdict) for result, verdict in zip(batch, verdicts, strict=True)]

    def stream(
        self,
        call_id: str,
        tool: str,
        *,
        arguments: Mapping[str, object] = NOTHING,
        kind: Kind | None = None,
        question: str = "",
    ) -> ResultStream:
        """Let in a result that comes in pieces: `write` them, `close` gives what the model sees."""
        result = ToolResult(call_id, tool, (), arguments=arguments, kind=kind)
        return ResultStream(self, result, question)

    def read(
        self, ref: Ref, arguments: Mapping[str, object] = NOTHING, *, tokens: int | None = None
    ) -> str:
        """Read an original back: `read(ref, {"lines": "401-800"})`; at most `tokens` come back."""
        with self._lock:
            store, about = self._find(ref)
            request = request_of(arguments)
            limit = min(tokens or self.policy.result.count, request.tokens or sys.maxsize)
            limit = max(limit, self.policy.minimum) - self.policy.block_overhead
            exact = not self.policy.normalise or class_of(about.tool) == "read"
            original = original_of(about, partial(store.read, ref), exact=exact)
            marker = self._desk("").marker(about.sha256, about.call_id)
            room = Room(limit, self.meter)
            return answer(request, original, room, marker, clock=time.monotonic_ns)

    def read_result(
        self, call_id: str, arguments: Mapping[str, object], *, tokens: int | None = None
    ) -> ToolResult:
        """Answer a call of the tool `read_result`; a request that cannot be met is told in text."""
        try:
            ref = self._ref_asked_for(arguments)
            text, is_error = self.read(ref, arguments, tokens=tokens), False
        except (RefNotFound, RequestError) as error:
            text, is_error = str(error), True
        except StoreError as error:
            text, is_error = f"the result could not be read: {error}", True
        return ToolResult(
            call_id, "read_result", (Text(text),), is_error, arguments, origin="store"
        )

    def original(self, ref: Ref) -> bytes:
        """The whole original, byte for byte."""
        store, about = self._find(ref)
        return store.read(ref, 0, about.length)

    def let_pass(self, result: ToolResult, question: str) -> Passing:
        """Begin to keep a result that is too big to hold."""
        desk = self._desk(question)
        limit = self._stream_limit(result)
        room = Room((limit.count or 0) - self.policy.block_overhead, self.meter)
        return Passing(result, desk, room, self.store if self.policy.spill else None)

    def admit_passed(self, passing: Passing, is_error: bool) -> ToolResult:
        """Decide on a result that went by, record it, show it."""
        with self._lock:
            limit = self._stream_limit(passing.result)
            arrived, verdict, kept = judge_passing(passing, limit, is_error)
            if verdict.ref is not None and kept == "stored":
                self._emit(Spilled(verdict.ref, verdict.call_id, passing.length))
            elif passing.failure is not None:
                self._emit(SpillFailed(verdict.ref or "", verdict.call_id, passing.failure))
            key = Key(b"", verdict.call_id, arrived.identity.digest)
            plan = Plan((key,), (verdict,), (), (), self.policy.batch_count)
            standing = self._record(plan)
            self._report(plan, standing)
            return shown(arrived.result, standing[0])

    def _stream_limit(self, result: ToolResult) -> Limit:
        """The limit of a result that comes alone; what nothing bounds is bounded by the default."""
        limit, events = limit_for(result, self.policy, self._read_overrides())
        for event in events:
            self._emit(event)
        counts = [limit.count or self.policy.result.count, self.policy.batch_count]
        return replace(limit, count=min(count for count in counts if count is not None))

    def _ref_asked_for(self, arguments: Mapping[str, object]) -> Ref:
        ref = arguments.get("ref")
        if isinstance(ref, str) and ref:
            return ref
        tool = arguments.get("tool")
        entry = self.ledger.last(tool if isinstance(tool, str) and tool else None)
        if entry is None or entry.verdict.ref is None:
            raise RequestError('say which result: ref="r_…" as it stands in the marker')
        return entry.verdict.ref

    def _find(self, ref: Ref) -> tuple[Store, About]:
        for store in (self.store, self.memory):
            try:
                return store, store.about(ref)
            except RefNotFound:
                continue
        if self.ledger.by_ref(ref):
            raise RefNotFound(
                f"result {ref!r} is gone: the store could not keep it, or retention removed it"
            )
        raise RefNotFound(f"no result {ref!r} in this session; it may have expired")

    def _desk(self, question: str) -> Desk:
        return Desk(
            self.policy, self.meter, self.key, self.session, self.store.path_for, question=question
        )

    def _read_overrides(self) -> OverrideTable:
        return overrides_of(self.overrides() if self.overrides else NOTHING, self.policy)

    def _carry_out(
        self,
        plan: Plan,
        batch: Sequence[ToolResult],
        desk: Desk,
        overrides: OverrideTable,
        prefix: bytes,
    ) -> Plan:
        """Keep the originals; where the store cannot, keep them here and let the markers say so."""
        failed = {
            spill.ref: kept for spill in plan.spills if (kept := self._keep(spill)) != "stored"
        }
        if not failed:
            return plan
        return plan_batch(batch, self.ledger, replace(desk, failed=failed), overrides, prefix)

    def _keep(self, spill: Spill) -> Kept:
        try:
            self._bounded(lambda: put(self.store, spill))
        except StoreError as error:
            self._emit(SpillFailed(spill.ref, spill.call_id, str(error)))
            return self._keep_here(spill)
        self._emit(Spilled(spill.ref, spill.call_id, len(spill.original)))
        return "stored"

    def _keep_here(self, spill: Spill) -> Kept:
        try:
            put(self.memory, spill)
        except StoreError:
            return "nowhere"
        return "memory"

    def _bounded(self, act: Callable[[], None]) -> None:
        """Do it, or report after the policy's time that the store did not answer."""
        timeout_s = self.policy.store_timeout_s
        if timeout_s is None:
            act()
            return
        failures: list[StoreError] = []
        thread = Thread(target=_noting(act, failures), name="headgate-store", daemon=True)
        thread.start()
        thread.join(timeout_s)
        if thread.is_alive():
            raise StoreError(f"the store did not answer within {timeout_s} s")
        if failures:
            raise failures[0]

    def _record(self, plan: Plan) -> list[Verdict]:
        """Record what is new; another process may have been first, and then its verdict stands."""
        fresh = [
            (key, verdict)
            for key, verdict in zip(plan.keys, plan.verdicts, strict=True)
            if self.ledger.find(key) is None
        ]
        standing = dict(
            zip(
                (key for key, _ in fresh),
                self.ledger.record(fresh, time_ns=self.clock()),
                strict=True,
            )
        )
        self._report_ledger()
        return [
            standing.get(key, verdict)
            for key, verdict in zip(plan.keys, plan.verdicts, strict=True)
        ]

    def _report_ledger(self) -> None:
        failure = self.ledger.take_failure()
        if failure is not None:
            self._emit(LedgerFailed(failure))
        for repair in self.ledger.take_repairs():
            self._emit(repair)

    def _report(self, plan: Plan, verdicts: Sequence[Verdict]) -> None:
        for event in plan.events:
            self._emit(event)
        unit, overhead = self.policy.unit, self.policy.block_overhead
        spent = sum(verdict.after.of(unit) + overhead for verdict in verdicts)
        over = max(spent - plan.budget, 0) if plan.budget is not None else 0
        self._emit(Admitted(tuple(verdicts), plan.budget, spent, over))

    def _emit(self, event: Event) -> None:
        for hook in self.hooks:
            hook(event)


class ResultStream:
    """One result on its way in; memory is bounded by the limit, not by the result."""

    def __init__(self, gate: Gate, result: ToolResult, question: str) -> None:
        self.gate = gate
        self.result = result
        self.question = question
        self.held: list[bytes] = []
        self.held_bytes = 0
        self.passing: Passing | None = None

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        if self.passing is not None:
            self.passing.feed(data)
            return
        self.held.append(data)
        self.held_bytes += len(data)
        if self.held_bytes > HOLD_BYTES:
            self._let_pass()

    def close(self, *, is_error: bool = False) -> ToolResult:
        """Decide; what the model sees comes back."""
        if self.passing is None:
            block = text_of_bytes(b"".join(self.held))
            whole = replace(self.result, blocks=(block,), is_error=is_error)
            return self.gate.admit([whole], question=self.question)[0]
        return self.gate.admit_passed(self.passing, is_error)

    def _let_pass(self) -> None:
        self.passing = self.gate.let_pass(self.result, self.question)
        for data in self.held:
            self.passing.feed(data)
        self.held.clear()


def put(store: Store, spill: Spill) -> None:
    """Keep one original, unless it is kept already."""
    try:
        store.about(spill.ref)
    except RefNotFound:
        writer = store.writer(call_id=spill.call_id, tool=spill.tool, clean=spill.clean or None)
        try:
            writer.write(spill.original)
            writer.commit(spill.ref, spill.sha256)
        finally:
            writer.abort()


def _noting(act: Callable[[], None], failures: list[StoreError]) -> Callable[[], None]:
    def noted() -> None:
        try:
            act()
        except StoreError as error:
            failures.append(error)

    return noted


class AsyncGate:
    """A gate for event loops: the same, in a thread."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    async def admit(
        self, batch: Sequence[ToolResult], *, question: str = "", prefix: bytes = b""
    ) -> list[ToolResult]:
        """Let in all results that answer one assistant message."""
        return await _in_thread(lambda: self.gate.admit(batch, question=question, prefix=prefix))

    async def read(
        self, ref: Ref, arguments: Mapping[str, object] = NOTHING, *, tokens: int | None = None
    ) -> str:
        """Read an original back."""
        return await _in_thread(lambda: self.gate.read(ref, arguments, tokens=tokens))

    async def read_result(
        self, call_id: str, arguments: Mapping[str, object], *, tokens: int | None = None
    ) -> ToolResult:
        """Answer a call of the tool `read_result`."""
        return await _in_thread(lambda: self.gate.read_result(call_id, arguments, tokens=tokens))

    async def original(self, ref: Ref) -> bytes:
        """The whole original, byte for byte."""
        return await _in_thread(lambda: self.gate.original(ref))


async def _in_thread(act: Callable[[], T]) -> T:
    import asyncio  # not needed, and not loaded, without an event loop

    return await asyncio.to_thread(act)
