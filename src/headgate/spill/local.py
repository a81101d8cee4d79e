"""The default store: byte-exact private files under the user's state folder, with an index.

An original is written to a temporary file, checked, and renamed to its ref; only then is it listed,
and only then does anybody learn of it. Reading checks what was written: a page that a power cut
left empty is reported, never returned.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, ParamSpec
from weakref import WeakMethod

import msgspec

from headgate.disk import Temp
from headgate.errors import RefGone, RefNotFound, StoreError
from headgate.events import LedgerRepaired
from headgate.refs import REF_PATTERN, ref_of
from headgate.retention import EVERYTHING, WORDS, Need, Retention
from headgate.spill.chunks import CHUNK_BYTES, Counted, Tally
from headgate.spill.house import House, NoRoom, Removed
from headgate.spill.index import Again, Kept, Line, as_bytes
from headgate.spill.key import existing_key
from headgate.spill.live import MOST_HISTORIES
from headgate.spill.objects import NOTE, PACKED, damaged
from headgate.spill.plain import NameBy
from headgate.spill.private import session_in
from headgate.spill.shelf import Shelf
from headgate.spill.writer import Draft, LocalWriter, Whole
from headgate.types import About, Ref

P = ParamSpec("P")

SHOWN_REF_CHARS: Final = 64
"""A model may ask for anything; the error that quotes it stays short."""

REFER_EVERY_NS: Final = 600 * 10**9
"""How often a history that refers to nothing new is noted as live again."""

AGAIN: Final = "run the tool again to get it back"


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
        retention: Retention = EVERYTHING,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.state = state
        self.session = session
        self.retention = retention
        self._most_bytes = retention.most_bytes
        self.house = House(state, clock)
        self.shelf = Shelf(
            session_in(self.house.sessions, session),
            durable=durable,
            files_dir=files_dir,
            name_by=name_by,
            reserve=_weakly(self._reserve_beside),
            release=_weakly(self._release_beside),
        )
        self._clock = clock
        self._objects = self.shelf.objects
        self._index = self.shelf.index
        self._files = self.shelf.files
        # A path outside is listed whole; inside, the state folder stays free to move.
        self._listed_under = "" if files_dir is None else self._files.folder.path + "/"
        self._removed: list[Removed] = []
        self._trouble: str | None = None
        self._sent: OrderedDict[bytes, tuple[frozenset[Ref], int]] = OrderedDict()
        """By the last link of a history: what it was noted to refer to, and when."""

    def writer(
        self, *, call_id: str, tool: str, clean: bool | None = None, hashed: bool = False
    ) -> LocalWriter:
        """Begin to keep an original; `clean` says whether it is text, where the caller knows."""
        tally = Tally(clean, hashed=hashed)
        return LocalWriter(self, self._objects, tally, call_id, tool, most_bytes=self._most_bytes)

    def read(self, ref: Ref, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`, fewer at the end."""
        block = self._objects.read(self._find(ref), start, stop)
        if block is None:
            raise self._gone(ref)
        return block

    def about(self, ref: Ref) -> About:
        """What is kept under a ref; its object is there, and as long as it was."""
        kept = self._find(ref)
        length = self._objects.length(ref)
        if length is None:
            raise self._gone(ref)
        if length != kept.length:
            raise damaged(ref, f"it has {length} bytes, and had {kept.length}")
        about = self._index.about(kept)
        if about.file is not None and not os.path.lexists(about.file):
            # Compressed by another process, perhaps: the index says so.
            self._index.refresh()
            about = self._index.about(kept)
        return about

    def touch(self, ref: Ref) -> None:
        """Note that an original was asked for: it goes later than what nobody asks for."""
        self.house.touch(self.shelf, ref)

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

    def refer(
        self, links: Sequence[bytes], refs: frozenset[Ref], *, even_none: bool = False
    ) -> None:
        """Note what a history that was sent refers to; it is written when it changes.

        `links` is its chain: by it the next one is known to go on from here. `even_none`: one that
        refers to nothing is noted too, for the time it was sent.
        """
        now_ns = self._clock()
        if not self._sent and not refs and not even_none:
            return
        # Many conversations may take turns in one session, as in a gateway.
        noted = next((self._sent[link] for link in reversed(links) if link in self._sent), None)
        if noted is not None and noted[0] == refs and now_ns - noted[1] < REFER_EVERY_NS:
            return
        self.house.refer(self.shelf, links, refs)
        self._sent[links[-1]] = (refs, now_ns)
        while len(self._sent) > MOST_HISTORIES:
            self._sent.popitem(last=False)

    def sent_ns(self, links: Sequence[bytes]) -> int:
        """The latest that a history with this chain can have been sent before; 0: not known."""
        noted_ns = self.shelf.live.read().sent_ns(links)
        return noted_ns + REFER_EVERY_NS if noted_ns else 0

    def take_repairs(self) -> list[LedgerRepaired]:
        """What was repaired in the index since the last time somebody asked."""
        return [
            LedgerRepaired(r.path, r.lost_bytes, r.kept_records)
            for r in self.shelf.journal.take_repairs()
        ]

    def take_removed(self) -> list[Removed]:
        """What this store had to remove, of any session, since the last time somebody asked."""
        taken, self._removed = self._removed, []
        return taken

    def take_trouble(self) -> str | None:
        """Why it could not look for what is too old, since the last time somebody asked."""
        taken, self._trouble = self._trouble, None
        return taken

    def put(
        self, ref: Ref, original: bytes, *, call_id: str, tool: str, sha256: str, clean: bool | None
    ) -> int:
        """Keep an original that is in memory and hashed; answers with how many bytes are kept."""
        if self._most_bytes is not None and len(original) > self._most_bytes:
            writer = self.writer(call_id=call_id, tool=tool, clean=clean, hashed=True)
            writer.write(original)
            return writer.commit(ref, sha256).length
        tally = Tally(clean, hashed=True)
        tally.add(original)
        draft = Whole(self, self._objects, original, call_id, tool)
        self.keep(draft, ref, tally.counted(sha256))
        return len(original)

    def told(self, line: Line) -> About:
        """What a reader may know of an original, by its line in the index."""
        return self._index.about(line)

    def keep(self, draft: Draft, ref: Ref, counted: Counted) -> Line:
        """Keep a draft, unless the same content is kept already."""
        known = self._index.find(ref)
        if known is not None and known.sha256.hex() != counted.sha256:
            raise StoreError(f"{ref} stands for other content with sha256 {known.sha256.hex()}")
        call_id, tool = as_bytes(draft.call_id), as_bytes(draft.tool)
        if known is not None and known.length >= counted.length and self._stands(known):
            listed = self._index.listed(ref, call_id, tool)
            if listed is not None:
                return listed
            file = self._file(ref, draft.call_id, counted.clean)
            again = Again(ref, call_id, tool, self._clock(), file)
            self._index.note(again)
            return again
        now_ns = self._clock()
        if counted.full_length:
            with suppress(NoRoom):
                noted = _kept(ref, counted, call_id, tool, now_ns, b"")
                self._objects.note(noted, self._reserve_beside)
        draft.place(ref, counted.length, now_ns)
        if known is not None:
            self._remove_former(ref, counted)
        file = self._file(ref, draft.call_id, counted.clean)
        kept = _kept(ref, counted, call_id, tool, now_ns, file)
        self._index.note(kept)
        if self.house.is_due:
            self._sweep()
        return kept

    def reserve(self, temp: Temp, have: int, want: int, exact: int) -> int:
        """Count what `temp` is about to hold; answers with how long it may get, `want` or `exact`.

        Raises `NoRoom` where not even `exact` has room.
        """
        count = 0 if have else 1
        if want > exact:
            ahead = Need(self.shelf.name, want - have, count)
            if self.house.reserved(self.shelf, self.retention, temp, ahead, want) is None:
                return want
        need = Need(self.shelf.name, exact - have, count)
        self._removed += self.house.reserve(self.shelf, self.retention, temp, need, exact)
        return exact

    def release(
        self, size_bytes: int, count: int, temp: Temp | None = None, *, wait: bool = True
    ) -> None:
        """Count what is not needed after all no longer; `temp` goes with it."""
        self.house.release(self.shelf, size_bytes, count, temp, wait=wait)

    def _reserve_beside(self, temp: Temp, have: int, want: int) -> None:
        """Count what stands beside an original; for that alone nothing is removed."""
        need = Need(self.shelf.name, want - have, 0)
        if self.house.reserved(self.shelf, self.retention, temp, need, want) is not None:
            raise NoRoom(f"no room for {want:,} bytes beside an original")

    def _release_beside(self, temp: Temp, size_bytes: int) -> None:
        self.house.release(self.shelf, size_bytes, 0, temp)

    def _stands(self, known: Kept) -> bool:
        """Whether an original is there as it came, every byte, and is not removed just now."""
        if self._index.is_packed(known.ref):
            return False
        return self._objects.intact(known) and self.house.touch(self.shelf, known.ref)

    def _remove_former(self, ref: Ref, counted: Counted) -> None:
        """Remove what an original was before it came again: compressed, or only in part."""
        names = [ref + PACKED] + ([] if counted.full_length else [ref + NOTE])
        self.house.unpacked(self.shelf, *names)

    def _sweep(self) -> None:
        try:
            swept = self.house.sweep(self.retention, ours=self.shelf)
            self._removed += swept.removed
            self._trouble = next(iter(swept.skipped), None)
        except StoreError as error:
            self._trouble = str(error)

    def _find(self, ref: Ref) -> Kept:
        if not REF_PATTERN.fullmatch(ref):
            raise not_found(ref)
        kept = self._index.find(ref)
        if kept is None and self._index.gone(ref) is not None:
            raise self._gone(ref)
        kept = kept or self._found_unlisted(ref)
        if kept is None:
            raise not_found(ref)
        return kept

    def _gone(self, ref: Ref) -> RefGone:
        """What is told of an original that was here: since when it is gone, and why."""
        stone = self._index.gone(ref)
        if stone is None:
            return RefGone(f"result {ref!r} is gone: {WORDS['missing']}; {AGAIN}")
        when = datetime.fromtimestamp(stone.time_ns / 1e9, UTC)
        why = next((words for word, words in WORDS.items() if word == stone.why), stone.why)
        how = f"removed {when:%Y-%m-%d %H:%M} UTC, because {why}"
        return RefGone(f"result {ref!r} is gone: {how}; {AGAIN}")

    def _found_unlisted(self, ref: Ref) -> Kept | None:
        """List an object that a kill, or a damaged index, left without its line.

        Its ref proves its content: nobody else has the key that makes the one from the other.
        """
        found = self._objects.counted(ref)
        if found is None:
            return None
        counted, time_ns = found
        key = existing_key(self.state)
        noted = self._objects.noted(ref)
        sha256 = noted.sha256.hex() if noted else counted.sha256
        if key is None or ref_of(key, self.session, sha256) != ref:
            raise damaged(ref, "its content is not what the ref stands for")
        if noted is not None and (noted.length, noted.sums) != (counted.length, counted.sums):
            raise damaged(ref, "the part that was kept is not what was written")
        file = self._file(ref, None, counted.clean)
        kept = _kept(ref, counted, b"", b"", time_ns, file)
        if noted is not None:
            kept = msgspec.structs.replace(noted, file=file)
        with suppress(StoreError):
            self._index.note(kept)
        return kept

    def _file(self, ref: Ref, call_id: str | None, clean: bool) -> bytes:
        name = self._files.add(self._objects.folder.make(), ref, call_id, clean=clean)
        return self._listed(name) if name else b""

    def _listed(self, name: str) -> bytes:
        return os.fsencode(self._listed_under + name)


def _weakly(method: Callable[P, None]) -> Callable[P, None]:
    """A method for a part of its own object, which does not keep the object alive.

    So a store lets go of its files with the last who has it, and not when Python tidies up.
    """
    found = WeakMethod(method)

    def call(*words: P.args, **named: P.kwargs) -> None:
        if (of_living := found()) is not None:
            of_living(*words, **named)

    return call


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
        counted.full_length,
    )
