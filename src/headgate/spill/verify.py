"""Look at everything a state folder holds, and put right what can be put right.

Others may read and write meanwhile: what they are just doing is no fault, and whatever is changed
here is changed under the lock they take too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from headgate.disk import FILE_MODE, FOLDER_MODE, TEMP_PREFIX, leftover_temps
from headgate.errors import StoreError
from headgate.journal import Journal, damaged_bytes
from headgate.refs import REF_PATTERN
from headgate.retention import EVERYTHING, Why
from headgate.spill.house import House
from headgate.spill.index import Kept
from headgate.spill.local import LocalStore
from headgate.spill.objects import NOTE, PACKED, entries
from headgate.spill.private import SESSION_LITERAL
from headgate.spill.shelf import GRACE_NS, Shelf
from headgate.types import Ref

What = Literal[
    "mode", "foreign", "journal", "unfinished", "damaged", "missing", "unlisted", "left", "counts"
]

JOURNALS: Final = ("index", "ledger")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be."""

    session: str
    """The name of the session's folder; empty: of the state folder as a whole."""
    what: What
    where: str
    """A ref, or a path under the state folder."""
    found: str
    fixed: str = ""
    """What was done about it; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at one session."""

    house: House
    shelf: Shelf
    fix: bool

    def fault(self, what: What, where: str, found: str, fixed: str = "") -> Fault:
        """A fault of this session; without `fix` nothing was done about it."""
        return Fault(self.shelf.name, what, where, found, fixed if self.fix else "")

    def remove(self, ref: Ref, why: Why) -> None:
        """Take an original out, and leave a tombstone."""
        with self.house.usage.locked():
            self.shelf.remove({ref: why}, self.house.clock())


def verify(house: House, *, fix: bool, session: str | None = None) -> Iterator[Fault]:
    """Every fault there is, of one session's folder or of all; with `fix`, what was done."""
    if not os.path.isdir(house.state.path):
        return
    found = False
    for fault in _faults(house, fix, session):
        found = True
        yield fault
    if found and fix:
        house.sweep(EVERYTHING)


def _faults(house: House, fix: bool, session: str | None) -> Iterator[Fault]:
    state = Path(house.state.path)
    if session is None:
        # First: what is put right changes what is there.
        yield from _counts(house, fix)
    yield from _modes(state, state, "", fix, deep=False)
    folders = [path for path in sorted((state / "sessions").glob("*")) if path.is_dir()]
    for folder in folders:
        if session is not None and folder.name != session:
            continue
        yield from _modes(state, folder, folder.name, fix, deep=True)
        shelf = Shelf(house.sessions.sub(folder.name, "the session's folder"))
        try:
            yield from _session(Visit(house, shelf, fix))
        except StoreError as error:
            yield Fault(folder.name, "foreign", f"sessions/{folder.name}", str(error))


def _session(visit: Visit) -> Iterator[Fault]:
    yield from _journals(visit)
    yield from _unfinished(visit)
    yield from _objects(visit)
    yield from _unlisted(visit)
    yield from _plain_files(visit)


def _modes(state: Path, root: Path, session: str, fix: bool, *, deep: bool) -> Iterator[Fault]:
    """Whatever is not ours alone: modes, owners, links."""
    for path in _tree(root, deep):
        with suppress(FileNotFoundError):
            status, where = path.lstat(), str(path.relative_to(state))
            wanted = FOLDER_MODE if stat.S_ISDIR(status.st_mode) else FILE_MODE
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                yield Fault(session, "foreign", where, "a symlink, which nothing here makes")
            elif status.st_uid != os.geteuid():
                yield Fault(session, "mode", where, f"belongs to user {status.st_uid}")
            elif mode & ~wanted & 0o777:
                if fix:
                    path.chmod(wanted)
                yield Fault(
                    session,
                    "mode",
                    where,
                    f"has mode {mode:04o}: others have rights on it",
                    f"has mode {wanted:04o} now" if fix else "",
                )


def _tree(root: Path, deep: bool) -> Iterator[Path]:
    """A folder and what is in it, never through a link."""
    yield root
    for folder, folders, files in os.walk(root):
        folders.sort()
        yield from (Path(folder, name) for name in sorted([*folders, *files]))
        if not deep:
            return


def _journals(visit: Visit) -> Iterator[Fault]:
    for name in JOURNALS:
        file = visit.shelf.folder / name
        lost = damaged_bytes(file)
        if not lost:
            continue
        if visit.fix:
            Journal(file).catch_up()
        found = f"{lost:,} bytes at its end belong to no whole record"
        yield visit.fault("journal", name, found, "they stand beside it now")


