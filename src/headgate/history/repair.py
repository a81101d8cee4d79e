"""Repair: a history that the provider accepts, out of one that it may not.

It is positional, idempotent and loud. A valid history is given back as the same object; one that
cannot be mended goes out as it came, never half mended.
"""

from __future__ import annotations

import msgspec

from headgate.dialects import dialect_named
from headgate.dialects.dialect import CannotAnswer
from headgate.dialects.history import History, Message
from headgate.history.empties import alternating, answerable, filled
from headgate.history.own import OWN, Settling
from headgate.history.placing import placed
from headgate.history.report import Case, Fix, Interrupted, Known, Repaired, Spoken, Unrepairable
from headgate.history.sound import unsound
from headgate.history.surrogates import without_halves
from headgate.policy import Twins


def repair(
    history: History,
    *,
    pending: bool = False,
    known: Known | None = None,
    interrupted: Interrupted | None = None,
    twins: Twins = "alike",
    spoken: Spoken | None = None,
) -> Repaired:
    """Give every call its one result, every result its call, and the provider what it demands.

    `pending`: the calls of the last assistant message still wait for their results. `known` gives
    the real result of a call that has none here; what it says for a call must never change, because
    it was sent. `interrupted` says which calls were sent as interrupted: their real results, where
    they come later, are taken out and reported, so that what was sent stays. `twins`: which second
    calls under one id are taken out of a message; others get an id of their own. `spoken` says
    whether a call was sent as interrupted before another was made, so that they are two answers.
    """
    case = Case(dialect_named(history.dialect), pending, known, interrupted, twins, spoken)
    if history.server_held and not case.dialect.rules.rewrites_held:
        return Repaired(history)
    try:
        mended, fixes = _mended(history, case)
        left = _left_over(mended, case) if fixes else None
    except (Unrepairable, CannotAnswer) as reason:
        return Repaired(history, gave_up=str(reason))
    if left is not None:
        return Repaired(history, gave_up=left)
    return Repaired(mended if fixes else history, tuple(fixes))


def _mended(history: History, case: Case) -> tuple[History, list[Fix]]:
    fixes: list[Fix] = []
    for step in _STEPS:
        history, done = step(history, case)
        fixes += done
    return history, fixes


def _left_over(mended: History, case: Case) -> str | None:
    """What is still wrong with the bytes that would be sent, read again as the provider does."""
    # What goes out as it came was read from these very bytes.
    came = {old.raw: old for old in mended.read_messages}

    def read(raw: bytes, at: int) -> Message:
        known = came.get(raw)
        return msgspec.structs.replace(known, at=at) if known else case.dialect.message(raw, at)

    again = case.dialect.read(case.dialect.write(mended), read)
    wrong = unsound(again, case.dialect.rules, pending=case.pending)
    if wrong is not None:
        return wrong
    _, fixes = _mended(again, case)
    return f"a second repair would find: {fixes[0]}" if fixes else None


def _tidied(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Mend what is refused inside of single messages."""
    tidied = OWN[case.dialect.name].tidied
    fixes: list[Fix] = []
    messages = list(history.messages)
    for number, old in enumerate(history.messages):
        mended, _ = tidied(old, "")
        if mended is not old:
            # Once more, to tell where it stands: the place of one that is tidy need not be spelled.
            messages[number], done = tidied(old, history.where(old))
            fixes += done
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _settled(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Mend what only this provider refuses in a history as a whole."""
    return OWN[case.dialect.name].settled(history, case)


_STEPS: tuple[Settling, ...] = (
    without_halves,
    _tidied,
    placed,
    filled,
    alternating,
    _settled,
    filled,  # Once more: what was settled may have emptied a message.
    answerable,
)
