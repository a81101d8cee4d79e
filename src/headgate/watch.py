"""The guards of one session at work: they decide before calls run, and learn from what came back.

What was counted stands in a journal beside the ledger. So neither a restart nor a shortened history
makes a guard forget, and several processes on one session count together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import Final, TypeVar

import msgspec

from headgate.arrive import identify
from headgate.events import GuardTripped
from headgate.gate import Gate
from headgate.guards import (
    Answered,
    Asked,
    Noted,
    Tally,
    Trip,
    TurnBegan,
    call_digest,
    counted,
    error_digest,
    tripped,
)
from headgate.locks import Guard
from headgate.notebook import Notebook
from headgate.slices import NotJson
from headgate.tool import NAME as READ_RESULT
from headgate.types import NOTHING, Call, Text, ToolResult
from headgate.values import value_of

N = TypeVar("N", bound=TurnBegan | Asked | Answered)

NOTED: Final = msgspec.msgpack.Decoder(TurnBegan | Asked | Answered)

NAME_CHARS: Final = 64
"""What is kept of a tool's name or a ref: a model may write anything there."""


class Watch:
    """Watches the calls of a session; the rules are those of its policy."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._guards = gate.policy.guards
        self._notebook = Notebook(gate, "guards")
        self._guard = Guard(RLock)
        self._tally = Tally()
        self._has_begun = False

    def begin_turn(self) -> None:
        """The user spoke: all counts begin again."""
        self._note(lambda: [self._counted(TurnBegan())])

    def ask(self, calls: Sequence[Call]) -> list[Trip | None]:
        """What each call of a batch is met with; None: it runs as it is.

        A warning goes to the model with the result. A call that is blocked is not run, nor is one
        that halts the turn, nor any behind it in the batch.
        """
        trips: list[Trip | None] = []
        self._note(lambda: [self._decided(call, trips) for call in calls])
        for event in tripped_events(calls, trips):
            self._gate.emit(event)
        return trips

    def learn(self, results: Sequence[ToolResult]) -> None:
        """Take in what came back for calls that were run."""
        self._note(lambda: [self._counted(answered_of(result)) for result in results])

    def _decided(self, call: Call, trips: list[Trip | None]) -> Asked:
        """Decide on a call, `trips` being those of the calls before it in the batch."""
        asked = asked_of(call)
        last = trips[-1] if trips else None
        if last is not None and last.action == "halt":
            trip: Trip | None = replace(last, is_behind=True)
        else:
            trip = tripped(self._tally, asked, self._guards)
        trips.append(trip)
        if trip is not None and trip.action != "warn":
            asked = msgspec.structs.replace(asked, refused=trip.rule)
        return self._counted(asked)

    def _counted(self, noted: N) -> N:
        self._tally = counted(self._tally, noted)
        return noted

    def _note(self, decide: Callable[[], Sequence[Noted]]) -> None:
        """Write down what is decided while nobody else writes."""

        def after(records: list[bytes]) -> list[bytes]:
            self._take_in(records)
            # A journal begins with a turn: read from its start once more, it is counted once.
            first: list[Noted] = [] if self._has_begun else [TurnBegan()]
            self._has_begun = True
            return [msgspec.msgpack.encode(noted) for noted in (*first, *decide())]

        with self._guard.lock:
            self._notebook.write(after)

    def _take_in(self, records: Sequence[bytes]) -> None:
        """Count what others wrote, or all of it again where the journal was replaced."""
        begins = False
        for noted in _read(records):
            self._counted(noted)
            begins = begins or isinstance(noted, TurnBegan)
        self._has_begun = self._has_begun or begins
        for noted in _read(self._notebook.unwritten) if begins else ():
            self._counted(noted)


def _read(records: Iterable[bytes]) -> Iterator[Noted]:
    for record in records:
        # What cannot be read is a kind of record that a later version writes.
        with suppress(msgspec.ValidationError):
            yield NOTED.decode(record)


def asked_of(call: Call) -> Asked:
    """A call as a guard looks at it."""
    arguments = arguments_of(call)
    ref = ""
    if call.tool == READ_RESULT:
        ref = str(arguments.get("ref") or f"the last of {arguments.get('tool') or 'any tool'}")
    return Asked(_name(call.tool), call_digest(call.tool, arguments), _name(ref))


def answered_of(result: ToolResult) -> Answered:
    """A result as a guard looks at it."""
    sha256 = result.verdict.sha256 if result.verdict else identify(result).sha256
    digest = bytes.fromhex(sha256)[:16] + (b"error" if result.is_error else b"")
    error = error_digest(result.tool, result.text, result.arguments) if result.is_error else b""
    call = call_digest(result.tool, result.arguments)
    return Answered(_name(result.tool), call, digest, error)


def arguments_of(call: Call) -> Mapping[str, object]:
    """The arguments as an object; a text that is none stands for itself."""
    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        read = value_of(call.arguments or "{}")
    except NotJson:
        return {"": call.arguments}
    return read if isinstance(read, dict) else {"": call.arguments} if read else NOTHING


def refusal(call: Call, trip: Trip) -> ToolResult:
    """The result of a call that is not run."""
    blocks = (Text(trip.text),)
    return ToolResult(call.call_id, call.tool, blocks, is_error=True, arguments=arguments_of(call))


def tripped_events(calls: Sequence[Call], trips: Sequence[Trip | None]) -> list[GuardTripped]:
    """What listeners hear of a batch; a call behind one that halts went beyond nothing itself."""
    return [
        GuardTripped(
            trip.rule, trip.action, call.tool, call.call_id, trip.count, trip.most, trip.text
        )
        for call, trip in zip(calls, trips, strict=True)
        if trip is not None and not trip.is_behind
    ]


def _name(text: str) -> str:
    return text[:NAME_CHARS].encode("utf-8", "backslashreplace").decode()
