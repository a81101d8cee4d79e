"""Spine: a history goes out. The order of the steps, and nothing else; nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from headgate.admit import Spill, plan_batch
from headgate.arrive import arrive
from headgate.dialects.history import History
from headgate.events import Event
from headgate.history.compact import Compacted, Standing, compact, spill_of
from headgate.history.count import Accounting, Count, count
from headgate.history.groups import groups_of
from headgate.history.repeats import Base, Bases, repeated, target_of
from headgate.history.seen import Seen
from headgate.history.slots import Recall, Slot, free_anchor, recall_for, slots_of, turns_after
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
    links: Sequence[bytes],
    seen: Seen,
    ledger: Ledger,
    desk: Desk,
    overrides: OverrideTable,
    request: Request,
) -> Prepared:
    """Make a repaired history with this chain ready to send."""
    recall = recall_for(ledger, links)
    budgeted = _budgeted(history, links, seen, recall, desk, overrides, request)
    standings = tuple(budgeted.standings)
    reapplied = seen.with_texts(history, _texts(standings))
    counted = _count(reapplied, request)
    moved = compact(
        standings,
        reapplied,
        counted,
        desk,
        anchor=free_anchor(links, recall),
        is_cold=request.is_cold,
        time_ns=request.time_ns,
    )
    if moved is None:
        return _prepared(reapplied, standings, budgeted, None, counted)
    standings = tuple(
        Standing(standing.slot, moved.entry.moves.get(standing.slot.key, standing.verdict))
        for standing in standings
    )
    compacted = seen.with_texts(history, _texts(standings))
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
    based: int = 0
    """How many of the standings are among the bases: none, as long as nothing is fresh."""
    spent: dict[int, int] = field(default_factory=dict)
    """By turn, counted from the end: what its results take, where turns have a budget."""

    def bases_so_far(self) -> Bases:
        """What a result that comes now may refer to."""
        for slot, verdict in self.standings[self.based :]:
            if verdict.text is None and verdict.age == 0:
                result, original = slot.result, slot.identity.original
                self.bases.add(Base(result.call_id, result.tool, target_of(result), original))
        self.based = len(self.standings)
        return self.bases


@dataclass(frozen=True, slots=True)
class Finder:
    """The verdicts of one group that are known already."""

    known: Mapping[Key, Verdict]

    def find(self, key: Key) -> Verdict | None:
        """The verdict for a key."""
        return self.known.get(key)


def _budgeted(
    history: History,
    links: Sequence[bytes],
    seen: Seen,
    recall: Recall,
    desk: Desk,
    overrides: OverrideTable,
    request: Request,
) -> Budgeted:
    """Decide what is fresh, each group on its own."""
    out = Budgeted()
    turns = turns_after(history.messages)
    used = _used(history, request) if desk.policy.scale else ()
    for group in groups_of(history):
        first = group.answered[0][0].message
        slots = slots_of(group, history, seen, links[first], turns[first], recall)
        known = [Standing(slot, slot.known) for slot in slots if slot.known is not None]
        if len(known) == len(slots):
            _stand(known, desk.policy, out)
        else:
            _decide(slots, replace(desk, used=used[first]) if used else desk, overrides, out)
    return out


def _used(history: History, request: Request) -> list[float]:
    """The share of the window that is in use before each message; nothing if it is not known."""
    window = request.accounting.window_tokens
    if not window:
        return []
    return [size / window for size in accumulate(_count(history, request).sizes, initial=0)]


def _decide(slots: Sequence[Slot], desk: Desk, overrides: OverrideTable, out: Budgeted) -> None:
    """Decide a group in which something is fresh."""
    known = {slot.key: slot.known for slot in slots if slot.known is not None}
    fresh = [slot for slot in slots if slot.known is None]
    referring = _referring(fresh, out, desk)
    spent = out.spent.get(slots[0].turns, 0)
    finder = Finder({**known, **referring})
    batch = [slot.result for slot in slots]
    plan = plan_batch(batch, finder, desk, overrides, slots[0].key.prefix, spent)
    verdicts = dict(zip(plan.keys, plan.verdicts, strict=True))
    out.events += plan.events
    out.spills.update({spill.ref: spill for spill in plan.spills})
    out.decided += [(slot.key, verdicts[slot.key]) for slot in fresh]
    taken = sum(_cost(verdict, desk.policy) for verdict in plan.verdicts) + plan.media
    out.over_budget += max(taken - plan.budget, 0) if plan.budget is not None else 0
    for slot in fresh:
        ref = verdicts[slot.key].ref
        if slot.key in referring and ref is not None:
            out.spills[ref] = spill_of(slot, ref)
    _stand([Standing(slot, verdicts[slot.key]) for slot in slots], desk.policy, out)


def _stand(standings: Sequence[Standing], policy: Policy, out: Budgeted) -> None:
    """Take in what one group's results are from now on."""
    out.standings += standings
    if policy.turn is not None:
        for slot, verdict in standings:
            cost = _cost(verdict, policy) + slot.identity.media * policy.media_count
            out.spent[slot.turns] = out.spent.get(slot.turns, 0) + cost


def _referring(fresh: Sequence[Slot], out: Budgeted, desk: Desk) -> dict[Key, Verdict]:
    """Fresh results that stand in the history already, and the verdicts that say so."""
    if not desk.policy.repeats:
        return {}
    bases = out.bases_so_far()
    found: dict[Key, Verdict] = {}
    for slot in fresh:
        if slot.result.is_error or slot.identity.media:
            continue
        original = slot.identity.original
        stands = repeated(original, target_of(slot.result), bases, desk.meter)
        if stands is not None:
            arrived = arrive(slot.identity, desk.policy, desk.meter)
            found[slot.key] = referring(arrived, stands.text, stands.base, desk)
    return found


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
