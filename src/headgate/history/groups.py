"""Results in groups, as the provider will see them: all that answer one assistant message.

A client may keep one response in several messages with the same id and put results between them;
they are one group. Nothing else between results splits a group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from headgate.dialects.history import History, Message, Part
from headgate.history.rounds import Round, Spot, rounds_of


class Group(msgspec.Struct, frozen=True):
    """The results that answer one assistant message, each with its call."""

    answered: tuple[tuple[Spot, Part | None], ...]


def groups_of(history: History) -> list[Group]:
    """The groups of a history in order; rounds without results make none."""
    groups: list[Group] = []
    for rounds in _joined(rounds_of(history.messages), history.messages):
        results = _all_of([one.results for one in rounds])
        if results:
            groups.append(Group(_with_calls(results, _all_of([one.calls for one in rounds]))))
    return groups


def _all_of(spots: Sequence[list[Spot]]) -> list[Spot]:
    return spots[0] if len(spots) == 1 else [spot for some in spots for spot in some]


def _joined(rounds: Sequence[Round], messages: Sequence[Message]) -> list[list[Round]]:
    """Put rounds together that are fragments of one response."""
    if not any(message.message_id for message in messages):
        return [[one] for one in rounds]
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
    results: Sequence[Spot], calls: Sequence[Spot]
) -> tuple[tuple[Spot, Part | None], ...]:
    """Give each result the next call of its id that has none; without ids, of its name."""
    if [_name(spot.part) for spot in calls] == [_name(spot.part) for spot in results]:
        return tuple((spot, call.part) for spot, call in zip(results, calls, strict=True))
    waiting: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for spot in calls:
        waiting[_name(spot.part)].append(spot.part)
    answered: list[tuple[Spot, Part | None]] = []
    for spot in results:
        found = waiting[_name(spot.part)]
        answered.append((spot, found.pop(0) if found else None))
    return tuple(answered)


def _name(part: Part) -> tuple[str, str]:
    return (part.call_id, "") if part.call_id else ("", part.name)
