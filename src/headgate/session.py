"""One session: its policy, store, ledger and key, and all that touches a disk on their behalf.

What cannot be opened or written is reported, and the turn goes on.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from headgate.admit import Plan, Spill
from headgate.arrive import identify
from headgate.economy import COLD_NS
from headgate.errors import RefGone, RefNotFound, StoreError
from headgate.events import (
    Admitted,
    Event,
    Hook,
    LedgerFailed,
    LedgerRepaired,
    Removed,
    SpillCut,
    Spilled,
    SpillFailed,
    SweepFailed,
)
from headgate.journal import Journal
from headgate.judge import Desk
from headgate.ledger import Key, Ledger, ReadBack
from headgate.limits import NO_OVERRIDES, OverrideTable, overrides_of
from headgate.marker import Kept
from headgate.measure.meters import meter_for
from headgate.measure.size import size_of
from headgate.policy import Policy
from headgate.refs import ref_of
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore, not_found
from headgate.spill.memory import MemoryStore
from headgate.spill.private import state_folder
from headgate.timely import TimelyWriter, in_time
from headgate.types import About, Meter, Overrides, Ref, Store, ToolResult, Verdict, Writer
from headgate.unheard import Unheard


class Session:
    """A ledger and a store under one name. Opening it touches no disk."""

    def __init__(
        self,
        policy: Policy,
        name: str,
        *,
        state: str | os.PathLike[str] | None,
        files: str | os.PathLike[str] | None,
        durable: bool,
        store: Store | None,
        ledger: Ledger | None,
        overrides: Overrides | None,
        hooks: Sequence[Hook],
        meter: Meter | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.policy = policy
        self.name = name
        self.meter = meter or meter_for(policy.vocab, policy.unit)
        self.hooks = tuple(hooks)
        self._unheard = Unheard()
        self.clock = clock
        self.state = Path(state) if state is not None else state_folder(os.environ)
        files_dir = Path(files) if files else None
        self._local = LocalStore(
            self.state,
            name,
            durable=durable,
            files_dir=files_dir,
            name_by=policy.files_by,
            retention=policy.retention,
            clock=clock,
        )
        self.store: Store = self._local if store is None else store
        self.memory = MemoryStore(policy.memory_bytes, clock=clock)
        self.durable = durable
        self.ledger = ledger if ledger is not None else Ledger(self.journal("ledger"))
        self._overrides = overrides
        self._key: bytes | None = None
        self._desk: Desk | None = None
        self._partly: dict[Ref, int] = {}
        """Up to which byte the store has what it could not keep whole."""

    @property
    def key(self) -> bytes:
        """The installation key; one of this process alone where none can be kept."""
        if self._key is None:
            try:
                self._key = installation_key(self.state)
            except StoreError as error:
                self._key = secrets.token_bytes(32)
                self.emit(SpillFailed("", "", f"no installation key: {error}"))
        return self._key

    @property
    def is_local(self) -> bool:
        """Whether originals are in our own store, where our commands find them."""
        return self.store is self._local

    def desk(self, question: str = "") -> Desk:
        """What verdicts depend on beside their results; the same for the same question."""
        if self._desk is None or self._desk.question != question:
            self._desk = Desk(
                self.policy,
                self.meter,
                self.key,
                self.name,
                self.store.path_for,
                question=question,
                partly=self._partly,
            )
        return self._desk

    def overrides(self) -> OverrideTable:
        """What the operator says right now."""
        return overrides_of(self._overrides(), self.policy) if self._overrides else NO_OVERRIDES

    def journal(self, name: str) -> Journal:
        """A journal of this session; opening it touches no disk."""
        # In the store's own folder: each that is opened anew takes three descriptors more.
        return Journal(self._local.shelf.folder / name, durable=self.durable)

    def keep_original(self, result: ToolResult) -> Ref | None:
        """Keep what no verdict asked to keep; None where nothing is kept, or it is empty."""
        identity = identify(result)
        if not identity.original.strip() or not self.policy.spill:
            return None
        ref = ref_of(self.key, self.name, identity.sha256)
        call_id, tool = result.call_id, result.tool
        spill = Spill(ref, identity.original, call_id, tool, identity.sha256, clean=False)
        return None if self.keep([spill]).get(ref) == "nowhere" else ref

    def keep(self, spills: Sequence[Spill]) -> dict[Ref, Kept]:
        """Keep originals; gives those that the store could not, and where they are instead."""
        return {spill.ref: kept for spill in spills if (kept := self._keep(spill)) != "stored"}

    def record(self, decided: Sequence[tuple[Key, Verdict]]) -> list[Verdict]:
        """Record what is new; another process may have been first, and then its verdict stands.

        Where nothing is new, what a Ctrl-C or a full disk kept from being written is written now.
        """
        standing = self.ledger.record(decided, time_ns=self.clock())
        self.report_ledger()
        return standing

    def tell(self, plan: Plan, verdicts: Sequence[Verdict]) -> None:
        """Tell what became of a batch, by the verdicts that stand."""
        for event in plan.events:
            self.emit(event)
        unit, overhead = self.policy.unit, self.policy.block_overhead
        spent = sum(verdict.after.of(unit) + overhead for verdict in verdicts) + plan.media
        over = max(spent - plan.budget, 0) if plan.budget is not None else 0
        self.emit(Admitted(tuple(verdicts), plan.budget, spent, over))

    def report_ledger(self) -> None:
        """Tell what went wrong with the ledger and the store since the last time."""
        failure = self.ledger.take_failure()
        if failure is not None:
            self.emit(LedgerFailed(failure))
        for repair in self.ledger.take_repairs():
            self.emit(repair)
        for cut in self._local.take_repairs():
            self.emit(LedgerRepaired(cut.path, cut.lost_bytes, cut.kept_records))
        if removed := self._local.take_removed():
            size_bytes = sum(one.size_bytes for one in removed)
            why = tuple(sorted({one.why for one in removed}))
            self.emit(Removed(len(removed), size_bytes, why))
        trouble = self._local.take_trouble()
        if trouble is not None:
            self.emit(SweepFailed(trouble))

    def refer(self, links: Sequence[bytes], refs: frozenset[Ref]) -> None:
        """Note what a history that goes out refers to: what no live one does, goes first."""
        if not self.is_local:
            return
        try:
            self._local.refer(links, refs, even_none=self.policy.ageing.idle)
        except StoreError as error:
            self.emit(SweepFailed(str(error)))

    def is_cold(self, links: Sequence[bytes]) -> bool:
        """Whether a history was sent last so long ago that no provider has it cached any more."""
        if not self.is_local:
            return False
        try:
            sent_ns = self._local.sent_ns(links)
        except StoreError:
            return False  # it is told when the history is noted
        return 0 < sent_ns <= self.clock() - COLD_NS

    def note_read(self, ref: Ref, text: str) -> None:
        """Note that a part of an original was given back; it counts against what was kept out."""
        tokens = size_of(text, self.meter).tokens
        self.ledger.note_read(ReadBack(self.clock(), ref, tokens))

    def find(self, ref: Ref) -> tuple[Store, About]:
        """The store that has an original, and what is known of it."""
        told: StoreError | None = None
        for store in (self.store, self.memory):
            try:
                about = store.about(ref)
            except StoreError as error:
                # A store that cannot answer does not speak for memory, which may have it.
                if isinstance(error, RefGone) or not isinstance(error, RefNotFound):
                    told = error
            else:
                if store is self._local:
                    self._local.touch(ref)
                return store, about
        if told is not None:
            raise told
        if self.ledger.by_ref(ref):
            raise RefNotFound(
                f"result {ref!r} is gone: the store could not keep it, or retention removed it"
            )
        raise not_found(ref)

    def emit(self, event: Event) -> None:
        """Tell the hooks; what went wrong is logged where there are none."""
        for hook in self.hooks or (self._unheard,):
            hook(event)

    def _keep(self, spill: Spill) -> Kept:
        try:
            kept_bytes = self._put(spill)
        except StoreError as error:
            self.emit(SpillFailed(spill.ref, spill.call_id, str(error)))
            return self._keep_here(spill)
        return self.kept_of(spill.ref, spill.call_id, kept_bytes, len(spill.original))

    def kept_of(self, ref: Ref, call_id: str, kept_bytes: int, length: int) -> Kept:
        """Tell how much of an original the store has now."""
        if kept_bytes < length:
            self._partly[ref] = kept_bytes
            self.emit(SpillCut(ref, call_id, kept_bytes, length))
            return "partly"
        if self.hooks:
            self.emit(Spilled(ref, call_id, length))
        return "stored"

    def _keep_here(self, spill: Spill) -> Kept:
        try:
            put(self.memory, spill)
        except StoreError:
            return "nowhere"
        return "memory"

    def _put(self, spill: Spill) -> int:
        """Keep it, or report after the policy's time that the store did not answer."""
        return in_time(lambda: put(self.store, spill), self.policy.store_timeout_s)

    def writer(self, result: ToolResult) -> Writer:
        """Begin to keep a result that comes in pieces; each step has the policy's time."""
        store, wait_s = self.store, self.policy.store_timeout_s
        begin = partial(store.writer, call_id=result.call_id, tool=result.tool, hashed=True)
        return begin() if wait_s is None else TimelyWriter(begin, wait_s)


def put(store: Store, spill: Spill) -> int:
    """Keep one original, and tell how many bytes of it; what is kept already is not kept twice."""
    call_id, tool, clean = spill.call_id, spill.tool, spill.clean or None
    if isinstance(store, LocalStore):
        ref, original, sha256 = spill.ref, spill.original, spill.sha256
        return store.put(ref, original, call_id=call_id, tool=tool, sha256=sha256, clean=clean)
    writer = store.writer(call_id=call_id, tool=tool, clean=clean, hashed=True)
    try:
        writer.write(spill.original)
        return writer.commit(spill.ref, spill.sha256).length
    except BaseException:
        writer.abort()
        raise
