"""The index of a store: what is kept under which ref, and which calls it came from."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final, TypeAlias

import msgspec

from headgate.journal import Journal
from headgate.locks import Guard
from headgate.types import About, Ref


class Kept(msgspec.Struct, frozen=True, array_like=True, tag="kept", gc=False):
    """An original that the store keeps. A later version may append fields, or other records."""

    ref: Ref
    sha256: bytes
    length: int
    lines: int
    chunk_bytes: int
    chunk_lines: tuple[int, ...]
    sums: bytes
    call_id: bytes
    tool: bytes
    time_ns: int
    file: bytes
    """Name of the plain file, or its whole path where it is elsewhere; empty: there is none."""
    full_length: int = 0
    """How long the original was, where only its first `length` bytes are kept; 0: all are."""


class Again(msgspec.Struct, frozen=True, array_like=True, tag="again", gc=False):
    """The same content came again, from another call: kept once, listed twice."""

    ref: Ref
    call_id: bytes
    tool: bytes
    time_ns: int
    file: bytes


class Packed(msgspec.Struct, frozen=True, array_like=True, tag="packed", gc=False):
    """An original was compressed; its plain files are gone."""

    ref: Ref
    time_ns: int


class Gone(msgspec.Struct, frozen=True, array_like=True, tag="gone"):
    """Tombstones: what was kept under these refs is kept no more."""

    refs: tuple[Ref, ...]
    why: str
    time_ns: int


Line: TypeAlias = Kept | Again
"""What one call brought."""

Record: TypeAlias = Line | Packed | Gone
RECORD: Final = msgspec.msgpack.Decoder(Record)
ENCODER: Final = msgspec.msgpack.Encoder()

HOUR_NS: Final = 3_600 * 10**9

REWRITE_RECORDS: Final = 4_096
"""An index with so many records that say nothing any more, and most of them do, is rewritten."""


class Index:
    """What a session's store keeps, as its journal says; shared by every process that opens it."""

    def __init__(self, journal: Journal, files: str) -> None:
        self._journal = journal
        self._files_path = files
        self._guard = Guard()
        self._kept: dict[Ref, Kept] = {}
        self._calls: dict[tuple[Ref, bytes, bytes], Line] = {}
        self._of_ref: dict[Ref, list[tuple[Ref, bytes, bytes]]] = {}
        self._owners: dict[bytes, Ref] = {}
        self._packed: set[Ref] = set()
        self._gone: dict[Ref, Gone] = {}
        self._records = 0

    def find(self, ref: Ref) -> Kept | None:
        """What is kept under a ref; others' records are looked for only where we have none."""
        with self._guard.lock:
            kept = self._kept.get(ref)
            if kept is None and (others := self._journal.catch_up()):
                self._take_in(others)
                kept = self._kept.get(ref)
            return kept

    def note(self, *records: Record) -> None:
        """Write records; they are there, for every process, when this returns."""
        lines = [ENCODER.encode(record) for record in records]

        def after(others: list[bytes]) -> list[bytes]:
            if others:
                self._take_in(others)
            return lines

        with self._guard.lock:
            self._journal.append(after)
            for record in records:
                self._take(record)

    def refresh(self) -> None:
        """Read what others wrote."""
        with self._guard.lock:
            self._take_in(self._journal.catch_up())

    def gone(self, ref: Ref) -> Gone | None:
        """The tombstone of a ref, as fresh as can be: another process may have removed it now."""
        with self._guard.lock:
            self._take_in(self._journal.catch_up())
            return self._gone.get(ref)

    def files_of(self, refs: Collection[Ref]) -> dict[Ref, list[bytes]]:
        """The plain files of these originals, as they are listed."""
        with self._guard.lock:
            return {ref: self._files_of(ref) for ref in refs}

    def is_packed(self, ref: Ref) -> bool:
        """Whether an original was compressed."""
        return ref in self._packed

    def tidy(self) -> None:
        """Rewrite an index most of whose records say nothing any more."""
        with self._guard.lock:
            self._take_in(self._journal.catch_up())
            standing = len(self._calls) + len(self._packed)
            if self._records - standing > max(REWRITE_RECORDS, standing):
                self._journal.rewrite(self._rewritten)
                self._records = 0

    def _rewritten(self, records: list[bytes]) -> list[bytes]:
        """What still says something: calls, what was compressed, and tombstones in few records."""
        self._take_in(records)
        calls = [call for call in self._calls.values() if call.ref in self._kept]
        # A call that brought content again says nothing without the record of the content.
        listed = {id(call) for call in calls}
        first = [kept for kept in self._kept.values() if id(kept) not in listed]
        packed = [Packed(ref, 0) for ref in sorted(self._packed)]
        together: dict[tuple[str, int], list[Ref]] = {}
        for ref, gone in self._gone.items():
            together.setdefault((gone.why, gone.time_ns // HOUR_NS * HOUR_NS), []).append(ref)
        tombs = [Gone(tuple(refs), why, time_ns) for (why, time_ns), refs in together.items()]
        return [msgspec.msgpack.encode(record) for record in [*tombs, *first, *calls, *packed]]

    def listed(self, ref: Ref, call_id: bytes, tool: bytes) -> Line | None:
        """The line of this call with this content."""
        return self._calls.get((ref, call_id, tool))

    def owner(self, file: bytes) -> Ref | None:
        """The ref whose plain file this is."""
        with self._guard.lock:
            if file not in self._owners:
                self._take_in(self._journal.catch_up())
            return self._owners.get(file)

    def all(self) -> list[Kept]:
        """Everything kept, in the order it came."""
        with self._guard.lock:
            self._take_in(self._journal.catch_up())
            return list(self._kept.values())

    def about(self, call: Line) -> About:
        """What a reader may know of an original, as one call brought it."""
        kept = self._kept.get(call.ref) if isinstance(call, Again) else call
        assert kept is not None
        file = b"" if call.ref in self._packed else call.file or kept.file
        return About(
            kept.ref,
            kept.sha256.hex(),
            kept.length,
            kept.lines,
            as_text(call.call_id),
            as_text(call.tool),
            call.time_ns,
            kept.chunk_bytes,
            kept.chunk_lines,
            self._path(file) if file else None,
            kept.full_length or None,
        )

    def _path(self, file: bytes) -> str:
        name = os.fsdecode(file)
        return name if name.startswith("/") else f"{self._files_path}/{name}"

    def _take_in(self, records: list[bytes]) -> None:
        for record in records:
            try:
                self._take(RECORD.decode(record))
            except msgspec.ValidationError:
                continue  # a kind of record that a later version writes

    def _take(self, record: Record) -> None:
        self._records += 1
        if isinstance(record, Gone):
            self._take_gone(record)
            return
        if isinstance(record, Packed):
            self._packed.add(record.ref)
            return
        call = (record.ref, record.call_id, record.tool)
        if self._calls.pop(call, None) is None:
            self._of_ref.setdefault(record.ref, []).append(call)
        self._calls[call] = record
        if record.file:
            self._owners[record.file] = record.ref
        if isinstance(record, Kept):
            self._kept[record.ref] = record
            self._packed.discard(record.ref)
            self._gone.pop(record.ref, None)

    def _take_gone(self, record: Gone) -> None:
        for ref in record.refs:
            for file in self._files_of(ref):
                del self._owners[file]
            for call in self._of_ref.pop(ref, ()):
                del self._calls[call]
            self._kept.pop(ref, None)
            self._packed.discard(ref)
            self._gone[ref] = record

    def _files_of(self, ref: Ref) -> list[bytes]:
        """The plain files of an original, as they are listed; a name that another took is not."""
        files = {self._calls[call].file for call in self._of_ref.get(ref, ())}
        return sorted(file for file in files if self._owners.get(file) == ref)


def as_bytes(text: str) -> bytes:
    """Text as the index holds it: a call id or a tool's name may have lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def as_text(raw: bytes) -> str:
    """The text that `as_bytes` was given."""
    return raw.decode("utf-8", "surrogatepass")
