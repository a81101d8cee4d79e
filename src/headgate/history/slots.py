"""The results of a history, each with what was decided about it: fresh, frozen or replaced.

A result is looked for under the chain of what stands before it. One that the gate let in without
knowing the history is found by its call: as the original, or as the text that was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from headgate.arrive import Identity, identify
from headgate.dialects.dialect import Dialect
from headgate.dialects.history import History, Message, Part
from headgate.history.groups import Group
from headgate.ledger import Key, Ledger
from headgate.types import ToolResult, Verdict

State = Literal["fresh", "frozen", "replaced"]


@dataclass(frozen=True, slots=True)
class Slot:
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

    def of(self, key: Key, identity: Identity) -> Verdict | None:
        """The verdict that stands for a result; None: it is fresh."""
        unknown = replace(key, prefix=b"")
        found = self.moved.get(key) or self.ledger.find(key) or self.ledger.find(unknown)
        return found or self._let_in(key.call_id, identity)

    def _let_in(self, call_id: str, identity: Identity) -> Verdict | None:
        """The verdict of a result that stands here as it was shown; it stays as it is."""
        text = identity.original
        for entry in reversed(self.ledger.by_call(call_id)):
            shown = entry.verdict.text
            if shown is not None and shown.encode("utf-8", "surrogatepass") == text:
                return replace(entry.verdict, text=None)
        return None


def recall_for(ledger: Ledger, links: Sequence[bytes]) -> Recall:
    """Collect the epochs that hold for a history with this chain; a later one goes before."""
    moved: dict[Key, Verdict] = {}
    for epoch in ledger.epochs(frozenset(links)):
        moved.update(epoch.moves)
    return Recall(ledger, moved)


def slots_of(
    group: Group, history: History, dialect: Dialect, prefix: bytes, turns: int, recall: Recall
) -> list[Slot]:
    """The results of one group that say something, with what is known of each."""
    slots: list[Slot] = []
    for spot, call in group.answered:
        result = dialect.tool_result(spot.part, call)
        identity = identify(result)
        if not identity.original.strip():
            continue
        key = Key(prefix, result.call_id, identity.digest)
        known = recall.of(key, identity)
        message, place = spot.place
        slots.append(Slot(message, place, spot.part, identity, key, known, turns))
    return slots


def turns_after(messages: Sequence[Message]) -> list[int]:
    """For each message, how often the user speaks behind it."""
    counts: list[int] = []
    spoken = 0
    for message in reversed(messages):
        counts.append(spoken)
        spoken += speaks_for_user(message)
    return counts[::-1]


def speaks_for_user(message: Message) -> bool:
    """Whether the user says something here, beside results."""
    return message.role == "user" and any(part.kind in ("text", "media") for part in message.parts)


def with_texts(history: History, dialect: Dialect, texts: Mapping[tuple[int, int], str]) -> History:
    """The history with other texts in the results at these places."""
    changed: dict[int, dict[int, Part]] = {}
    for (message, place), text in texts.items():
        part = dialect.with_text(history.messages[message].parts[place], text)
        changed.setdefault(message, {})[place] = part
    if not changed:
        return history
    return history.with_messages(tuple(_rebuilt(history, dialect, changed)))


def _rebuilt(
    history: History, dialect: Dialect, changed: Mapping[int, Mapping[int, Part]]
) -> Iterator[Message]:
    for number, message in enumerate(history.messages):
        parts = changed.get(number)
        if parts is None:
            yield message
        else:
            new = [parts.get(place, part) for place, part in enumerate(message.parts)]
            yield dialect.with_parts(message, new)
