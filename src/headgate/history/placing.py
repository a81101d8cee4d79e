"""Results put where the provider looks for them; one function for each way of looking.

A round that is in order is not touched. In one that is not, the results go to their place in the
order of their calls, and everything else stays in its own order behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType

from headgate.dialects.dialect import Placing
from headgate.dialects.history import History, Message
from headgate.history.mending import Answer, Mending, decided
from headgate.history.orderly import is_orderly
from headgate.history.report import Case, Fix
from headgate.history.rounds import Place, Round, Spot

MOVED = "the result is put where its call wants it"


def placed(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Give every call its one result, and every result its place."""
    if is_orderly(history.messages, case.dialect):
        return history, []
    return placed_one_by_one(history, case)


def placed_one_by_one(history: History, case: Case) -> tuple[History, list[Fix]]:
    """The same, of a history of which nothing is known."""
    mending = decided(history, case)
    put = _PLACERS[case.dialect.rules.placing]
    messages = [message for round_ in mending.rounds for message in put(mending, round_)]
    if not mending.fixes:
        return history, []
    return history.with_messages(tuple(messages)), mending.fixes


def _into_next(mending: Mending, round_: Round) -> Sequence[Message]:
    """Results as parts of the first user message behind their calls."""
    if not round_.calls or _stands_as_usual(mending, round_):
        return mending.kept(round_)
    rules = mending.case.dialect.rules
    answers = mending.answers(round_.calls)
    target = next(
        (n for n in range(round_.tail, round_.stop) if mending.messages[n].role == "user"), None
    )
    in_front = _in_front(mending, target, answers)
    if rules.in_call_order and not _are_told_apart(round_.calls):
        in_front = _while_in_order(in_front, answers)
    if len(in_front) == len(answers):
        return mending.kept(round_)
    lifted = {answer.origin for answer in answers if answer.origin is not None}
    for place in sorted(lifted - in_front):
        mending.note("moved", place[0], MOVED, mending.messages[place[0]].parts[place[1]])
    heads = [mending.rewritten(number, lifted) for number in range(round_.start, round_.tail)]
    tails = [
        _gathered(mending, number, answers, lifted)
        if number == target
        else mending.rewritten(number, lifted)
        for number in range(round_.tail, round_.stop)
    ]
    if target is None:
        tails[:0] = mending.case.dialect.carrying([answer.part.elsewhere() for answer in answers])
    return heads + tails


def _stands_as_usual(mending: Mending, round_: Round) -> bool:
    """Whether the message behind the calls begins with one result for each, in their order.

    Nearly every round does; the others are looked at closely.
    """
    tail = round_.tail
    if len(round_.results) != len(round_.calls) or tail == round_.stop:
        return False
    answers = mending.pairing.answers
    return mending.messages[tail].role == "user" and all(
        call.place in answers and answers[call.place].place == (tail, number)
        for number, call in enumerate(round_.calls)
    )


def _in_front(mending: Mending, target: int | None, answers: Sequence[Answer]) -> set[Place]:
    """The results that stand where they should, if nothing else has to be put between them."""
    rules = mending.case.dialect.rules
    wanted = {a.origin for a in answers if a.origin is not None and a.origin[0] == target}
    if target is None or not wanted:
        return set()
    parts = mending.messages[target].parts
    kept = [(target, n) for n in range(len(parts)) if (target, n) not in mending.removed]
    standing = kept[: len(wanted)] if rules.results_first else kept
    return {place for place in standing if place in wanted}


def _are_told_apart(calls: Sequence[Spot]) -> bool:
    """Whether each call has an id of its own, so that the order of their results is free."""
    ids = [call.part.call_id for call in calls]
    return all(ids) and len(set(ids)) == len(ids)


def _while_in_order(in_front: set[Place], answers: Sequence[Answer]) -> set[Place]:
    """All of them if they stand in the order of their calls, else none."""
    order = [a.origin for a in answers if a.origin is not None and a.origin in in_front]
    return in_front if order == sorted(order) else set()


def _gathered(
    mending: Mending, number: int, answers: Sequence[Answer], lifted: Set[Place]
) -> Message:
    """The message `number` with all answers in front, and what else it holds behind them."""
    front = [
        answer.part if answer.origin and answer.origin[0] == number else answer.part.elsewhere()
        for answer in answers
    ]
    return mending.case.edited(mending.messages[number], front + mending.rest_of(number, lifted))


def _directly_behind(mending: Mending, round_: Round) -> list[Message]:
    """Results as messages of their own, directly behind the message with their calls."""
    calls: dict[int, list[Spot]] = {}
    for call in round_.calls:
        calls.setdefault(call.message, []).append(call)
    out: list[Message] = []
    lifted: set[Place] = set()
    for number in range(round_.start, round_.tail):
        out.append(mending.rewritten(number))
        answers = mending.answers(calls.get(number, ()))
        is_last = number == round_.tail - 1
        in_front = _following(mending, round_, answers, lifted) if is_last else set()
        if len(in_front) == len(answers):
            continue
        for answer in answers:
            out += mending.case.dialect.carrying([answer.part])
            if answer.origin is not None:
                lifted.add(answer.origin)
                if answer.origin not in in_front:
                    mending.note("moved", answer.origin[0], MOVED, answer.part)
    for number in range(round_.tail, round_.stop):
        if (number, 0) not in lifted and (number, 0) not in mending.removed:
            out.append(mending.rewritten(number))
    return out


def _following(
    mending: Mending, round_: Round, answers: Sequence[Answer], lifted: Set[Place]
) -> set[Place]:
    """The results that follow their calls with nothing in between but what goes elsewhere."""
    wanted = {answer.origin for answer in answers if answer.origin is not None}
    in_front: set[Place] = set()
    for number in range(round_.tail, round_.stop):
        if (number, 0) in wanted:
            in_front.add((number, 0))
        elif (number, 0) not in mending.removed and (number, 0) not in lifted:
            break
    return in_front


def _anywhere_behind(mending: Mending, round_: Round) -> list[Message]:
    """Results as items behind their calls; only what is new or stands before its call is put."""
    behind: dict[int, list[Message]] = {}
    end_of = _ends_of_calls(mending, round_)
    for call in round_.calls:
        for answer in mending.answers([call]):
            if answer.origin is None or answer.origin[0] < call.message:
                put = mending.case.dialect.carrying([answer.part])
                behind.setdefault(end_of[call.message], []).extend(put)
            if answer.origin is not None and answer.origin[0] < call.message:
                mending.note("moved", answer.origin[0], MOVED, answer.part)
    out: list[Message] = []
    for number in range(round_.start, round_.stop):
        if (number, 0) not in mending.removed:
            out.append(mending.rewritten(number))
        out += behind.get(number, ())
    return out


def _ends_of_calls(mending: Mending, round_: Round) -> Mapping[int, int]:
    """For each call, the last of the calls in a row that it stands in.

    Behind a step that still waits for results, it is the end of the step: nothing may part it.
    """
    if mending.case.pending and round_ is mending.rounds[-1]:
        return dict.fromkeys(range(round_.start, round_.tail), round_.tail - 1)
    return mending.ends


_Placer = Callable[[Mending, Round], Sequence[Message]]

_PLACERS: Mapping[Placing, _Placer] = MappingProxyType(
    {"next": _into_next, "directly": _directly_behind, "anywhere": _anywhere_behind}
)
