"""Messages that hold nothing, messages of one role in a row, and who speaks last."""

from __future__ import annotations

from itertools import groupby, pairwise

from headgate.dialects.history import NEW, History, Message
from headgate.history.report import Case, Fix

NO_CONTENT = "(no content)"
"""What stands in a message that would be empty. One of the user's is dropped only where the message
before it is the user's too: that cannot change when the history grows."""


def filled(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Take out messages without parts, or fill them where that would join others."""
    if not case.dialect.rules.fills_messages or all(old.parts for old in history.messages):
        return history, []
    last = history.messages[-1]
    may_stay = last if case.dialect.rules.may_end_empty and last.role == "assistant" else None
    fixes: list[Fix] = []
    messages: list[Message] = []
    for old in history.messages:
        if old.parts or old is may_stay:
            messages.append(old)
            continue
        before = messages[-1].role if messages else ""
        # Behind words of the system only the assistant may stand.
        is_dropped = old.role == before or (old.role == "assistant" and before != "system")
        if not is_dropped:
            messages.append(case.dialect.with_parts(old, [case.dialect.user_text(NO_CONTENT)]))
        what = f"an empty message is {'taken out' if is_dropped else f'filled: {NO_CONTENT}'}"
        fixes.append(Fix("empty", history.where(old), what))
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def alternating(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Join messages of one role in a row, where the provider wants the roles to alternate."""
    roles = [old.role for old in history.messages]
    if not case.dialect.rules.alternates or all(one != next_ for one, next_ in pairwise(roles)):
        return history, []
    fixes: list[Fix] = []
    messages: list[Message] = []
    for _, group in groupby(history.messages, key=lambda old: old.role):
        first, *others = group
        parts = [part.elsewhere() for old in others for part in old.parts]
        messages.append(case.dialect.with_parts(first, [*first.parts, *parts]) if others else first)
        what = "a message follows one of the same role; they are joined"
        fixes += [Fix("merged", history.where(old), what) for old in others]
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def answerable(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Where all that answered the assistant was taken out, the user says something in its place.

    So the history never ends with the assistant unless it came so, and what stands there today
    stands there when the history has grown.
    """
    before, now = history.read_messages, history.messages
    if now is before or not before:
        return history, []
    fixes: list[Fix] = []
    messages: list[Message] = []
    for number, old in enumerate(now):
        messages.append(old)
        after = now[number + 1] if number + 1 < len(now) else None
        # With calls that wait, results are still to come behind the last message.
        speaks_on = after.role == "assistant" if after else not case.pending
        if old.role == "assistant" and speaks_on and _was_answered(old, before):
            messages += case.dialect.carrying([case.dialect.user_text(NO_CONTENT)])
            what = f"what answered the assistant was taken out; the user says {NO_CONTENT}"
            fixes.append(Fix("tail", history.where(old), what))
    if not messages:
        messages = case.dialect.carrying([case.dialect.user_text(NO_CONTENT)])
        fixes.append(Fix("tail", history.key, f"nothing is left; the user says {NO_CONTENT}"))
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _was_answered(old: Message, before: tuple[Message, ...]) -> bool:
    after = old.at + 1
    return old.at != NEW and after < len(before) and before[after].role != "assistant"
