"""The default store: byte-exact private files under the user's state folder, with an index.

An original is written to a temporary file, checked, and renamed to its ref; only then is it listed,
and only then does anybody learn of it. Reading checks what was written: a page that a power cut
left empty is reported, never returned.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from headgate.disk import Folder, Temp
from headgate.errors import RefNotFound, StoreError
from headgate.events import LedgerRepaired
from headgate.journal import Journal
from headgate.refs import REF_PATTERN, ref_of
from headgate.spill.chunks import CHUNK_BYTES, Counted, Tally
from headgate.spill.index import Again, Index, Kept, as_bytes
from headgate.spill.key import existing_key
from headgate.spill.objects import BLOCK_BYTES, Objects, damaged
from headgate.spill.plain import NameBy, PlainFiles
from headgate.spill.private import session_folder
from headgate.types import About, Ref

SHOWN_REF_CHARS: Final = 64
"""A model may ask for anything; the error that quotes it stays short."""


class LocalStore:
    """The originals of one session on this machine's disk.

    Opening one touches nothing; folders are made by the first write. A store that failed works
    again as soon as the disk does.
    """

    def __init__(
        self,
        state: Path,
        session: str,
        *,
        durable: bool = False,
        files_dir: Path | None = None,
        name_by: NameBy = "ref",
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        folder = session_folder(state, session)
        files = folder.sub("files", "the files folder")
        if files_dir is not None:
            files = Folder(files_dir, "the files folder")
        self.state = state
        self.session = session
        self._clock = clock
        self._objects = Objects(folder, durable=durable)
        self._journal = Journal(folder / "index", durable=durable)
        self._index = Index(self._journal, files.path)
        self._files = PlainFiles(files, name_by, durable=durable)
        # A path outside is listed whole; inside, the state folder stays free to move.
        self._listed_under = "" if files_dir is None else files.path + "/"

    def writer(self, *, call_id: str, tool: str, clean: bool | None = None) -> LocalWriter:
        """Begin to keep an original; `clean` says whether it is text, where the caller knows."""
        return LocalWriter(self, self._objects, Tally(clean), call_id, tool)

    def read(self, ref: Ref, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`, fewer at the end."""
        block = self._objects.read(self._find(ref), start, stop)
        if block is None:
            raise not_found(ref)
        return block

    def about(self, ref: Ref) -> About:
        """What is kept under a ref; its object is there, and as long as it was."""
        kept = self._find(ref)
        length = self._objects.length(ref)
        if length is None:
            raise not_found(ref)
        if length != kept.length:
            raise damaged(ref, f"it has {length} bytes, and had {kept.length}")
        return self._index.about(kept)

    def path_for(self, ref: Ref, call_id: str) -> str | None:
        """Where the plain file of an original will stand; `About.file` says whether it does."""
        *by_call, by_ref = self._files.names(ref, call_id)
        with suppress(StoreError):
            for name in by_call:
                if not self._files.has(name) or self._index.owner(self._listed(name)) == ref:
                    return self._files.path(name)
        return self._files.path(by_ref)

    def all(self) -> list[About]:
        """Everything kept, oldest first; what a kill left unlisted is listed now."""
        listed = {kept.ref for kept in self._index.all()}
        for ref in self._objects.refs():
            if ref not in listed:
                with suppress(StoreError):
                    self._find(ref)
        return [self._index.about(kept) for kept in self._index.all()]

    def last(self, tool: str | None = None) -> About | None:
        """The newest original, of one tool or of any."""
        return self._index.last(tool)

    def take_repairs(self) -> list[LedgerRepaired]:
        """What was repaired in the index since the last time somebody asked."""
        return [
            LedgerRepaired(r.path, r.lost_bytes, r.kept_records)
            for r in self._journal.take_repairs()
        ]

    def keep(self, draft: LocalWriter, ref: Ref, counted: Counted) -> About:
        """Keep what a writer holds, unless the same content is kept already."""
        known = self._index.find(ref)
        if known is not None and known.sha256.hex() != counted.sha256:
            raise StoreError(f"{ref} stands for other content with sha256 {known.sha256.hex()}")
        call_id, tool = as_bytes(draft.call_id), as_bytes(draft.tool)
        if known is None or not self._objects.intact(known):
            draft.place(ref, counted.length)
            known = None
        elif (listed := self._index.listed(ref, call_id, tool)) is not None:
            return self._index.about(listed)
        file = self._file(ref, draft.call_id, counted.clean)
        if known is None:
            return self._index.add(_kept(ref, counted, call_id, tool, self._clock(), file))
        return self._index.add(Again(ref, call_id, tool, self._clock(), file))

    def _find(self, ref: Ref) -> Kept:
        if not REF_PATTERN.fullmatch(ref):
            raise not_found(ref)
        kept = self._index.find(ref) or self._found_unlisted(ref)
        if kept is None:
            raise not_found(ref)
        return kept

    def _found_unlisted(self, ref: Ref) -> Kept | None:
        """List an object that a kill, or a damaged index, left without its line.

        Its ref proves its content: nobody else has the key that makes the one from the other.
        """
        found = self._objects.counted(ref)
        if found is None:
            return None
        counted, time_ns = found
        key = existing_key(self.state)
        if key is None or ref_of(key, self.session, counted.sha256) != ref:
            raise damaged(ref, "its content is not what the ref stands for")
        kept = _kept(ref, counted, b"", b"", time_ns, self._file(ref, None, counted.clean))
        with suppress(StoreError):
            self._index.add(kept)
        return kept

    def _file(self, ref: Ref, call_id: str | None, clean: bool) -> bytes:
        name = self._files.add(self._objects.folder.make(), ref, call_id, clean=clean)
        return self._listed(name) if name else b""

    def _listed(self, name: str) -> bytes:
        return os.fsencode(self._listed_under + name)


