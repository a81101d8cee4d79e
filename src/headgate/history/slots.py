"""The results of a history, each with what was decided about it: fresh, frozen or replaced.

A result is looked for under the chain of what stands before it. One that the gate let in without
knowing the history is found by its call: as the original, or as the text that was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from headgate.arrive import Identity
from headgate.dialects.history import History, Message, Part
from headgate.history.groups import Group
from headgate.history.seen import Seen
from headgate.ledger import Key, Ledger
from headgate.types import ToolResult, Verdict

State = Literal["fresh", "frozen", "replaced"]


class Slot(msgspec.Struct, frozen=True, gc=False):
    """One result in a history."""

    message: int
    place: int
    part: Part
    identity: Identity
    key: Key
    known: Verdict | None
    turns: int
    """How often the user has spoken since."""

    @property
    def result(self) -> ToolResult:
        """The result as the gate takes it."""
        return self.identity.result

    @property
    def state(self) -> State:
        """Fresh: to be decided. Frozen: seen whole. Replaced: the recorded text once more."""
        if self.known is None:
            return "fresh"
        return "frozen" if self.known.text is None else "replaced"


@dataclass(frozen=True, slots=True)
class Recall:
    """What the ledger knows of one history: its verdicts, moved by the epochs that hold for it."""

    ledger: Ledger
    moved: Mapping[Key, Verdict]
    anchors: frozenset[bytes] = frozenset()
    """Of the epochs that hold."""

    def of(self, key: Key, identity: Identity) -> Verdict | None:
        """The verdict that stands for a result; None: it is fresh."""
        found = self.moved.get(key) or self.ledger.recall(key)
        if found is not None:
            return found
        unknown = Key(b"", key.call_id, key.digest)
        return self.ledger.recall(unknown) or self._let_in(key.call_id, identity)

    def _let_in(self, call_id: str, identity: Identity) -> Verdict | None:
        """The verdict of a result that stands here as it was shown; it stays as it is."""
        text = identity.original
        for entry in reversed(self.ledger.recall_by_call(call_id)):
            shown = entry.verdict.text
            if shown is not None and shown.encode("utf-8", "surrogatepass") == text:
                return replace(entry.verdict, text=None)
        return None


def recall_for(ledger: Ledger, links: Sequence[bytes]) -> Recall:
    """Collect the epochs that hold for a history with this chain; a later one goes before.

    What other processes wrote is read here, once for all results.
    """
    moved: dict[Key, Verdict] = {}
    epochs = ledger.epochs(frozenset(links))
    for epoch in epochs:
        moved.update(epoch.moves)
    return Recall(ledger, moved, frozenset(epoch.anchor for epoch in epochs))


def free_anchor(links: Sequence[bytes], recall: Recall) -> bytes:
    """Where the next epoch of a history begins to hold: its newest link that has none yet.

    A request that was refused as too long is prepared again, and then its last link has one.
    """
    free = (link for link in reversed(links) if link not in recall.anchors)
    return next(free, links[-1])


def slots_of(
    group: Group, history: History, seen: Seen, prefix: bytes, turns: int, recall: Recall
) -> list[Slot]:
    """The results of one group that say something, with what is known of each."""
    slots: list[Slot] = []
    for spot, call in group.answered:
        number, place = spot.place
        identity = seen.identity(history.messages[number], place, call)
        if not identity.original or identity.original.isspace():
            continue
        key = Key(prefix, identity.result.call_id, identity.digest)
        known = recall.of(key, identity)
        slots.append(Slot(number, place, spot.part, identity, key, known, turns))
    return slots


def turns_after(messages: Sequence[Message]) -> list[int]:
    """For each message, how often the user speaks behind it."""
    counts: list[int] = []
    spoken = 0
    for message in reversed(messages):
        counts.append(spoken)
        if message.role == "user":
            spoken += speaks_for_user(message)
    return counts[::-1]


def speaks_for_user(message: Message) -> bool:
    """Whether the user says something here, beside results."""
    if message.role != "user":
        return False
    return any(part.kind == "text" or part.kind == "media" for part in message.parts)
