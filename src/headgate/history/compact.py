"""Old results shrink: what an epoch moves, and the text each result then has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from headgate.admit import Spill
from headgate.ageing import Epoch, Old, Step, Use, epoch, pressing
from headgate.dialects.history import History
from headgate.economy import binds_thinking, prices_of
from headgate.history.count import Count
from headgate.history.slots import Slot
from headgate.judge import Desk
from headgate.ledger import EpochEntry, Key
from headgate.marker import Excerpt, Marker
from headgate.measure.size import size_of
from headgate.shape import Room, Source
from headgate.shape.excerpt import Ends, shape_excerpt
from headgate.shape.kinds import recognise
from headgate.shape.text import ends
from headgate.types import Kind, Unit, Verdict

LOOKED_AT_BYTES = 1 << 20
"""How much of an old result is looked at to say what it was."""


class Standing(NamedTuple):
    """A result and the verdict that stands for it now."""

    slot: Slot
    verdict: Verdict

    @property
    def text(self) -> str:
        """What the model sees of it."""
        if self.verdict.text is not None:
            return self.verdict.text
        return self.slot.identity.original.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Compacted:
    """What an epoch does."""

    entry: EpochEntry
    spills: tuple[Spill, ...]


def compact(
    standings: Sequence[Standing],
    history: History,
    counted: Count,
    desk: Desk,
    *,
    anchor: bytes,
    is_cold: bool,
    time_ns: int,
) -> Compacted | None:
    """Open an epoch if it is time; None: nothing moves."""
    ageing = desk.policy.ageing
    used, window = counted.tokens, counted.window_tokens
    pays_from = ageing.pays_from_tokens
    waits = ageing.turns is None and (pays_from is None or used < pays_from)
    if waits and not pressing(ageing, used, window, is_cold=is_cold):
        return None
    last_bound = _last_thinking(history) if binds_thinking(history.model) else -1
    olds = [_old(standing, last_bound, desk) for standing in standings]
    use = Use(
        used=used,
        window=window,
        sizes=counted.sizes,
        requests=sum(message.role == "assistant" for message in history.messages),
        is_cold=is_cold,
        prices=prices_of(history.dialect),
        per_token=_per_token(standings, desk.policy.unit),
    )
    opened = epoch(olds, use, ageing)
    if not opened.moves:
        return None
    return _carried_out(_with_dependents(opened, standings), standings, desk, anchor, time_ns)


def _carried_out(
    opened: Epoch, standings: Sequence[Standing], desk: Desk, anchor: bytes, time_ns: int
) -> Compacted:
    moves: dict[Key, Verdict] = {}
    spills: dict[str, Spill] = {}
    for place, step in opened.moves:
        standing = standings[place]
        moved = aged(standing, step, desk)
        moves[standing.slot.key] = moved
        if standing.verdict.ref is None and moved.ref is not None:
            spills[moved.ref] = spill_of(standing.slot, moved.ref)
    return Compacted(EpochEntry(anchor, opened.why, moves, time_ns), tuple(spills.values()))


def aged(standing: Standing, step: Step, desk: Desk) -> Verdict:
    """The verdict of a result one step down; it keeps, or now gets, the address of its original."""
    verdict = standing.verdict
    ref = verdict.ref or desk.ref(verdict.sha256)
    marker = replace(desk.marker(verdict.sha256, verdict.call_id), ref=ref)
    kind = verdict.kind or recognise(standing.slot.identity.original, tool=verdict.tool)
    if step == 2:
        text = marker.cleared(verdict.before, kind, _original_start(standing))
    elif desk.policy.aged is not None:
        text = _excerpted(standing, desk, marker, desk.policy.aged)
    else:
        text = _ends_left(standing, desk, marker, kind)
    after = size_of(text, desk.meter)
    if step == 1 and after.of(desk.policy.unit) >= verdict.after.of(desk.policy.unit):
        return replace(verdict, age=step)  # it is no larger than its ends with a marker
    return replace(
        verdict,
        fate="cleared" if step == 2 else "spilled" if ref else "shaped",
        kind=kind,
        text=text,
        after=after,
        ref=ref,
        reason=f"old: {verdict.reason.removeprefix('old: ')}",
        age=step,
    )


def _original_start(standing: Standing) -> str:
    return standing.slot.identity.original[:LOOKED_AT_BYTES].decode("utf-8", "replace")


def _ends_left(standing: Standing, desk: Desk, marker: Marker, kind: Kind) -> str:
    """The ends of what stands now, in no more room than the policy gives them."""
    ageing, verdict = desk.policy.ageing, standing.verdict
    room = Room(max(ageing.head.count + ageing.tail.count, desk.policy.minimum), desk.meter)
    data = standing.text.encode("utf-8", "replace")
    source = Source(data, kind, verdict.after.of(desk.policy.unit), verdict.after.lines)
    share = ageing.head.count / max(ageing.head.count + ageing.tail.count, 1)
    return ends(source, room, marker, share).text


def _excerpted(standing: Standing, desk: Desk, marker: Marker, form: Excerpt) -> str:
    """The ends of what stands now, in the policy's own form; sizes are those of the original."""
    verdict, text = standing.verdict, standing.text
    before = verdict.before
    if marker.kept != "stored":
        form = replace(form, form=form.form_unkept or form.form, form_unkept="")
    shown = Ends(text, text, before.chars, before.bytes, before.lines)
    most = desk.policy.result.count if verdict.limit is None else verdict.limit.count
    room = Room(max(most, desk.policy.minimum) - desk.policy.block_overhead, desk.meter)
    return shape_excerpt(shown, room, marker, form).text


def _with_dependents(opened: Epoch, standings: Sequence[Standing]) -> Epoch:
    """What refers to a result that moves no longer has its base in sight: it becomes a line too."""
    moved = {standings[place].verdict.call_id for place, _ in opened.moves}
    places = {place for place, _ in opened.moves}
    dependents: list[tuple[int, Step]] = [
        (place, 2)
        for place, standing in enumerate(standings)
        if standing.verdict.base in moved and standing.verdict.base and place not in places
    ]
    return replace(opened, moves=(*opened.moves, *dependents))


def _old(standing: Standing, last_bound: int, desk: Desk) -> Old:
    verdict, slot = standing.verdict, standing.slot
    age = verdict.age
    return Old(
        message=slot.message,
        turns=slot.turns,
        tool_class=desk.policy.class_of(verdict.tool),
        size=verdict.after.of(desk.policy.unit),
        step=2 if age >= 2 else 1 if age == 1 else 0,
        is_bound=slot.message < last_bound,
    )


def _per_token(standings: Sequence[Standing], unit: Unit) -> float:
    sizes = [standing.verdict.after for standing in standings]
    tokens = sum(size.tokens for size in sizes)
    return sum(size.of(unit) for size in sizes) / tokens if tokens else 1.0


def _last_thinking(history: History) -> int:
    numbers = [number for number, message in enumerate(history.messages) if message.has_thinking]
    return max(numbers, default=-1)


def spill_of(slot: Slot, ref: str) -> Spill:
    """The original of a result that stands in a history."""
    result, identity = slot.result, slot.identity
    return Spill(ref, identity.original, result.call_id, result.tool, identity.sha256, clean=False)
