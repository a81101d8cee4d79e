"""The gate: carries a plan out, records it, then shows it; `session` touches the disk for it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING

from headgate.admit import Plan, plan_batch, shares_ahead, shown
from headgate.arrive import is_exact
from headgate.errors import RefNotFound, RequestError, StoreError
from headgate.events import Event, Hook, SpillFailed
from headgate.journal import Journal
from headgate.ledger import Key, Ledger
from headgate.limits import HOLD_BYTES, limit_alone
from headgate.locks import Guard
from headgate.marker import ON_DISK
from headgate.policy import Policy
from headgate.refs import given
from headgate.session import Session
from headgate.shape import Room
from headgate.types import (
    NOTHING,
    Kind,
    Meter,
    Overrides,
    Ref,
    ShownResult,
    Store,
    Text,
    ToolResult,
    Verdict,
    text_of_bytes,
)

if TYPE_CHECKING:
    from headgate.ageing import Ageing
    from headgate.history.report import Fix
    from headgate.outgoing import Outcome, Outgoing
    from headgate.read.rows import Format, Rows
    from headgate.stream import Passing


class Gate:
    """Lets batches of results in, makes histories ready to send, and gives back what was kept.

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
        meter: Meter | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._session = Session(
            policy or Policy(),
            session,
            state=state,
            files=files,
            durable=durable,
            store=store,
            ledger=ledger,
            overrides=overrides,
            hooks=hooks,
            meter=meter,
            clock=clock,
        )
        self._made_outgoing: Outgoing | None = None
        self._guard = Guard(RLock)  # a hook may use the gate it is told of

    @property
    def _outgoing(self) -> Outgoing:
        if self._made_outgoing is None:
            from headgate.outgoing import Outgoing  # only for who sends histories

            self._made_outgoing = Outgoing(self._session)
        return self._made_outgoing

    @property
    def policy(self) -> Policy:
        """All rules and numbers."""
        return self._session.policy

    @property
    def session(self) -> str:
        """The name of the session."""
        return self._session.name

    @property
    def ledger(self) -> Ledger:
        """All verdicts of the session."""
        return self._session.ledger

    @property
    def store(self) -> Store:
        """Where originals are kept."""
        return self._session.store

    @property
    def meter(self) -> Meter:
        """What results are measured with."""
        return self._session.meter

    @property
    def key(self) -> bytes:
        """The installation key; one of this process alone where none can be kept."""
        return self._session.key

    def admit(
        self, batch: Sequence[ToolResult], *, question: str = "", prefix: bytes = b""
    ) -> list[ShownResult]:
        """Let in all results that answer one assistant message; gives what the model sees of each.

        `question` is what the user last said, where it is known: lines it points at are kept.
        """
        with self._guard.lock:
            session = self._session
            overrides, desk = session.overrides(), session.desk(question)
            plan = plan_batch(batch, session.ledger, desk, overrides, prefix)
            failed = session.keep(plan.spills)
            if failed:
                told = replace(desk, failed=failed)
                plan = plan_batch(batch, session.ledger, told, overrides, prefix)
            verdicts = self._recorded(plan)
            return [shown(result, verdict) for result, verdict in zip(batch, verdicts, strict=True)]

    def shares(self, batch: Sequence[ToolResult]) -> list[int | None]:
        """What each result may be and go in whole, before it is there; None: nothing bounds it."""
        return shares_ahead(batch, self.policy, self._session.overrides())

    def keep(self, result: ToolResult) -> Ref | None:
        """Keep the original of a result that is not shown as it is; None where it cannot be kept.

        What is kept here is read back like any other original.
        """
        with self._guard.lock:
            return self._session.keep_original(result)

    def journal(self, name: str) -> Journal:
        """A journal beside the ledger, for what else has to outlive this process."""
        return self._session.journal(name)

    def emit(self, event: Event) -> None:
        """Tell the hooks of the session."""
        self._session.emit(event)

    def prepare(
        self,
        body: bytes,
        *,
        dialect: str | None = None,
        pending: bool = False,
        model: str = "",
        window_tokens: int | None = None,
        usage: Mapping[str, object] | None = None,
        question: str = "",
        ageing: Ageing | None = None,
    ) -> Outcome:
        """Make a request body, or a bare array of messages, ready to send.

        Repaired, what was decided before applied again, fresh results budgeted, old ones compacted,
        and counted. `usage` is what the provider reported with the last response. `question` is
        what fresh results are searched for; without it, what the user last said in the history.
        `ageing` stands in for the policy's, where a provider refused the request as too long.
        """
        with self._guard.lock:
            return self._outgoing.prepare(
                body,
                dialect=dialect,
                pending=pending,
                model=model,
                window_tokens=window_tokens,
                usage=usage,
                question=question,
                ageing=ageing,
            )

    def repair(
        self, body: bytes, *, dialect: str | None = None, pending: bool = False
    ) -> tuple[bytes, tuple[Fix, ...]]:
        """Pair calls and results and nothing else; gives the history, and what was mended in it.

        A history that cannot be mended comes back as it is.
        """
        with self._guard.lock:
            return self._outgoing.repair(body, dialect=dialect, pending=pending)

    def observe(
        self,
        body: bytes,
        usage: Mapping[str, object],
        *,
        dialect: str | None = None,
        model: str = "",
    ) -> None:
        """Learn from what the provider reported for a request that was sent."""
        with self._guard.lock:
            self._outgoing.observe(body, usage, dialect=dialect, model=model)

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
        self,
        ref: Ref | None,
        arguments: Mapping[str, object] = NOTHING,
        *,
        tokens: int | None = None,
    ) -> str:
        """Read an original back: `read(ref, {"lines": "401-800"})`; at most `tokens` come back."""
        from headgate.read.answer import answer  # the ways back: only for who reads
        from headgate.read.original import original_of
        from headgate.read.request import request_of

        with self._guard.lock:
            store, about = self._session.find(ref := given(ref))
            request = request_of(arguments)
            limit = min(tokens or self.policy.alone_count, request.tokens or sys.maxsize)
            limit = max(limit, self.policy.minimum) - self.policy.block_overhead
            exact = is_exact(about.tool, self.policy)
            original = original_of(about, partial(store.read, ref), exact=exact)
            marker = self._session.desk().marker(about.sha256, about.call_id)
            if about.full_length is not None:
                marker = replace(marker, kept="partly", kept_bytes=about.length)
            room = Room(limit, self._session.meter)
            clock = time.monotonic_ns
            text = answer(request, original, room, marker, clock=clock, run_query=_run_query)
            self._session.note_read(ref, text)
            return text

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

    def notice(self, shown: ToolResult) -> str:
        """What people are told of a result that was shortened; empty: nothing."""
        from headgate.notice import notice_of  # only for policies that have words for it

        verdict = shown.verdict
        if verdict is None or not self.policy.notice.form:
            return ""
        path = self.store.path_for(verdict.ref, verdict.call_id) if verdict.ref else None
        return notice_of(verdict, self.policy, path)

    def note_read(self, ref: Ref, text: str) -> None:
        """Note that a part of an original was read in another way, as from its file."""
        self._session.note_read(ref, text)

    def original(self, ref: Ref | None) -> bytes:
        """The whole original, byte for byte; `RefNotFound` where it is not kept."""
        store, about = self._session.find(ref := given(ref))
        return store.read(ref, 0, about.length)

    def view(self, shown: ToolResult) -> str:
        """What a person is shown of a result: within limits of its own, and where the whole is."""
        from headgate.people import view_of  # only for who has people to show it to

        verdict, file, session = shown.verdict, None, None
        if verdict is not None and verdict.ref is not None:
            with suppress(StoreError):
                file = self.store.about(verdict.ref).file
                session = self.session if self._session.is_local else None
        return view_of(shown, self.policy.view, session=session, file=file or "")

    def _let_pass(self, result: ToolResult, question: str) -> Passing:
        """Begin to keep a result that is too big to hold."""
        from headgate.stream import Passing  # only for who streams that much

        desk = self._session.desk(question)
        # How it will end is not known yet, and of an error there may be more to show.
        ends = (replace(result, is_error=is_error) for is_error in (False, True))
        overrides = self._session.overrides()
        most = max(limit_alone(end, self.policy, overrides)[0].count or 0 for end in ends)
        begin = partial(self._session.writer, result) if self.policy.spill else None
        return Passing(result, desk, Room(most, self._session.meter), begin)

    def _admit_passed(self, passing: Passing, is_error: bool) -> ShownResult:
        """Decide on a result that went by, record it, show it."""
        from headgate.stream import judge_passing

        with self._guard.lock:
            result = replace(passing.result, is_error=is_error)
            overrides = self._session.overrides()
            limit, events = limit_alone(result, self.policy, overrides)
            room = Room((limit.count or 0) - self.policy.block_overhead, self._session.meter)
            arrived, verdict, kept = judge_passing(passing, result, limit, room)
            if verdict.ref is not None and kept in ON_DISK:
                self._session.kept_of(
                    verdict.ref, verdict.call_id, passing.kept_bytes, passing.length
                )
            elif passing.failure is not None:
                self._session.emit(SpillFailed(verdict.ref or "", verdict.call_id, passing.failure))
            key = Key(b"", verdict.call_id, arrived.identity.digest)
            budget = overrides.batch or self.policy.batch_budget()
            plan = Plan((key,), (verdict,), (), tuple(events), budget)
            return shown(arrived.result, self._recorded(plan)[0])

    def _ref_asked_for(self, arguments: Mapping[str, object]) -> Ref:
        ref = arguments.get("ref")
        if isinstance(ref, str) and ref:
            return ref
        tool = arguments.get("tool")
        entry = self.ledger.last(tool if isinstance(tool, str) and tool else None)
        if entry is None or entry.verdict.ref is None:
            raise RequestError('say which result: ref="r_…" as it stands in the marker')
        return entry.verdict.ref

    def _recorded(self, plan: Plan) -> list[Verdict]:
        """Record what is new, tell what happened, and give the verdicts that stand."""
        session = self._session
        pairs = list(zip(plan.keys, plan.verdicts, strict=True))
        fresh = [pair for pair in pairs if session.ledger.recall(pair[0]) is None]
        verdicts = session.record(fresh)
        if len(fresh) < len(pairs):
            stands = dict(zip((key for key, _ in fresh), verdicts, strict=True))
            verdicts = [stands.get(key, verdict) for key, verdict in pairs]
        if session.hooks:
            session.tell(plan, verdicts)
        return verdicts


def _run_query(query: str, kind: Format, data: bytes) -> Rows:
    from headgate.sql.run import run_query  # starts processes: only for who asks in SQL

    return run_query(query, kind, data)


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

    def close(self, *, is_error: bool = False) -> ShownResult:
        """Decide; what the model sees comes back."""
        if self.passing is None:
            block = text_of_bytes(b"".join(self.held))
            whole = replace(self.result, blocks=(block,), is_error=is_error)
            return self.gate.admit([whole], question=self.question)[0]
        return self.gate._admit_passed(self.passing, is_error)

    def _let_pass(self) -> None:
        self.passing = self.gate._let_pass(self.result, self.question)
        for data in self.held:
            self.passing.feed(data)
        self.held.clear()