def _unfinished(visit: Visit) -> Iterator[Fault]:
    shelf = visit.shelf
    for folder in (shelf.objects.temps, shelf.own_files, shelf.folder):
        held = folder.open()
        for name in leftover_temps(held) if held is not None else ():
            if visit.fix and held is not None:
                with suppress(OSError):
                    os.unlink(name, dir_fd=held.fd)
            where = f"{os.path.basename(folder.path)}/{name}"
            yield visit.fault("unfinished", where, "a killed process left it", "removed")


def _objects(visit: Visit) -> Iterator[Fault]:
    """Read every original that is listed, and compare it with what was written."""
    objects = visit.shelf.objects
    for kept in visit.shelf.index.all():
        wrong = _wrong(visit.shelf, kept)
        if wrong is None or visit.shelf.index.gone(kept.ref) is not None:
            continue
        if wrong:
            if visit.fix:
                objects.set_aside(kept.ref)
                visit.remove(kept.ref, "damaged")
            yield visit.fault("damaged", kept.ref, wrong, "set aside, and told to its session")
            continue
        if visit.fix:
            visit.remove(kept.ref, "missing")
        yield visit.fault("missing", kept.ref, "its file is no longer there", "told to its session")


def _wrong(shelf: Shelf, kept: Kept) -> str | None:
    """What is wrong with an original: None nothing, empty that it is not there."""
    try:
        found = shelf.objects.counted(kept.ref)
    except StoreError as error:
        return str(error)
    if found is None:
        return ""
    counted, _ = found
    if counted.length != kept.length:
        return f"it has {counted.length:,} bytes, and had {kept.length:,}"
    same = counted.sums == kept.sums
    if not kept.full_length:
        same = same and counted.sha256 == kept.sha256.hex()
    return None if same else "its bytes are not what was written"


def _unlisted(visit: Visit) -> Iterator[Fault]:
    """Object files that the index does not speak of, or says are gone."""
    shelf, now_ns = visit.shelf, visit.house.clock()
    for name, status in sorted(entries(shelf.objects.folder).items()):
        ref = name.removesuffix(PACKED).removesuffix(NOTE)
        if not REF_PATTERN.fullmatch(ref):
            yield visit.fault("foreign", f"objects/{name}", "not a file of ours")
            continue
        if now_ns - status.st_mtime_ns < GRACE_NS and shelf.index.gone(ref) is None:
            continue
        if shelf.index.find(ref) is not None:
            continue
        if shelf.index.gone(ref) is not None:
            if visit.fix:
                with visit.house.usage.locked():
                    shelf.objects.remove(name)
            yield visit.fault(
                "left", f"objects/{name}", "it was removed, its file stayed", "removed"
            )
        elif name in (ref, ref + PACKED):
            yield _listed(visit, ref)


def _listed(visit: Visit, ref: Ref) -> Fault:
    """An object without its line in the index: its ref proves it, where the session is known."""
    name = visit.shelf.name
    if not SESSION_LITERAL.fullmatch(name):
        return visit.fault("unlisted", ref, "not in the index; its session lists it when asked")
    if not visit.fix:
        return visit.fault("unlisted", ref, "not in the index")
    try:
        LocalStore(Path(visit.house.state.path), name).about(ref)
    except StoreError as error:
        visit.shelf.objects.set_aside(ref)
        return visit.fault("damaged", ref, str(error), "set aside")
    return visit.fault("unlisted", ref, "not in the index", "listed")


def _plain_files(visit: Visit) -> Iterator[Fault]:
    """Plain files in the session's own folder that belong to no original."""
    shelf = visit.shelf
    held = shelf.own_files.open()
    for name in sorted(entries(shelf.own_files)):
        if name.startswith(TEMP_PREFIX) or shelf.index.owner(os.fsencode(name)) is not None:
            continue
        if visit.fix and held is not None:
            with suppress(OSError):
                os.unlink(name, dir_fd=held.fd)
        yield visit.fault("left", f"files/{name}", "it belongs to no original", "removed")


def _counts(house: House, fix: bool) -> Iterator[Fault]:
    """Whether what is written down is what is there."""
    with house.usage.locked() as books:
        written = books.total()
        there = [shelf.contents().counts for shelf in house.shelves()]
    size, count = sum(one.bytes for one in there), sum(one.count for one in there)
    if written is None or (written.bytes, written.count) == (size, count):
        return
    fault = Fault(
        "",
        "counts",
        "usage",
        f"{written.bytes:,} bytes in {written.count:,} originals are counted, and {size:,} in "
        f"{count:,} are there",
    )
    yield replace(fault, fixed="counted again") if fix else fault
