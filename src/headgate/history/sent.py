"""Repair that knows what was sent before: real results found again, and synthetic ones that stay.

What was decided is found by the chain of what was sent. That is the chain of what came, but behind
a repair, where it is known only as far as the history before it was repaired as it was then. So a
history with several faults may take several rounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from headgate.dialects.history import History, Part
from headgate.history.mending import MADE
from headgate.history.repair import repair
from headgate.history.report import Asked, Real, Repaired
from headgate.history.seen import Seen
from headgate.ledger import Entry, Ledger
from headgate.policy import Twins

MOST_ROUNDS = 4


def repaired_as_sent(
    history: History, ledger: Ledger, seen: Seen, twins: Twins, *, pending: bool
) -> Repaired:
    """The history repaired, with all that was sent of it as it was sent."""
    sent: Mapping[bytes, bytes] = {}
    last: tuple[Repaired, Lookup] | None = None
    for _ in range(MOST_ROUNDS):
        lookup = Lookup(ledger, sent)
        repaired = repair(
            history,
            pending=pending,
            known=lookup.known,
            interrupted=lookup.was_interrupted,
            twins=twins,
            spoken=lookup.was_spoken_between,
        )
        before, sent = sent, {}
        if repaired.fixes and lookup.asked:
            sent = _as_sent(repaired.history, seen.chain(repaired.history), lookup.asked)
        if sent == before:
            break
        if last is not None and last[1].sent == sent and lookup.found > last[1].found:
            # The two lead to each other for ever: by the chain of the last one more was decided.
            return last[0]
        last = repaired, lookup
    return repaired


def _as_sent(
    repaired: History, chain: Collection[bytes], asked: Collection[bytes]
) -> dict[bytes, bytes]:
    """For each of these links of what came, that of the repaired history, if it is another."""
    last, *links = chain
    messages = zip(repaired.messages, links, strict=True)
    behind = {message.at: link for message, link in messages}
    found: dict[bytes, bytes] = {}
    for at, link in enumerate(repaired.links[1:]):
        last = behind.get(at, last)  # It was joined to the one before, or is gone.
        if link in asked and link != last:
            found[link] = last
    return found


class Lookup:
    """What the ledger says of calls, by the place in which they stand."""

    def __init__(self, ledger: Ledger, sent: Mapping[bytes, bytes]) -> None:
        self.asked: set[bytes] = set()
        """The links at which calls were looked for."""
        self.found = 0
        """How often something was decided there."""
        self.sent = sent
        self._ledger = ledger

    def known(self, asked: Asked) -> Real | None:
        """The real result of a call, unless the history was sent without it before.

        It was decided in this place of this conversation, or let in where no history was known.
        """
        entries = self._decided(asked)
        if not entries and asked.came_as:
            of_id = self._ledger.by_call(asked.came_as)
            entries = [entry for entry in of_id if not entry.key.prefix]
        if len(entries) != 1 or entries[0].verdict.text is None:
            return None
        return Real(entries[0].verdict.text, entries[0].verdict.is_error)

    def was_interrupted(self, asked: Asked) -> bool:
        """Whether this call was sent with the result that says so."""
        return any(entry.verdict.sha256 in MADE for entry in self._decided(asked))

    def was_spoken_between(self, call: Part, other: Part) -> bool:
        """Whether the first went out as interrupted, and the other was not answered with it."""
        if not call.call_id or not other.call_id:
            return False
        of_id = self._ledger.by_call(call.call_id)
        made = {entry.key.prefix for entry in of_id if entry.verdict.sha256 in MADE}
        if not made:
            return False
        return made.isdisjoint(e.key.prefix for e in self._ledger.by_call(other.call_id))

    def _decided(self, asked: Asked) -> list[Entry]:
        """What was decided for a call in this very place; nothing tells those without ids apart."""
        if not asked.links or not asked.call.call_id:
            return []
        self.asked |= asked.links
        there = asked.links | {self.sent[link] for link in asked.links if link in self.sent}
        of_id = self._ledger.by_call(asked.call.call_id)
        decided = [entry for entry in of_id if entry.key.prefix in there]
        self.found += bool(decided)
        return decided
