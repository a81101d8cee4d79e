"""Whether calls and results stand as they nearly always do, seen in one pass over a history.

It errs to one side only: what it is not sure of is paired and placed properly.
"""

from __future__ import annotations

from collections.abc import Sequence

from headgate.dialects.dialect import CannotAnswer, Dialect, Rules
from headgate.dialects.history import Message, Part


def is_orderly(messages: Sequence[Message], dialect: Dialect) -> bool:
    """Whether behind each step stand its results, all of them, in the order of their calls."""
    rules = dialect.rules
    used: set[str] = set()
    calls: list[Part] = []
    answered = 0
    for message in messages:
        waits = answered < len(calls)
        if message.role == "assistant":
            if waits and (answered or rules.placing != "anywhere" or not _calls(message)):
                return False
            if not waits:
                calls, answered = [], 0
            if rules.placing == "directly":
                used = set()
            if not _takes_in(message, rules, used, calls):
                return False
            continue
        results = _answered(message, calls[answered:], dialect)
        if results is None or (waits and not results):
            return False
        answered += results
        if rules.placing == "next" and answered < len(calls):
            return False
    return answered == len(calls)


def _calls(message: Message) -> bool:
    return any(part.kind == "call" for part in message.parts)


def _takes_in(message: Message, rules: Rules, used: set[str], calls: list[Part]) -> bool:
    """Add the calls of a message; whether each can go out as it is."""
    for part in message.parts:
        if part.kind == "result" or part.kind == "server_call":
            return False
        if part.kind != "call":
            continue
        if rules.needs_ids and not _is_free(part.call_id, rules, used):
            return False
        used.add(part.call_id)
        calls.append(part)
    return True


def _is_free(call_id: str, rules: Rules, used: set[str]) -> bool:
    if not call_id or call_id in used:
        return False
    if rules.id_chars is not None and len(call_id) > rules.id_chars:
        return False
    return rules.id_illegal is None or rules.id_illegal.search(call_id) is None


def _answered(message: Message, calls: Sequence[Part], dialect: Dialect) -> int | None:
    """How many calls a message answers; None where something in it has to be looked at."""
    results = 0
    for place, part in enumerate(message.parts):
        if part.kind == "call" or part.kind == "server_call":
            return None
        if part.kind != "result":
            continue
        # Results come first, and one that nobody waits for is no answer.
        if place != results or results == len(calls) or not _is_its(part, calls[results], dialect):
            return None
        results += 1
    return results


def _is_its(result: Part, call: Part, dialect: Dialect) -> bool:
    if dialect.rules.needs_ids and result.call_id != call.call_id:
        return False
    try:
        return dialect.answering(result, call) is result
    except CannotAnswer:
        return False
