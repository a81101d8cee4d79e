"""All sessions of a state folder: room is counted before it is taken, and made where it is short.

Whatever changes the counts, or removes an original, happens under one lock; so nothing is removed
that another process is just keeping again, and no limit is passed by two who both saw room.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from headgate.disk import Folder, Temp, clean_temps, store_error
from headgate.errors import StoreError
from headgate.retention import NOTHING_NEEDED, Held, Need, Retention, Taken, Why, victims
from headgate.spill.index import Packed
from headgate.spill.objects import NOTE, PACKED, entries
from headgate.spill.private import sessions_folder
from headgate.spill.shelf import Contents, Shelf
from headgate.spill.usage import Books, Counts, Usage, disk_of
from headgate.types import Ref

SWEEP_EVERY_NS: Final = 3_600 * 10**9
"""How often what is too old is looked for, by whoever writes next."""


class NoRoom(StoreError):
    """A limit of retention is reached, and nothing more can be removed for it."""


@dataclass(frozen=True, slots=True)
class Removed:
    """An original that was removed, or would be."""

    session: str
    ref: Ref
    size_bytes: int
    used_ns: int
    why: Why


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep removed, and what is left of what it looked at."""

    removed: tuple[Removed, ...]
    left: Counts
    skipped: tuple[str, ...] = ()
    """Sessions that could not be looked at, each in words; they keep nobody else from being."""


NO_ROOM: Final = {
    "session": "more than retention keeps of one session",
    "total": "more than retention keeps in all",
    "space": "less free space on this disk than retention leaves",
}


