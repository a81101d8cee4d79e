"""Results in groups, as the provider will see them: all that answer one assistant message.

A client may keep one response in several messages with the same id and put results between them;
they are one group. Nothing else between results splits a group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.dialects.history import History, Message, Part
from headgate.history.rounds import Round, Spot, rounds_of


@dataclass(frozen=True, slots=True)
class Group:
    """The results that answer one assistant message, each with its call."""

    answered: tuple[tuple[Spot, Part | None], ...]


def groups_of(history: History) -> list[Group]:
    """The groups of a history in order; rounds without results make none."""
    groups: list[Group] = []
    for rounds in _joined(rounds_of(history.messages), history.messages):
        results = [spot for one in rounds for spot in one.results]
        if results:
            groups.append(Group(_with_calls(results, rounds)))
    return groups


def _joined(rounds: Sequence[Round], messages: Sequence[Message]) -> list[list[Round]]:
    """Put rounds together that are fragments of one response."""
    joined: list[list[Round]] = []
    last_id = ""
    for one in rounds:
        ids = [m.message_id for m in messages[one.start : one.tail] if m.role == "assistant"]
        if joined and ids and ids[0] and ids[0] == last_id:
            joined[-1].append(one)
        else:
            joined.append([one])
        last_id = ids[-1] if ids else last_id
    return joined


def _with_calls(
    results: Sequence[Spot], rounds: Sequence[Round]
) -> tuple[tuple[Spot, Part | None], ...]:
    """Give each result the next call of its id that has none; without ids, of its name."""
    calls_in_order = [spot.part for one in rounds for spot in one.calls]
    if [*map(_name, calls_in_order)] == [_name(spot.part) for spot in results]:
        return tuple(zip(results, calls_in_order, strict=True))
    waiting: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for one in rounds:
        for spot in one.calls:
            waiting[_name(spot.part)].append(spot.part)
    answered: list[tuple[Spot, Part | None]] = []
    for spot in results:
        calls = waiting[_name(spot.part)]
        answered.append((spot, calls.pop(0) if calls else None))
    return tuple(answered)


def _name(part: Part) -> tuple[str, str]:
    return (part.call_id, "") if part.call_id else ("", part.name)
