"""Which result answers which call: by position, then by id, never by a list of all ids.

Ids come back in later turns, so a result belongs to the round it stands in. One that comes after
the assistant has spoken again is late: a request was answered without it, so something else was
said in its place, and what was sent is not changed afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from headgate.dialects.dialect import Rules
from headgate.history.rounds import Place, Round, Spot

Spare: TypeAlias = Literal["orphan", "duplicate", "late"]


@dataclass(slots=True)
class Pairing:
    """Every result has its call, or a reason why it has none."""

    answers: dict[Place, Spot] = field(default_factory=dict)
    """By the place of the call."""
    spare: dict[Place, Spare] = field(default_factory=dict)
    """By the place of the result."""


def paired(
    rounds: Sequence[Round],
    rules: Rules,
    *,
    held: bool = False,
    interrupted: Callable[[Spot], bool],
) -> Pairing:
    """Match calls and results, across rounds only where results may stand anywhere.

    `held`: the provider remembers calls that are not here, so a result without call may stay.
    `interrupted`: calls that were sent as such; what comes for them after the assistant has spoken
    again is late.
    """
    anywhere = rules.placing == "anywhere"
    pairing = Pairing()
    open_calls: dict[str, deque[Spot]] = {}
    called: set[str] = set()
    strays: list[tuple[int, Spot]] = []
    for number, round_ in enumerate(rounds):
        if not round_.calls and not round_.results:
            continue
        here = {call.part.call_id for call in round_.calls}
        for call_id in here & open_calls.keys():
            del open_calls[call_id]  # The id is another call's from here on.
        sent = _sent_before(round_, interrupted)
        open_here = {call.part.call_id for call in round_.calls if call.place not in sent}
        for spot in _unmatched(round_, rules, pairing, sent):
            call_id = spot.part.call_id
            waiting = open_calls.get(call_id)
            if anywhere and waiting and not interrupted(waiting[0]):
                pairing.answers[waiting.popleft().place] = spot
            elif call_id and (call_id in here or call_id in called):
                pairing.spare[spot.place] = "duplicate" if call_id in open_here else "late"
            else:
                strays.append((number, spot))
        called |= here
        if anywhere:
            for call in round_.calls:
                if call.place not in pairing.answers:
                    open_calls.setdefault(call.part.call_id, deque()).append(call)
    _match_ahead(rounds, strays, pairing, held=held)
    return pairing


def _sent_before(round_: Round, interrupted: Callable[[Spot], bool]) -> Set[Place]:
    """The calls that were sent as interrupted, and behind which the assistant spoke on."""
    sent: set[Place] = set()
    end = round_.tail
    for call in reversed(round_.calls):
        if call.message + 1 < end and interrupted(call):
            sent.add(call.place)
        # Other calls behind it are of the same step.
        end = call.message if call.message + 1 == end else end
    return sent


def _unmatched(
    round_: Round, rules: Rules, pairing: Pairing, sent: Set[Place] = frozenset()
) -> list[Spot]:
    """Match what shares an id, then what has none; give back the results that are left.

    Calls that were `sent` as interrupted take none under their id.
    """
    if not rules.needs_ids and not sent and _match_one_by_one(round_):
        in_order = zip(round_.calls, round_.results, strict=True)
        pairing.answers.update((call.place, spot) for call, spot in in_order)
        return []
    waiting = _queues((call for call in round_.calls if call.place not in sent), "call_id")
    with_id: list[Spot] = []
    without_id: list[Spot] = []
    for spot in round_.results:
        calls = waiting.get(spot.part.call_id) if spot.part.call_id else None
        if calls:
            pairing.answers[calls.popleft().place] = spot
        else:
            (with_id if spot.part.call_id else without_id).append(spot)
    if without_id:
        without_id = _match_by_name(round_.calls, without_id, pairing)
    if with_id and not rules.needs_ids:
        calls_without = [call for call in round_.calls if not call.part.call_id]
        with_id = _match_by_name(calls_without, with_id, pairing)
    return with_id + without_id


def _match_one_by_one(round_: Round) -> bool:
    """Whether results stand in the order of their calls, with the same names and the ids given."""
    return len(round_.calls) == len(round_.results) and all(
        call.part.name == spot.part.name and call.part.call_id in ("", spot.part.call_id)
        for call, spot in zip(round_.calls, round_.results, strict=True)
    )


def _queues(spots: Iterable[Spot], by: Literal["call_id", "name"]) -> dict[str, deque[Spot]]:
    queues: dict[str, deque[Spot]] = {}
    for spot in spots:
        queues.setdefault(getattr(spot.part, by), deque()).append(spot)
    return queues


def _match_by_name(calls: Sequence[Spot], results: Sequence[Spot], pairing: Pairing) -> list[Spot]:
    """Match by the name of the tool, and what is left one by one if nothing speaks against it."""
    named = _queues((c for c in calls if c.place not in pairing.answers), "name")
    left: list[Spot] = []
    for spot in results:
        same = named.get(spot.part.name) if spot.part.name else None
        if same:
            pairing.answers[same.popleft().place] = spot
        else:
            left.append(spot)
    open_calls = [call for call in calls if call.place not in pairing.answers]
    if len(left) != len(open_calls) and any(spot.part.name for spot in left):
        return left
    for call, spot in zip(open_calls, left, strict=False):
        pairing.answers[call.place] = spot
    return left[len(open_calls) :]


def _match_ahead(
    rounds: Sequence[Round], strays: Sequence[tuple[int, Spot]], pairing: Pairing, *, held: bool
) -> None:
    """Match a result that stands just before its call; the others answer nothing."""
    ahead: dict[int, dict[str, deque[Spot]]] = {}
    for number, spot in strays:
        if number not in ahead:
            calls = rounds[number + 1].calls if number + 1 < len(rounds) else []
            ahead[number] = _queues((c for c in calls if c.place not in pairing.answers), "call_id")
        waiting = ahead[number].get(spot.part.call_id) if spot.part.call_id else None
        if waiting:
            pairing.answers[waiting.popleft().place] = spot
        elif not held:
            pairing.spare[spot.place] = "orphan"
