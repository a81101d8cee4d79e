"""What one session has on disk: its objects, their index, plain files, and what is live."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headgate.disk import TEMP_PREFIX, Folder, Temp
from headgate.errors import StoreError
from headgate.journal import Journal
from headgate.refs import REF_PATTERN
from headgate.retention import Held, Retention, Why
from headgate.spill.index import Gone, Index
from headgate.spill.live import Histories, Live
from headgate.spill.objects import NOTE, PACKED, Objects, entries
from headgate.spill.plain import NameBy, PlainFiles, remove_plain
from headgate.spill.usage import Counts, Sheet
from headgate.types import Ref

GRACE_NS: Final = 600 * 10**9
"""So long an object without a line in the index is left alone, because it may be about to get it,
and one that no history refers to yet counts as if one did."""


@dataclass(frozen=True, slots=True)
class Found:
    """The files of one original."""

    size_bytes: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything on disk that counts."""

    originals: Mapping[Ref, Found]
    other_bytes: int
    """Unfinished objects, copies as plain text, what was set aside."""
    unfinished: int

    @property
    def counts(self) -> Counts:
        """The same in two numbers."""
        size = sum(found.size_bytes for found in self.originals.values())
        return Counts(size + self.other_bytes, len(self.originals) + self.unfinished)


class Shelf:
    """The files of one session. Making one touches nothing."""

    def __init__(
        self,
        folder: Folder,
        *,
        durable: bool = False,
        files_dir: Path | None = None,
        name_by: NameBy = "ref",
        reserve: Callable[[Temp, int, int], None] | None = None,
        release: Callable[[Temp, int], None] | None = None,
    ) -> None:
        self.folder = folder
        self.name = os.path.basename(folder.path)
        self.own_files = folder.sub("files", "the files folder")
        files = Folder(files_dir, "the files folder") if files_dir else self.own_files
        self.objects = Objects(folder, durable=durable)
        self.journal = Journal(folder / "index", durable=durable)
        self.index = Index(self.journal, files.path)
        self.files = PlainFiles(
            files,
            name_by,
            durable=durable,
            reserve=None if files_dir else reserve,
            release=None if files_dir else release,
        )
        self.live = Live(folder)
        self.usage = Sheet(folder)

    def contents(self) -> Contents:
        """Look at every file; one that moves meanwhile is rather seen twice than not at all."""
        temps = [found.st_size for found in entries(self.objects.temps).values()]
        originals: dict[Ref, Found] = {}
        # A plain file that is the object itself under a second name takes no room.
        copies = {
            name.removesuffix(".txt"): found
            for name, found in entries(self.own_files).items()
            if found.st_nlink < 2 or name.startswith(TEMP_PREFIX)
        }
        others = sum(found.st_size for found in entries(self.objects.aside).values())
        for name, status in entries(self.objects.folder).items():
            ref = name.removesuffix(PACKED).removesuffix(NOTE)
            if not REF_PATTERN.fullmatch(ref):
                others += status.st_size
                continue
            before = originals.get(ref, Found(0, 0))
            copy = copies.pop(ref, None)
            size = before.size_bytes + status.st_size + (copy.st_size if copy else 0)
            originals[ref] = Found(size, max(before.changed_ns, status.st_mtime_ns))
        others += sum(temps) + sum(found.st_size for found in copies.values())
        # An empty one is not counted: its writer has not been granted anything yet.
        unfinished = sum(size > 0 for size in temps)
        return Contents(originals, others, unfinished)

    def held(self, contents: Contents, retention: Retention, now_ns: int) -> list[Held]:
        """The originals that could be removed, as retention sees them."""
        kept = {kept.ref: kept.time_ns for kept in self.index.all()}
        histories = self.live.read()
        live_ns = int(retention.live_s * 1e9)
        since_ns = now_ns - live_ns
        held: list[Held] = []
        for ref, found in contents.originals.items():
            if ref not in kept and now_ns - found.changed_ns < GRACE_NS:
                continue
            used_ns = max(kept.get(ref, 0), found.changed_ns)
            unseen = ref not in histories.dropped
            # What was kept just now is in the history that is sent next.
            just_now = now_ns - used_ns < min(GRACE_NS, live_ns)
            live = histories.is_live(ref, since_ns) or (unseen and just_now)
            new = unseen and used_ns > since_ns
            used_ns = max(used_ns, histories.used_ns(ref))
            held.append(Held(self.name, ref, found.size_bytes, used_ns, live, new))
        return held

    def remove(self, going: Mapping[Ref, Why], now_ns: int) -> None:
        """Remove originals, and leave tombstones. Who calls it holds the lock of the counts."""
        tombs: dict[Why, list[Ref]] = {}
        for ref, why in going.items():
            tombs.setdefault(why, []).append(ref)
        stones = [Gone(tuple(refs), why, now_ns) for why, refs in tombs.items()]
        files = self.index.files_of(going)
        try:
            # First: killed in between, a ref is told to be gone while its file still goes.
            self.index.note(*stones)
            stones = []
        except StoreError:
            pass  # the disk is full, and what follows makes room for them
        for ref in going:
            self.remove_files(ref, files[ref])
            self.objects.remove(ref, ref + PACKED, ref + NOTE)
        with suppress(StoreError):
            if stones:
                self.index.note(*stones)
            self._forget(going)
            self.index.tidy()

    def remove_files(self, ref: Ref, files: list[bytes]) -> None:
        """Remove the plain files of an original, as they are listed."""
        objects, own = self.objects.folder.open(), self.own_files.open()
        for file in map(os.fsdecode, files):
            if os.path.isabs(file) and objects is not None:
                remove_plain(objects, ref, file)
            elif own is not None:
                with suppress(OSError):
                    os.unlink(file, dir_fd=own.fd)

    def forget_dropped(self, lately: Set[Ref]) -> None:
        """Forget that histories dropped what was not used lately: it goes early all the same.

        Who calls it holds the lock of the counts.
        """
        histories = self.live.read()
        if not histories.dropped <= lately:
            self.live.write(histories.without(histories.dropped - lately))

    def _forget(self, refs: Mapping[Ref, Why]) -> None:
        histories: Histories = self.live.read()
        if not histories.dropped.isdisjoint(refs):
            self.live.write(histories.without(refs.keys()))