class House:
    """The store of one state folder as a whole."""

    def __init__(self, state: Path, clock: Callable[[], int] = time.time_ns) -> None:
        self.state = Folder(state, "the state folder")
        self.sessions = sessions_folder(self.state)
        self.usage = Usage(self.state)
        self.clock = clock
        self.is_due = False
        """Whether it is time to look for what is too old."""

    def shelves(self, ours: Shelf | None = None) -> Iterator[Shelf]:
        """Every session there is; `ours` is used for its own."""
        for name in sorted(entries(self.sessions)):
            if ours is not None and name == ours.name:
                yield ours
            else:
                yield Shelf(self.sessions.sub(name, "the session's folder"))

    def reserve(
        self, shelf: Shelf, retention: Retention, temp: Temp, need: Need, to_bytes: int
    ) -> list[Removed]:
        """Count what is about to be written to `temp`, which gets as long as it may become.

        Where there is no room it is made, and what was removed for it is the answer; where it
        cannot be made, `NoRoom` is raised.
        """
        removed: list[Removed] = []
        tried: set[bool] = set()
        # Under one lock: room that was made and let go of is another's before it is ours.
        with self.usage.locked() as books:
            while short := self._reserved(books, shelf, retention, temp, need, to_bytes):
                ours_only = short == "session"
                if ours_only in tried:
                    raise NoRoom(f"{need.bytes:,} more bytes would be {NO_ROOM[short]}")
                tried.add(ours_only)
                removed += self._swept(books, retention, need, shelf, ours_only).removed
        return removed

    def reserved(
        self, shelf: Shelf, retention: Retention, temp: Temp, need: Need, to_bytes: int
    ) -> Why | None:
        """Count it where there is room; else say what is short."""
        with self.usage.locked() as books:
            return self._reserved(books, shelf, retention, temp, need, to_bytes)

    def _reserved(
        self,
        books: Books,
        shelf: Shelf,
        retention: Retention,
        temp: Temp,
        need: Need,
        to_bytes: int,
    ) -> Why | None:
        total, mine = self._known(books, shelf)
        # A clock that was ahead the last time must not put it off until that time comes.
        self.is_due = abs(self.clock() - total.swept_ns) > SWEEP_EVERY_NS
        short = self._short(retention, total, mine, need)
        if short is not None:
            return short
        try:
            os.ftruncate(temp.fd, to_bytes)
        except OSError as error:
            role = shelf.objects.temps
            raise store_error(role.role, role.path, error) from error
        self._add(books, shelf, total, mine, need)
        return None

    def release(
        self,
        shelf: Shelf,
        size_bytes: int,
        count: int,
        temp: Temp | None = None,
        *,
        wait: bool = True,
    ) -> None:
        """Count what is not needed after all no longer; `temp` goes with it."""
        with suppress(StoreError), self.usage.locked(wait=wait) as books:
            if temp is not None:
                temp.discard()
            total, mine = self._known(books, shelf)
            self._add(books, shelf, total, mine, Need(shelf.name, -size_bytes, -count))

    def touch(self, shelf: Shelf, ref: Ref) -> bool:
        """Note that an original is in use; False where it is not there as it came."""
        try:
            with self.usage.locked():
                return shelf.objects.touch(ref, self.clock())
        except StoreError:
            # Who cannot take the lock cannot be met by one who removes under it.
            return shelf.objects.touch(ref, self.clock())

    def unpacked(self, shelf: Shelf, *names: str) -> None:
        """Remove what an original was before it came again whole."""
        with suppress(StoreError), self.usage.locked() as books:
            found = entries(shelf.objects.folder)
            sizes = [found[name].st_size for name in names if name in found]
            shelf.objects.remove(*names)
            total, mine = self._known(books, shelf)
            self._add(books, shelf, total, mine, Need(shelf.name, -sum(sizes), -bool(sizes)))

    def packed(
        self, shelf: Shelf, ref: Ref, temp: Temp, was: os.stat_result, unused_bytes: int
    ) -> bool:
        """Put a compressed object in the place of the one it was made from, unless that is used."""
        with self.usage.locked() as books:
            now = entries(shelf.objects.folder).get(ref)
            total, mine = self._known(books, shelf)
            if now is None or (now.st_ino, now.st_mtime_ns) != (was.st_ino, was.st_mtime_ns):
                granted = os.fstat(temp.fd).st_size
                temp.discard()
                self._add(books, shelf, total, mine, Need(shelf.name, -granted, 0))
                return False
            shelf.objects.finish_packed(temp, ref, was.st_mtime_ns)
            shelf.index.note(Packed(ref, self.clock()))
            shelf.remove_files(ref, shelf.index.files_of([ref])[ref])
            shelf.objects.remove(ref)
            less = Need(shelf.name, -unused_bytes - was.st_size, 0)
            self._add(books, shelf, total, mine, less)
        return True

    def refer(self, shelf: Shelf, links: Sequence[bytes], refs: frozenset[Ref]) -> None:
        """Note that a history with this chain was sent, and what it refers to."""
        with self.usage.locked():
            histories = shelf.live.read()
            shelf.live.write(histories.after(links, refs, self.clock()))

    def sweep(self, retention: Retention, *, ours: Shelf | None = None, dry: bool = False) -> Swept:
        """Remove what is too old and what is too much, count what is left; `dry` only says it."""
        with self.usage.locked() as books:
            return self._swept(books, retention, NOTHING_NEEDED, ours, ours_only=False, dry=dry)

    def _swept(
        self,
        books: Books,
        retention: Retention,
        need: Need,
        ours: Shelf | None,
        ours_only: bool,
        dry: bool = False,
    ) -> Swept:
        skipped: list[str] = []
        by_name: dict[str, Shelf] = {}
        contents: dict[str, Contents] = {}
        for shelf in [ours] if ours and ours_only else self.shelves(ours):
            try:
                contents[shelf.name] = shelf.contents() if dry else cleaned(shelf)
                by_name[shelf.name] = shelf
            except StoreError as error:
                skipped.append(str(error))
        held = [
            one
            for name, shelf in by_name.items()
            for one in shelf.held(contents[name], retention, self.clock())
        ]
        going = self._going(held, contents, retention, need, ours_only)
        if not dry:
            self._remove(by_name, going)
            self._forget_dropped(by_name, held, retention)
            changed = {one.session for one in going}
            self._recount(books, by_name, contents, changed, ours_only)
        removed = [
            Removed(one.session, one.ref, one.size_bytes, one.used_ns, why)
            for one, why in going.items()
        ]
        left = _sum(each.counts for each in contents.values())
        less = -sum(one.size_bytes for one in removed)
        return Swept(tuple(removed), left.plus(less, -len(removed)), tuple(skipped))

    def _going(
        self,
        held: list[Held],
        contents: dict[str, Contents],
        retention: Retention,
        need: Need,
        ours_only: bool,
    ) -> dict[Held, Why]:
        fixed = {
            name: Taken(each.counts.bytes, each.counts.count) for name, each in contents.items()
        }
        for one in held:
            fixed[one.session] += Taken(-one.size_bytes, -1)
        short_bytes = disk_of(self.state).short_bytes(retention, need.bytes)
        if ours_only:
            retention = replace(retention, total_bytes=None, total_count=None)
        now_ns = self.clock()
        return victims(
            held, retention, now_ns=now_ns, need=need, fixed=fixed, short_bytes=short_bytes
        )

    def _forget_dropped(
        self, shelves: dict[str, Shelf], held: list[Held], retention: Retention
    ) -> None:
        since_ns = self.clock() - int(retention.live_s * 1e9)
        lately: dict[str, set[Ref]] = {name: set() for name in shelves}
        for one in held:
            if one.used_ns > since_ns:
                lately[one.session].add(one.ref)
        for name, shelf in shelves.items():
            with suppress(StoreError):
                shelf.forget_dropped(lately[name])

    def _remove(self, shelves: dict[str, Shelf], going: dict[Held, Why]) -> None:
        by_session: dict[str, dict[Ref, Why]] = {}
        for one, why in going.items():
            by_session.setdefault(one.session, {})[one.ref] = why
        for name, refs in by_session.items():
            shelves[name].remove(refs, self.clock())

    def _recount(
        self,
        books: Books,
        shelves: dict[str, Shelf],
        contents: dict[str, Contents],
        changed: set[str],
        ours_only: bool,
    ) -> None:
        """Write down what is there; what nothing was removed from was counted already."""
        counts = {
            name: (shelf.contents() if name in changed else contents[name]).counts
            for name, shelf in shelves.items()
        }
        before = books.total()
        total = _sum(counts.values(), self.clock())
        if ours_only and before is not None:
            [ours] = shelves.values()
            was, now = ours.usage.read() or Counts(), counts[ours.name]
            total = before.plus(now.bytes - was.bytes, now.count - was.count)
        # What a full disk does not take stays too high, which is safe, until it is counted again.
        with suppress(StoreError):
            books.set_total(total)
            for name, shelf in shelves.items():
                shelf.usage.write(counts[name])

    def _known(self, books: Books, shelf: Shelf) -> tuple[Counts, Counts]:
        """The counts as they are written down; where they are not, of the files."""
        total, mine = books.total(), shelf.usage.read()
        if mine is None:
            mine = shelf.contents().counts
            shelf.usage.write(mine)
        if total is None:
            others: list[Counts] = []
            for each in self.shelves(shelf):
                with suppress(StoreError):
                    others.append(each.contents().counts)
            total = _sum(others, self.clock())
        return total, mine

    def _short(self, retention: Retention, total: Counts, mine: Counts, need: Need) -> Why | None:
        if _over(mine, need, retention.session_bytes, retention.session_count):
            return "session"
        if _over(total, need, retention.total_bytes, retention.total_count):
            return "total"
        if retention.free_bytes and disk_of(self.state).short_bytes(retention, need.bytes):
            return "space"
        return None

    def _add(self, books: Books, shelf: Shelf, total: Counts, mine: Counts, need: Need) -> None:
        # The total first: killed in between, it is rather too high.
        books.set_total(total.plus(need.bytes, need.count))
        shelf.usage.change(mine.plus(need.bytes, need.count))


def cleaned(shelf: Shelf) -> Contents:
    """What a session has without what killed processes left: unfinished, or with a tombstone."""
    for folder in (shelf.objects.temps, shelf.own_files, shelf.folder):
        held = folder.open()
        if held is not None:
            clean_temps(held)
    contents = shelf.contents()
    left = [
        ref
        for ref in contents.originals
        if shelf.index.find(ref) is None and shelf.index.gone(ref) is not None
    ]
    for ref in left:
        shelf.objects.remove(ref, ref + PACKED, ref + NOTE)
    return shelf.contents() if left else contents


def _over(counts: Counts, need: Need, most_bytes: int | None, most_count: int | None) -> bool:
    if most_bytes is not None and need.bytes > 0 and counts.bytes + need.bytes > most_bytes:
        return True
    return most_count is not None and need.count > 0 and counts.count + need.count > most_count


def _sum(counts: Collection[Counts] | Iterator[Counts], swept_ns: int = 0) -> Counts:
    listed = list(counts)
    size, count = sum(one.bytes for one in listed), sum(one.count for one in listed)
    return Counts(size, count, swept_ns)
