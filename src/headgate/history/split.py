"""Where a history may be cut in two: never between a call and its result."""

from __future__ import annotations

from headgate.dialects.history import History


def cuts(history: History) -> list[int]:
    """The places before which a summary may end: all calls in front of them are answered there.

    The only forbidden cut is one that parts a call from its result; a user message is not needed.
    """
    open_calls: set[str] = set()
    places: list[int] = []
    for number, message in enumerate(history.messages):
        answers = {part.call_id for part in message.parts if part.kind == "result"}
        if not open_calls and not answers:
            places.append(number)
        open_calls -= answers
        open_calls |= {part.call_id for part in message.parts if part.kind == "call"}
    return places
