"""All verdicts of a session by key: what was recorded first stands, in every process.

A ledger lives in a journal. Where the journal cannot be written it goes on in memory, says so once,
and writes what it held back as soon as the disk works again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import msgspec

from headgate.errors import StoreError
from headgate.events import LedgerRepaired
from headgate.journal import Journal
from headgate.locks import Guard
from headgate.types import KINDS, Ref, Verdict


class Key(msgspec.Struct, frozen=True, gc=False):
    """Which result of which conversation: forks and reused ids are told apart without a name.

    A struct and no dataclass: a request makes one for each of its results, and looks it up.
    """

    prefix: bytes
    """Hash chain of the history before the call; empty where it is not known."""
    call_id: str
    digest: bytes
    """Of the content."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One line of the ledger."""

    key: Key
    verdict: Verdict
    time_ns: int


@dataclass(frozen=True, slots=True)
class EpochEntry:
    """A moment at which old results moved down: it holds for histories that contain `anchor`."""

    anchor: bytes
    """Hash chain of the history as it was then: a fork that left before does not contain it."""
    why: str
    moves: Mapping[Key, Verdict]
    time_ns: int


class ReadBack(msgspec.Struct, frozen=True, array_like=True, tag="read", gc=False):
    """A part of an original that was given back, and how many tokens of it."""

    time_ns: int
    ref: Ref
    tokens: int


class Recorded(msgspec.Struct, frozen=True, array_like=True, tag="verdict", gc=False):
    """An entry as it stands in the journal; a later version may append fields, or other records."""

    time_ns: int
    prefix: bytes
    call_id: bytes
    digest: bytes
    verdict: msgspec.Raw


class RecordedEpoch(msgspec.Struct, frozen=True, array_like=True, tag="epoch"):
    """An epoch as it stands in the journal."""

    time_ns: int
    anchor: bytes
    why: str
    moves: tuple[Recorded, ...]


RECORD: Final = msgspec.msgpack.Decoder(Recorded | RecordedEpoch | ReadBack)
VERDICT: Final = msgspec.msgpack.Decoder(Verdict)
ENCODER: Final = msgspec.msgpack.Encoder()


