"""Spine: a history goes out. The order of the steps, and nothing else; nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from headgate.admit import Spill, plan_batch
from headgate.arrive import arrive
from headgate.dialects.dialect import Dialect
from headgate.dialects.history import History
from headgate.events import Event
from headgate.history.chain import chain
from headgate.history.compact import Compacted, Standing, compact, spill_of
from headgate.history.count import Accounting, Count, count
from headgate.history.groups import groups_of
from headgate.history.repeats import Base, Bases, repeated, target_of
from headgate.history.slots import (
    Recall,
    Slot,
    recall_for,
    slots_of,
    turns_after,
    with_texts,
)
from headgate.history.tally import CountCache
from headgate.history.usage import Usage
from headgate.judge import Desk, referring
from headgate.ledger import Key, Ledger
from headgate.limits import OverrideTable
from headgate.policy import Policy
from headgate.types import Ref, Verdict


@dataclass(frozen=True, slots=True)
class Request:
    """What is known of the request beside its history."""

    accounting: Accounting
    usage: Usage | None = None
    """Of the last response, where the caller has it."""
    is_cold: bool = False
    """Whether the provider's cache has surely gone."""
    time_ns: int = 0
    cache: CountCache | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A history ready to send, and what has to be kept and recorded before it is."""

    history: History
    standings: tuple[Standing, ...]
    decided: tuple[tuple[Key, Verdict], ...]
    spills: tuple[Spill, ...]
    epoch: Compacted | None
    count: Count
    over_budget: int
    events: tuple[Event, ...]


def plan_history(
    history: History,
    dialect: Dialect,
    ledger: Ledger,
    desk: Desk,
    overrides: OverrideTable,
    request: Request,
) -> Prepared:
    """Make a repaired history ready to send."""
    links = chain(history)
    recall = recall_for(ledger, links)
    budgeted = _budgeted(history, dialect, links, recall, desk, overrides, request)
    standings = tuple(budgeted.standings)
    reapplied = with_texts(history, dialect, _texts(standings))
    counted = _count(reapplied, request)
    moved = compact(
        standings,
        reapplied,
        counted,
        desk,
        anchor=links[-1],
        is_cold=request.is_cold,
        time_ns=request.time_ns,
    )
    if moved is None:
        return _prepared(reapplied, standings, budgeted, None, counted)
    standings = tuple(
        Standing(standing.slot, moved.entry.moves.get(standing.slot.key, standing.verdict))
        for standing in standings
    )
    compacted = with_texts(history, dialect, _texts(standings))
    recounted = _count(compacted, replace(request, usage=None))
    return _prepared(compacted, standings, budgeted, moved, recounted)


@dataclass(slots=True)
class Budgeted:
    """What was decided so far, group by group."""

    standings: list[Standing] = field(default_factory=list)
    decided: list[tuple[Key, Verdict]] = field(default_factory=list)
    spills: dict[Ref, Spill] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    over_budget: int = 0
    bases: Bases = field(default_factory=Bases)
    """What later results may refer to."""
    spent: dict[int, int] = field(default_factory=dict)
    """By turn, counted from the end: what its results take."""


@dataclass(frozen=True, slots=True)
class Finder:
    """The verdicts of one group that are known already."""

    known: Mapping[Key, Verdict]

    def find(self, key: Key) -> Verdict | None:
        """The verdict for a key."""
        return self.known.get(key)


def _budgeted(
    history: History,
    dialect: Dialect,
    links: Sequence[bytes],
    recall: Recall,
    desk: Desk,
    overrides: OverrideTable,
    request: Request,
) -> Budgeted:
    """Decide what is fresh, each group on its own."""
    out = Budgeted()
    turns = turns_after(history.messages)
    sizes = _count(history, request).sizes if desk.policy.scale else ()
    for group in groups_of(history):
        first = min(spot.message for spot, _ in group.answered)
        slots = slots_of(group, history, dialect, links[first], turns[first], recall)
        window = request.accounting.window_tokens
        used = sum(sizes[:first]) / window if sizes and window else None
        _decide(slots, replace(desk, used=used), overrides, out)
    return out


def _decide(slots: Sequence[Slot], desk: Desk, overrides: OverrideTable, out: Budgeted) -> None:
    known = {slot.key: slot.known for slot in slots if slot.known is not None}
    fresh = [slot for slot in slots if slot.known is None]
    referring = _referring(fresh, out.bases, desk)
    verdicts = known
    if fresh:
        turn = slots[0].turns
        spent = out.spent.get(turn, 0)
        finder = Finder({**known, **referring})
        batch = [slot.result for slot in slots]
        plan = plan_batch(batch, finder, desk, overrides, slots[0].key.prefix, spent)
        verdicts = dict(zip(plan.keys, plan.verdicts, strict=True))
        out.events += plan.events
        out.spills.update({spill.ref: spill for spill in plan.spills})
        out.decided += [(slot.key, verdicts[slot.key]) for slot in fresh]
        taken = sum(_cost(verdict, desk.policy) for verdict in plan.verdicts)
        out.over_budget += max(taken - plan.budget, 0) if plan.budget is not None else 0
    for slot in slots:
        verdict = verdicts[slot.key]
        if slot.key in referring and verdict.ref is not None:
            out.spills[verdict.ref] = spill_of(slot, verdict.ref)
        standing = Standing(slot, verdict)
        out.standings.append(standing)
        if desk.policy.repeats and verdict.text is None and verdict.age == 0:
            out.bases.add(_base(standing))
        out.spent[slot.turns] = out.spent.get(slot.turns, 0) + _cost(verdict, desk.policy)


def _referring(fresh: Sequence[Slot], bases: Bases, desk: Desk) -> dict[Key, Verdict]:
    """Fresh results that stand in the history already, and the verdicts that say so."""
    if not desk.policy.repeats:
        return {}
    found: dict[Key, Verdict] = {}
    for slot in fresh:
        if slot.result.is_error or slot.identity.media:
            continue
        text = slot.identity.original.decode("utf-8", "replace")
        stands = repeated(text, target_of(slot.result), bases, desk.meter)
        if stands is not None:
            arrived = arrive(slot.identity, desk.policy, desk.meter)
            found[slot.key] = referring(arrived, stands.text, stands.base, desk)
    return found


def _base(standing: Standing) -> Base:
    result = standing.slot.result
    return Base(result.call_id, result.tool, target_of(result), standing.text)


def _texts(standings: Sequence[Standing]) -> dict[tuple[int, int], str]:
    """The texts that differ from what came, by their places."""
    return {
        (s.slot.message, s.slot.place): s.verdict.text
        for s in standings
        if s.verdict.text is not None
        and s.verdict.text.encode("utf-8", "surrogatepass") != s.slot.identity.original
    }


def _cost(verdict: Verdict, policy: Policy) -> int:
    return verdict.after.of(policy.unit) + policy.block_overhead


def _count(history: History, request: Request) -> Count:
    return count(history, request.accounting, usage=request.usage, cache=request.cache)


def _prepared(
    history: History,
    standings: tuple[Standing, ...],
    budgeted: Budgeted,
    moved: Compacted | None,
    counted: Count,
) -> Prepared:
    spills = {**budgeted.spills, **{s.ref: s for s in (moved.spills if moved else ())}}
    return Prepared(
        history,
        standings,
        tuple(budgeted.decided),
        tuple(spills.values()),
        moved,
        counted,
        budgeted.over_budget,
        tuple(budgeted.events),
    )