class LocalWriter:
    """Takes one original in pieces; a chunk at most is in memory, the rest in a temporary file."""

    def __init__(
        self, store: LocalStore, objects: Objects, tally: Tally, call_id: str, tool: str
    ) -> None:
        self.call_id = call_id
        self.tool = tool
        self._store = store
        self._objects = objects
        self._tally = tally
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._temp: Temp | None = None
        self._ended = False

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; a disk that cannot take them is a `StoreError`, and the writer has ended."""
        self._check_open()
        for block in _blocks(data):
            self._waiting.append(block)
            self._waiting_bytes += len(block)
            if self._waiting_bytes > CHUNK_BYTES:
                self._flush()

    def commit(self, ref: Ref, sha256: str) -> About:
        """Make the bytes readable under `ref`, all or nothing; once more changes nothing."""
        self._check_open()
        try:
            if not REF_PATTERN.fullmatch(ref):
                raise StoreError(f"{ref!r} is no ref")
            rest = self._rest()
            self._tally.add(rest)
            counted = self._tally.counted()
            if counted.sha256 != sha256.lower():
                raise StoreError(f"{ref}: the bytes have sha256 {counted.sha256}, not {sha256}")
            return self._store.keep(self, ref, counted)
        finally:
            self.abort()

    def abort(self) -> None:
        """Forget the bytes; harmless after `commit`."""
        self._ended = True
        self._waiting = []
        if self._temp is not None:
            self._temp.discard()

    def place(self, ref: Ref, length: int) -> None:
        """Give the object its place on disk; the store asks for it where it has none yet."""
        temp = self._temp = self._temp or self._objects.begin()
        self._objects.write(temp, self._rest())
        self._objects.finish(temp, ref, length)

    def __del__(self) -> None:
        if not self._ended:
            self.abort()

    def _check_open(self) -> None:
        if self._ended:
            raise ValueError("this writer has ended; begin another")

    def _rest(self) -> bytes:
        if len(self._waiting) > 1:
            self._waiting = [b"".join(self._waiting)]
        return self._waiting[0] if self._waiting else b""

    def _flush(self) -> None:
        """Write all whole chunks, so that chunks on disk and in the index are the same."""
        block = self._rest()
        whole = len(block) - len(block) % CHUNK_BYTES
        try:
            self._temp = self._temp or self._objects.begin()
            self._tally.add(block, whole)
            self._objects.write(self._temp, memoryview(block)[:whole])
        except BaseException:
            self.abort()
            raise
        self._waiting = [block[whole:]]
        self._waiting_bytes = len(block) - whole


def not_found(ref: Ref) -> RefNotFound:
    """The one answer to a ref that is unknown, of another session, or none at all."""
    shown = ref if len(ref) <= SHOWN_REF_CHARS else ref[:SHOWN_REF_CHARS] + "…"
    return RefNotFound(f"no result {shown!r} in this session; it may have expired")


def _kept(
    ref: Ref, counted: Counted, call_id: bytes, tool: bytes, time_ns: int, file: bytes
) -> Kept:
    return Kept(
        ref,
        bytes.fromhex(counted.sha256),
        counted.length,
        counted.lines,
        CHUNK_BYTES,
        counted.chunk_lines,
        counted.sums,
        call_id,
        tool,
        time_ns,
        file,
    )


def _blocks(data: bytes | memoryview) -> Iterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    view = memoryview(data).cast("B")
    for at in range(0, len(view), BLOCK_BYTES):
        yield bytes(view[at : at + BLOCK_BYTES])
