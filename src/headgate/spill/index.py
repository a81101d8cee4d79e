"""The index of a store: what is kept under which ref, and which calls it came from."""

from __future__ import annotations

import os
from typing import Final

import msgspec

from headgate.journal import Guard, Journal
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


class Again(msgspec.Struct, frozen=True, array_like=True, tag="again", gc=False):
    """The same content came again, from another call: kept once, listed twice."""

    ref: Ref
    call_id: bytes
    tool: bytes
    time_ns: int
    file: bytes


RECORD: Final = msgspec.msgpack.Decoder(Kept | Again)


class Index:
    """What a session's store keeps, as its journal says; shared by every process that opens it."""

    def __init__(self, journal: Journal, files: str) -> None:
        self._journal = journal
        self._files_path = files
        self._guard = Guard()
        self._kept: dict[Ref, Kept] = {}
        self._calls: dict[tuple[Ref, bytes, bytes], Kept | Again] = {}
        self._owners: dict[bytes, Ref] = {}

    def find(self, ref: Ref) -> Kept | None:
        """What is kept under a ref; others' records are looked for only where we have none."""
        with self._guard:
            if ref not in self._kept:
                self._take_in(self._journal.catch_up())
            return self._kept.get(ref)

    def add(self, record: Kept | Again) -> About:
        """Write a record; it is there, for every process, when this returns."""
        line = msgspec.msgpack.encode(record)

        def take_in(records: list[bytes]) -> list[bytes]:
            self._take_in(records)
            return [line]

        with self._guard:
            self._journal.append(take_in)
            self._take(record)
            return self.about(record)

    def listed(self, ref: Ref, call_id: bytes, tool: bytes) -> Kept | Again | None:
        """The line of this call with this content."""
        return self._calls.get((ref, call_id, tool))

    def owner(self, file: bytes) -> Ref | None:
        """The ref whose plain file this is."""
        with self._guard:
            if file not in self._owners:
                self._take_in(self._journal.catch_up())
            return self._owners.get(file)

    def all(self) -> list[Kept]:
        """Everything kept, in the order it came."""
        with self._guard:
            self._take_in(self._journal.catch_up())
            return list(self._kept.values())

    def last(self, tool: str | None = None) -> About | None:
        """The newest original, of one tool or of any."""
        wanted = None if tool is None else as_bytes(tool)
        with self._guard:
            self._take_in(self._journal.catch_up())
            for call in reversed(self._calls.values()):
                if wanted in (None, call.tool) and call.ref in self._kept:
                    return self.about(call)
        return None

    def about(self, call: Kept | Again) -> About:
        """What a reader may know of an original, as one call brought it."""
        kept = self._kept.get(call.ref) if isinstance(call, Again) else call
        assert kept is not None
        file = call.file or kept.file
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
            os.path.join(self._files_path, os.fsdecode(file)) if file else None,
        )

    def _take_in(self, records: list[bytes]) -> None:
        for record in records:
            try:
                self._take(RECORD.decode(record))
            except msgspec.ValidationError:
                continue  # a kind of record that a later version writes

    def _take(self, record: Kept | Again) -> None:
        call = (record.ref, record.call_id, record.tool)
        self._calls.pop(call, None)
        self._calls[call] = record
        if record.file:
            self._owners[record.file] = record.ref
        if isinstance(record, Kept):
            self._kept[record.ref] = record


def as_bytes(text: str) -> bytes:
    """Text as the index holds it: a call id or a tool's name may have lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def as_text(raw: bytes) -> str:
    """The text that `as_bytes` was given."""
    return raw.decode("utf-8", "surrogatepass")
