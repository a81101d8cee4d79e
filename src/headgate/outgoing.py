"""What a gate does with histories: carries their plans out, and learns from what they cost."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from xxhash import xxh3_64_intdigest

from headgate.ageing import Ageing
from headgate.check import recognise_dialect
from headgate.check.recognise import recognise
from headgate.dialects import DIALECTS, dialect_named
from headgate.dialects.dialect import Dialect
from headgate.dialects.history import History
from headgate.disk import Folder
from headgate.errors import HistoryError
from headgate.events import HistoryPrepared, HistoryRepaired
from headgate.history.calibration_file import FILE_NAME, CalibrationFile
from headgate.history.count import Accounting, Count, accounting_for, count, observation
from headgate.history.report import Fix, Repaired
from headgate.history.seen import Seen
from headgate.history.sent import repaired_as_sent
from headgate.history.slots import State
from headgate.history.tally import CountCache
from headgate.history.usage import Usage, usage_of
from headgate.history.words import last_words
from headgate.judge import Desk
from headgate.ledger import EpochEntry, Key
from headgate.measure.models import counted_as
from headgate.policy import Policy
from headgate.prepare import Prepared, Request, plan_history
from headgate.session import Session
from headgate.slices import NotJson
from headgate.types import Verdict
from headgate.values import value_of

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 2_048
"""Requests whose report is remembered; a conversation that had none since is estimated anew."""

SENT_REMEMBERED = 8
"""Histories that were sent and not answered yet, each as large as its request; another one that is
answered is read again."""

MOST_ROUNDS = 4
"""How often a plan is made anew because another process decided first, or the store failed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A history ready to send, and what was done for it."""

    body: bytes
    dialect: str
    fixes: tuple[Fix, ...]
    gave_up: str
    """Why it goes out as it came; empty if it could be repaired."""
    verdicts: tuple[Verdict, ...]
    """One for each result that says something, in order."""
    states: tuple[State, ...]
    """Of each of them: decided now, seen whole before, or the recorded text once more."""
    fresh: int
    """How many of them were decided now."""
    epoch: EpochEntry | None
    """What was moved down now, if anything."""
    over_budget: int
    count: Count
    model: str = ""
    """As the caller or the body names it."""


class Outgoing:
    """Histories of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        state = Folder(session.state, "the state folder")
        self.calibrations = CalibrationFile(state / FILE_NAME)
        self.cache = CountCache()
        self.seen: dict[str, Seen] = {}
        """By dialect: what need not be looked at again."""
        self.reports: OrderedDict[bytes, Usage] = OrderedDict()
        """By the chain of the request that was answered: what the provider reported."""
        self.came: OrderedDict[int, bytes] = OrderedDict()
        """By the hash of a body that was changed: the chain it came with, as the next one will."""
        self.sent: OrderedDict[tuple[str, int], History] = OrderedDict()
        """By the dialect and the hash of a body that went out: what it says."""
        self.policies: dict[int | None, Policy] = {}
        """By the window: the policy for histories."""
        self.accountings: OrderedDict[tuple[str, int | None], Accounting] = OrderedDict()
        """By model and window: how histories were counted last."""

    def prepare(
        self,
        body: bytes,
        *,
        dialect: str | None,
        pending: bool,
        model: str,
        window_tokens: int | None,
        usage: Mapping[str, object] | None,
        question: str,
        ageing: Ageing | None = None,
    ) -> Outcome:
        """Repair, reapply, budget, compact, count; what is decided is recorded, then given."""
        seen = self._seen(dialect_of(body, dialect))
        history = seen.read(body)
        repaired = self._repaired(history, pending)
        links = seen.chain(repaired.history)
        name = model or history.model
        accounting = self._accounting(name, window_tokens)
        reported = usage_of(usage) if usage is not None else self._remembered(links)
        is_cold = (ageing or self.session.policy.ageing).idle and self.session.is_cold(links)
        now_ns = self.session.clock()
        request = Request(accounting, reported, is_cold, time_ns=now_ns, cache=self.cache)
        if repaired.gave_up:
            return self._as_it_came(body, history, repaired, request, name)
        asked = question or last_words(history)
        desk = self._desk(asked, name, accounting, window_tokens)
        if ageing is not None:
            desk = replace(desk, policy=desk.policy.replace(ageing=ageing))
        prepared, decided = self._carried_out(repaired.history, links, seen, desk, request)
        outcome = Outcome(
            body=seen.dialect.write(prepared.history),
            dialect=seen.dialect.name,
            fixes=repaired.fixes,
            gave_up="",
            verdicts=tuple(standing.verdict for standing in prepared.standings),
            states=tuple(
                "fresh" if standing.slot.key in decided else standing.slot.state
                for standing in prepared.standings
            ),
            fresh=len(decided),
            epoch=prepared.epoch.entry if prepared.epoch else None,
            over_budget=prepared.over_budget,
            count=prepared.count,
            model=name,
        )
        digest = xxh3_64_intdigest(outcome.body)
        _remember(self.sent, (seen.dialect.name, digest), prepared.history, SENT_REMEMBERED)
        if outcome.body is not body:
            _remember(self.came, digest, links[-1])
        refs = frozenset(verdict.ref for verdict in outcome.verdicts if verdict.ref)
        self.session.refer(links, refs)
        self._report(outcome, prepared)
        return outcome

    def repair(
        self, body: bytes, *, dialect: str | None, pending: bool
    ) -> tuple[bytes, tuple[Fix, ...]]:
        """Pair calls and results; the real result of a call stands in where it is known."""
        seen = self._seen(dialect_of(body, dialect))
        repaired = self._repaired(seen.read(body), pending)
        if repaired.gave_up or not repaired.fixes:
            return body, ()
        return seen.dialect.write(repaired.history), repaired.fixes

    def observe(
        self, body: bytes, usage: Mapping[str, object], *, dialect: str | None, model: str
    ) -> None:
        """Learn how many tokens the last addition really was, and remember the report."""
        after = usage_of(usage)
        if after is None:
            return
        seen, digest = self._seen(dialect_of(body, dialect)), xxh3_64_intdigest(body)
        history = self.sent.pop((seen.dialect.name, digest), None) or seen.read(body)
        links = seen.chain(history)
        name = model or history.model
        at = next((i for i in range(len(links) - 1, -1, -1) if links[i] in self.reports), None)
        if at is not None and at < len(history.messages):
            learnt = observation(
                history,
                self._accounting(name, None),
                before=self.reports[links[at]],
                answered=at,
                after=after,
                cache=self.cache,
            )
            if learnt is not None:
                self.calibrations.learn(name, learnt, time_ns=self.session.clock())
        _remember(self.reports, links[-1], after)
        came = self.came.get(digest)
        if came is not None:
            _remember(self.reports, came, after)

    def _seen(self, dialect: Dialect) -> Seen:
        if dialect.name not in self.seen:
            self.seen[dialect.name] = Seen(dialect)
        return self.seen[dialect.name]

    def _repaired(self, history: History, pending: bool) -> Repaired:
        if not self.session.policy.repair:
            return Repaired(history)
        dialect = dialect_named(history.dialect)
        seen, twins = self.seen[history.dialect], self.session.policy.twins
        repaired = repaired_as_sent(history, self.session.ledger, seen, twins, pending=pending)
        for fix in repaired.fixes:
            if fix.removed is not None and fix.removed.kind == "result":
                self._keep_removed(dialect, fix)
        return repaired

    def _keep_removed(self, dialect: Dialect, fix: Fix) -> None:
        """What is taken out of a history stays readable."""
        assert fix.removed is not None
        self.session.keep_original(
            replace(dialect.tool_result(fix.removed, None), call_id=fix.call_id)
        )

    def _carried_out(
        self,
        history: History,
        links: Sequence[bytes],
        seen: Seen,
        desk: Desk,
        request: Request,
    ) -> tuple[Prepared, set[Key]]:
        """Keep and record what the plan says; where others were first, plan again."""
        session = self.session
        overrides = session.overrides()

        def planned() -> Prepared:
            return plan_history(history, links, seen, session.ledger, desk, overrides, request)

        decided: set[Key] = set()
        prepared = planned()
        for _ in range(MOST_ROUNDS):
            failed = session.keep(prepared.spills)
            if failed and not failed.keys() <= desk.failed.keys():
                desk = replace(desk, failed={**desk.failed, **failed})
                prepared = planned()
                continue
            decided.update(key for key, _ in prepared.decided)
            if self._recorded(prepared):
                break
            prepared = planned()
        return prepared, decided

    def _recorded(self, prepared: Prepared) -> bool:
        """Whether what was planned is what stands."""
        stands = self.session.record(prepared.decided)
        same = all(
            verdict == ours for verdict, (_, ours) in zip(stands, prepared.decided, strict=True)
        )
        if prepared.epoch is None or not same:
            return same
        entry = prepared.epoch.entry
        return self.session.ledger.open_epoch(entry) == entry

    def _desk(
        self, question: str, model: str, accounting: Accounting, window_tokens: int | None
    ) -> Desk:
        """What verdicts depend on: a history is not normalised, and its model has a window."""
        desk = self.session.desk(question)
        window = accounting.window_tokens
        if not window or not (window_tokens or desk.policy.window_tokens is None):
            return replace(desk, policy=self._policy(None))
        return replace(desk, policy=self._policy(_in_vocab(model, window)))

    def _policy(self, window_tokens: int | None) -> Policy:
        """The policy for a window; made once, since each one is checked when it is made."""
        if window_tokens not in self.policies:
            changes: dict[str, object] = {"normalise": False}
            if window_tokens is not None:
                changes["window_tokens"] = window_tokens
            self.policies[window_tokens] = self.session.policy.replace(**changes)
        return self.policies[window_tokens]

    def _accounting(self, model: str, window_tokens: int | None) -> Accounting:
        policy, key = self.session.policy, (model, window_tokens)
        calibration = self.calibrations.of(model)
        known = self.accountings.get(key)
        if known is None:
            known = accounting_for(model, calibration, policy.counting)
            window = window_tokens or policy.window_tokens or known.window_tokens
            known = replace(known, media_tokens=policy.media_tokens, window_tokens=window)
        elif known.calibration is not None and known.calibration is not calibration:
            known = replace(known, calibration=calibration)
        _remember(self.accountings, key, known)
        return known

    def _remembered(self, links: Sequence[bytes]) -> Usage | None:
        """The report of the last response that a history with this chain goes on from."""
        if not self.reports:
            return None
        found = (self.reports.get(link) for link in reversed(links[:-1]))
        return next((usage for usage in found if usage is not None), None)

    def _as_it_came(
        self, body: bytes, history: History, repaired: Repaired, request: Request, model: str
    ) -> Outcome:
        counted = count(history, request.accounting, usage=request.usage, cache=request.cache)
        self.session.emit(HistoryRepaired((), repaired.gave_up))
        why = repaired.gave_up
        return Outcome(body, history.dialect, (), why, (), (), 0, None, 0, counted, model)

    def _report(self, outcome: Outcome, prepared: Prepared) -> None:
        for event in prepared.events:
            self.session.emit(event)
        if outcome.fixes:
            self.session.emit(HistoryRepaired(tuple(str(fix) for fix in outcome.fixes), ""))
        why = outcome.epoch.why if outcome.epoch else ""
        self.session.emit(
            HistoryPrepared(len(outcome.verdicts), outcome.fresh, why, outcome.count.tokens)
        )


@lru_cache(maxsize=64)
def _in_vocab(model: str, window_tokens: int) -> int:
    """A model's window in the tokens that limits are counted in."""
    return max(counted_as(model).in_vocab(window_tokens), 1)


def _remember(known: OrderedDict[K, V], key: K, value: V, most: int = REMEMBERED) -> None:
    known[key] = value
    while len(known) > most:
        known.popitem(last=False)


def dialect_of(body: bytes, name: str | None) -> Dialect:
    """The dialect that is named, or the only one that the body fits."""
    if name is not None:
        return dialect_named(name)
    fitting = _fitting(body)
    if len(fitting) == 1:
        return dialect_named(fitting[0])
    if not fitting:
        known = ", ".join(dialect.name for dialect in DIALECTS)
        raise HistoryError(f"no history in a dialect that is known: {known}")
    raise HistoryError(f"fits {' and '.join(fitting)}; say which dialect it is")


def _fitting(body: bytes) -> list[str]:
    try:
        return recognise(value_of(body))
    except NotJson:
        # What the fast parser refuses may be a history all the same, or has its fault named.
        return recognise_dialect(body)
