"""What must hold after a repair, looked at without any of the code that did it.

Only pairs, places and ids: every call has one result where the provider looks for it, every result
has its call, every id is legal and used as often as it may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from headgate.dialects.dialect import Rules
from headgate.dialects.history import History, Message, Part


def unsound(history: History, rules: Rules, *, pending: bool) -> str | None:
    """The first thing that is wrong, or None."""
    messages = [old for old in history.messages if old.role != "system"]
    steps = list(_steps(messages, rules))
    wrongs: Iterator[str]
    if rules.placing == "anywhere":
        wrongs = _anywhere(messages, pending=pending, held=history.server_held)
    else:
        wrongs = _step_by_step(messages, steps, rules, pending=pending)
    return next(wrongs, None) or next(_ids(messages, steps, rules), None)


Step = tuple[int, int]
"""From the first message of one step of the model to behind the last."""


def _steps(messages: Sequence[Message], rules: Rules) -> Iterator[Step]:
    start = 0
    for role, group in groupby(messages, key=lambda old: old.role):
        stop = start + len(list(group))
        if role == "assistant" and rules.steps_are_runs:
            yield start, stop
        elif role == "assistant":
            yield from ((number, number + 1) for number in range(start, stop))
        start = stop


def _calls(messages: Sequence[Message]) -> list[Part]:
    return [part for old in messages for part in old.of_kind("call")]


def _results(messages: Sequence[Message]) -> list[Part]:
    return [part for old in messages for part in old.of_kind("result")]


def _step_by_step(
    messages: Sequence[Message], steps: Sequence[Step], rules: Rules, *, pending: bool
) -> Iterator[str]:
    """Between a step and the next stand its results and no others, in the first place they can."""
    if _results(messages[: steps[0][0] if steps else len(messages)]):
        yield "a result stands before the first call"
    for number, (start, stop) in enumerate(steps):
        is_last = number + 1 == len(steps)
        behind = messages[stop : len(messages) if is_last else steps[number + 1][0]]
        calls, results = _calls(messages[start:stop]), _results(behind)
        if _results(messages[start:stop]):
            yield "a result stands in a message of the assistant's"
        if not _match(calls, results, rules, partly=pending and is_last):
            yield f"{len(calls)} calls and {len(results)} results do not match"
        if results and not _in_place(behind, len(results), rules):
            yield "results do not stand where they are looked for"


def _match(calls: Sequence[Part], results: Sequence[Part], rules: Rules, *, partly: bool) -> bool:
    ids = [call.call_id for call in calls]
    if rules.needs_ids or (all(ids) and len(set(ids)) == len(ids)):
        wanted, given = Counter(ids), Counter(result.call_id for result in results)
        return given <= wanted if partly else given == wanted
    if len(results) != len(calls):
        return partly
    return all(
        call.name == result.name and call.call_id in ("", result.call_id)
        for call, result in zip(calls, results, strict=True)
    )


def _in_place(behind: Sequence[Message], count: int, rules: Rules) -> bool:
    if rules.placing == "directly":
        return all(old.of_kind("result") for old in behind[:count])
    parts = behind[0].parts[:count] if rules.results_first else behind[0].parts
    return sum(part.kind == "result" for part in parts) == count


def _anywhere(messages: Sequence[Message], *, pending: bool, held: bool) -> Iterator[str]:
    """A call waits until its result comes, under an id that nobody else waits under."""
    waiting: dict[str, int] = {}
    done: set[str] = set()
    for number, old in enumerate(messages):
        for part in old.parts:
            if part.kind == "call":
                if part.call_id in waiting:
                    yield f"two calls wait under {part.call_id!r}"
                waiting[part.call_id] = number
            elif part.kind == "result" and part.call_id in waiting:
                done.add(part.call_id)
                del waiting[part.call_id]
            elif part.kind == "result" and (part.call_id in done or not held):
                yield f"the result {part.call_id!r} answers no call"
    excused = _last_step(messages) if pending else range(0)
    for call_id, number in waiting.items():
        if number not in excused:
            yield f"the call {call_id!r} has no result"


def _last_step(messages: Sequence[Message]) -> range:
    """What the model said last, if nothing but results stands behind it."""
    stop = len(messages)
    while stop and messages[stop - 1].role == "tool":
        stop -= 1
    start = stop
    while start and messages[start - 1].role == "assistant":
        start -= 1
    return range(start, stop)


def _ids(messages: Sequence[Message], steps: Sequence[Step], rules: Rules) -> Iterator[str]:
    if not rules.needs_ids:
        return
    used: set[str] = set()
    for start, stop in steps:
        used = used if rules.unique_ids else set()
        for call in _calls(messages[start:stop]):
            if not call.call_id or (rules.id_illegal and rules.id_illegal.search(call.call_id)):
                yield f"the id {call.call_id!r} is not legal"
            if rules.id_chars is not None and len(call.call_id) > rules.id_chars:
                yield f"the id {call.call_id!r} is too long"
            if call.call_id in used:
                yield f"the id {call.call_id!r} is used twice"
            used.add(call.call_id)
