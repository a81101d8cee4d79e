"""Where the assistant's messages in a row are two answers, and a request was sent in between.

Calls that got no result are sent as interrupted. A client that does not keep what was sent for them
puts the next answer right behind them; so there their results stand, as they did when they were
sent, and nothing before that answer is put in order again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from headgate.dialects.history import Message, Part
from headgate.history.rounds import Round, Spot


def apart(
    rounds: Iterable[Round],
    messages: Sequence[Message],
    was_sent: Callable[[Spot, Spot | None], bool],
    *,
    waiting: Round | None,
) -> list[Round]:
    """The rounds, cut behind calls that were answered without a result.

    `was_sent` says whether a call was sent as interrupted before the next one, if any, was made.
    The `waiting` round still gets its results, and is one.
    """
    out: list[Round] = []
    for round_ in rounds:
        if round_ is waiting or round_.tail - round_.start < 2 or not round_.calls:
            out.append(round_)
        else:
            out += _cut(round_, messages, was_sent)
    return out


def _cut(
    round_: Round, messages: Sequence[Message], was_sent: Callable[[Spot, Spot | None], bool]
) -> list[Round]:
    answered = {spot.part.call_id for spot in round_.results} - {""}
    known = {call.part.call_id for call in round_.calls} - {""}
    loose = sum(spot.part.call_id not in known for spot in round_.results)
    open_behind = sum(call.part.call_id not in answered for call in round_.calls)
    next_of = {
        one.message: other for one, other in pairwise(round_.calls) if one.message != other.message
    }
    out: list[Round] = []
    asked: list[Spot] = []
    has_result = False
    for number, group in groupby(round_.calls, key=lambda call: call.message):
        here = list(group)
        asked += here
        open_behind -= sum(call.part.call_id not in answered for call in here)
        if number + 1 == round_.tail:
            break
        has_result = has_result or any(call.part.call_id in answered for call in here)
        # Results that name no call are for those behind, as long as these can take them all.
        is_open = not has_result and loose <= open_behind
        after = next_of.get(number)
        if any(was_sent(call, after) for call in here) or (
            is_open and _goes_on(messages[number], messages[number + 1])
        ):
            first, round_ = _halves(round_, asked)
            out.append(first)
            asked, has_result = [], False
    return [*out, round_]


def _halves(round_: Round, asked: list[Spot]) -> tuple[Round, Round]:
    at = asked[-1].message + 1
    first = Round(round_.start, at, at, asked, server_ids=round_.server_ids)
    behind = round_.calls[len(asked) :]
    return first, replace(round_, start=at, calls=behind, server_ids=[])


def _goes_on(last: Message, after: Message) -> bool:
    """Whether the next message begins an answer of its own."""
    if last.message_id and last.message_id == after.message_id:
        return False
    return bool(after.parts) and _speaks(after.parts[0])


def _speaks(part: Part) -> bool:
    """Whether a part is how an answer begins; an empty text only ends one."""
    return part.kind == "thinking" or (part.kind == "text" and part.value != b'""')