class Ledger:
    """The verdicts of one session, in the order they were recorded.

    Opening one reads nothing; the first question does. `None` in place of a journal keeps all in
    memory. Where this process had to decide without its disk and another was first to write, the
    written verdict stands as soon as it is seen.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = journal
        self._guard = Guard()
        self._entries: dict[Key, Entry | Recorded] = {}
        self._by_call: dict[str, list[Key]] | None = None
        self._epochs: dict[bytes, EpochEntry] = {}
        self._reads: dict[ReadBack, None] = {}  # a record may come twice
        self._unwritten: dict[Key | bytes, bytes] = {}
        self._failing: str | None = None
        self._failure: str | None = None

    def find(self, key: Key) -> Verdict | None:
        """The verdict that stands; what others wrote is looked for only where we have none."""
        with self._guard.lock:
            if key not in self._entries:
                self._refresh()
                if key not in self._entries:
                    return None
            return self._entry(key).verdict

    def recall(self, key: Key) -> Verdict | None:
        """The verdict that stands as far as this process has read; `epochs` reads what is new."""
        entry = self._entries.get(key)
        if isinstance(entry, Recorded):
            with self._guard.lock:
                entry = self._entry(key)
        return entry.verdict if entry is not None else None

    def record(self, entries: Sequence[tuple[Key, Verdict]], *, time_ns: int) -> list[Verdict]:
        """Record verdicts, and answer with those that stand: the first of each key."""
        with self._guard.lock:
            for key, verdict in entries:
                if key not in self._entries:
                    self._add(key, Entry(key, verdict, time_ns))
                    self._unwritten[key] = _encoded(key, verdict, time_ns)
            if self._unwritten:
                self._write()
            return [self._entry(key).verdict for key, _ in entries]

    def open_epoch(self, opened: EpochEntry) -> EpochEntry:
        """Record that results move down from here on; of two for one anchor the first stands."""
        with self._guard.lock:
            if opened.anchor not in self._epochs:
                self._epochs[opened.anchor] = opened
                self._unwritten[opened.anchor] = _encoded_epoch(opened)
            if self._unwritten:
                self._write()
            return self._epochs[opened.anchor]

    def epochs(self, anchors: Collection[bytes] | None = None) -> list[EpochEntry]:
        """The epochs that hold for a history whose chain has these links, oldest first; or all."""
        with self._guard.lock:
            self._refresh()
            epochs = self._epochs.items()
            return [entry for anchor, entry in epochs if anchors is None or anchor in anchors]

    def note_read(self, read: ReadBack) -> None:
        """Note that a part of an original was given back; a journal that fails forgets it."""
        with self._guard.lock:
            if self._journal is None:
                self._reads[read] = None
                return
            try:
                self._journal.append(lambda records: self._noting(records, read))
            except StoreError as error:
                self._failed(str(error))

    def reads(self) -> list[ReadBack]:
        """All that was given back, oldest first."""
        with self._guard.lock:
            self._refresh()
            return list(self._reads)

    def by_call(self, call_id: str) -> list[Entry]:
        """What was recorded for a call id, oldest first; several where the id came back."""
        with self._guard.lock:
            self._refresh()
            return self._of_call(call_id)

    def recall_by_call(self, call_id: str) -> list[Entry]:
        """The same, as far as this process has read."""
        with self._guard.lock:
            return self._of_call(call_id)

    def by_ref(self, ref: Ref) -> list[Entry]:
        """What was recorded with a ref, oldest first."""
        return [entry for entry in self if entry.verdict.ref == ref]

    def last(self, tool: str | None = None) -> Entry | None:
        """The newest entry, of one tool or of any."""
        with self._guard.lock:
            self._refresh()
            newest_first = (self._entry(key) for key in reversed(self._entries))
            return next((e for e in newest_first if tool is None or e.verdict.tool == tool), None)

    def __iter__(self) -> Iterator[Entry]:
        with self._guard.lock:
            self._refresh()
            return iter([self._entry(key) for key in self._entries])

    def __len__(self) -> int:
        with self._guard.lock:
            self._refresh()
            return len(self._entries)

    def take_failure(self) -> str | None:
        """Why verdicts live in memory alone, told once each time that begins."""
        taken, self._failure = self._failure, None
        return taken

    def take_repairs(self) -> list[LedgerRepaired]:
        """What was repaired in the journal since the last time somebody asked."""
        repairs = self._journal.take_repairs() if self._journal else []
        return [LedgerRepaired(r.path, r.lost_bytes, r.kept_records) for r in repairs]

    def _write(self) -> None:
        if self._journal is None:
            self._unwritten.clear()
            return
        try:
            self._journal.append(self._unwritten_after)
        except StoreError as error:
            self._failed(str(error))
            return
        self._unwritten.clear()
        self._failing = None

    def _noting(self, records: list[bytes], read: ReadBack) -> list[bytes]:
        self._take_in(records)
        self._reads[read] = None
        return [ENCODER.encode(read)]

    def _unwritten_after(self, records: list[bytes]) -> list[bytes]:
        if records:
            self._take_in(records)
        return list(self._unwritten.values())

    def _refresh(self) -> None:
        if self._journal is None:
            return
        try:
            self._take_in(self._journal.catch_up())
        except StoreError as error:
            self._failed(str(error))

    def _take_in(self, records: list[bytes]) -> None:
        for record in records:
            try:
                recorded = RECORD.decode(record)
            except msgspec.ValidationError:
                continue  # a kind of record that a later version writes
            if isinstance(recorded, RecordedEpoch):
                self._take_in_epoch(recorded)
                continue
            if isinstance(recorded, ReadBack):
                self._reads[recorded] = None
                continue
            key = _key(recorded)
            if key not in self._entries:
                self._add(key, recorded)
            elif self._unwritten.pop(key, None) is not None:
                self._entries[key] = recorded

    def _take_in_epoch(self, recorded: RecordedEpoch) -> None:
        if recorded.anchor in self._epochs and recorded.anchor not in self._unwritten:
            return
        self._unwritten.pop(recorded.anchor, None)
        moves = {_key(move): _verdict(move.verdict) for move in recorded.moves}
        self._epochs[recorded.anchor] = EpochEntry(
            recorded.anchor, recorded.why, moves, recorded.time_ns
        )

    def _of_call(self, call_id: str) -> list[Entry]:
        if self._by_call is None:
            # Not while opening: a long ledger is mostly asked by key.
            self._by_call = {}
            for key in self._entries:
                self._by_call.setdefault(key.call_id, []).append(key)
        return [self._entry(key) for key in self._by_call.get(call_id, [])]

    def _add(self, key: Key, entry: Entry | Recorded) -> None:
        self._entries[key] = entry
        if self._by_call is not None:
            self._by_call.setdefault(key.call_id, []).append(key)

    def _entry(self, key: Key) -> Entry:
        entry = self._entries[key]
        if isinstance(entry, Recorded):
            entry = Entry(key, _verdict(entry.verdict), entry.time_ns)
            self._entries[key] = entry
        return entry

    def _failed(self, reason: str) -> None:
        if self._failing != reason:
            self._failing = self._failure = reason


def _encoded(key: Key, verdict: Verdict, time_ns: int) -> bytes:
    return ENCODER.encode(_recorded(key, verdict, time_ns))


def _encoded_epoch(epoch: EpochEntry) -> bytes:
    moves = tuple(_recorded(key, verdict, epoch.time_ns) for key, verdict in epoch.moves.items())
    return ENCODER.encode(RecordedEpoch(epoch.time_ns, epoch.anchor, epoch.why, moves))


def _key(recorded: Recorded) -> Key:
    return Key(recorded.prefix, _text(recorded.call_id), recorded.digest)


def _recorded(key: Key, verdict: Verdict, time_ns: int) -> Recorded:
    try:
        body = ENCODER.encode(verdict)
    except UnicodeEncodeError:
        # Lone surrogates are no UTF-8, but a call id or a tool's name may hold one: bytes then.
        body = ENCODER.encode(
            {name: _bytes(v) if isinstance(v, str) else v for name, v in asdict(verdict).items()}
        )
    return Recorded(time_ns, key.prefix, _bytes(key.call_id), key.digest, msgspec.Raw(body))


def _verdict(body: msgspec.Raw) -> Verdict:
    try:
        return VERDICT.decode(body)
    except msgspec.ValidationError:
        fields = msgspec.msgpack.decode(body, type=dict[str, object])
        texts = {name: _text(v) if isinstance(v, bytes) else v for name, v in fields.items()}
        kind = texts.get("kind")
        return msgspec.convert({**texts, "kind": kind if kind in KINDS else None}, Verdict)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")
