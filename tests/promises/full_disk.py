"""Keeps originals and records verdicts on a disk that is really full.

Run by `test_p11_full_disk.py` as `python -m tests.promises.full_disk space|inodes|limit FOLDER`.
For the first two, FOLDER is a small file system of its own; the last sets a file-size limit. Ends
with 0 and "held", or with a traceback.
"""

import errno
import hashlib
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from headgate.errors import RefGone, StoreError
from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.refs import ref_of
from headgate.retention import Retention
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore
from headgate.spill.private import session_folder
from tests.spill.keeping import keep, key, session_path, verdict

REASON = {
    "space": "no space left on this disk; free some",
    "inodes": "no inodes left on this disk; free some",
    "limit": "over the file-size limit of this process; raise it (ulimit -f)",
}


class Disk(Protocol):
    """A disk that can be filled, and emptied again."""

    def fill(self) -> None:
        """Leave no room at all."""
        ...

    def give_back(self) -> None:
        """Leave a little more room."""
        ...

    def free(self) -> None:
        """Leave room for everything."""
        ...


class SpaceFull:
    """A file system filled to its last byte."""

    def __init__(self, folder: Path) -> None:
        self.fds = [os.open(folder / f"filler-{i}", os.O_CREAT | os.O_WRONLY) for i in range(2)]

    def fill(self) -> None:
        os.write(self.fds[0], bytes(1_400_000))
        for size in (65_536, 4_096, 1):
            with suppress_full():
                while True:
                    os.write(self.fds[1], bytes(size))

    def give_back(self) -> None:
        os.ftruncate(self.fds[1], max(os.fstat(self.fds[1]).st_size - 4_096, 0))

    def free(self) -> None:
        for fd in self.fds:
            os.ftruncate(fd, 0)


class InodesFull:
    """A file system without a free inode."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[Path] = []
        self.asked = 0

    def fill(self) -> None:
        with suppress_full():
            while True:
                path = self.folder / f"filler-{len(self.made)}"
                path.touch()
                self.made.append(path)

    def give_back(self) -> None:
        self.asked += 1
        if self.asked % 3 == 0:
            self.made.pop().unlink()

    def free(self) -> None:
        while self.made:
            self.made.pop().unlink()


class LimitReached:
    """A process whose files may not grow."""

    def __init__(self, _: Path) -> None:
        self.most = 0

    def fill(self) -> None:
        self._set(0)

    def give_back(self) -> None:
        self._set(self.most + 97 if self.most < 3_000 else self.most * 2)

    def free(self) -> None:
        self._set(1 << 40)

    def _set(self, most: int) -> None:
        self.most = most
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))


@contextmanager
def suppress_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise


def content_of(i: int) -> bytes:
    """Small text, no text, and a stream of more than one chunk."""
    return (b"line %d\n" % i * 300, b"\xff%d" % i * 500, b"%07d\n" % i * 40_000)[i % 3]


class Session:
    """One session over the whole time, and what it was told is safe."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.store = LocalStore(self.state, "s")
        self.ledger = self.open_ledger()
        self.kept: dict[str, bytes] = {}
        self.shown: dict[str, str] = {}

    def open_ledger(self) -> Ledger:
        return Ledger(Journal(session_folder(self.state, "s") / "ledger"))

    def keep(self, i: int) -> str | None:
        """Keep number `i`, and answer with the error if that failed."""
        try:
            about = keep(self.store, content_of(i), call_id=f"c{i}")
        except StoreError as error:
            return str(error)
        self.kept[about.ref] = content_of(i)
        return None

    def record(self, i: int) -> str | None:
        """Record a verdict on number `i`; it stands at once, wherever it is."""
        ours = verdict(f"c{i}", f"text {i} " * 40)
        assert self.ledger.record([(key(f"c{i}"), ours)], time_ns=i) == [ours]
        self.shown[f"c{i}"] = ours.text or ""
        return self.ledger.take_failure()

    def check(self) -> None:
        """All that was acknowledged reads back, here and in another process; nothing is torn."""
        for store in (self.store, LocalStore(self.state, "s")):
            for ref, content in self.kept.items():
                assert store.read(ref, 0, 1 << 30) == content, ref
            assert store.take_repairs() == []
        for call_id, text in self.shown.items():
            found = self.ledger.find(key(call_id))
            assert found is not None, call_id
            assert found.text == text, call_id
        assert self.open_ledger().take_repairs() == []
        secret = installation_key(self.state)
        for path in (session_path(self.state, "s") / "objects").iterdir():
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            assert ref_of(secret, "s", sha256) == path.name
        assert list(self.state.rglob("*.damaged-*")) == []
        assert list(self.state.rglob(".tmp-*")) == []


DISKS: dict[str, Callable[[Path], Disk]] = {
    "space": SpaceFull,
    "inodes": InodesFull,
    "limit": LimitReached,
}


def main(kind: str, folder: Path) -> None:
    session, disk = Session(folder), DISKS[kind](folder)
    for i in range(3):
        assert (session.keep(i), session.record(i)) == (None, None)
    session.check()

    disk.fill()
    errors = [session.keep(i) for i in range(3, 6)]
    assert all(error is not None and error.endswith(REASON[kind]) for error in errors), errors
    # The last page of a journal may have room for some records yet, and needs no inode.
    failures = [failure for i in range(3, 30) if (failure := session.record(i))]
    assert len(failures) == (kind != "inodes"), failures
    assert all(failure.endswith(REASON[kind]) for failure in failures), failures
    session.check()

    # Between full and free every step may let a part of the work through, and never half of it.
    outcomes = set()
    for i in range(30, 70):
        disk.give_back()
        outcomes.add(session.keep(i) is None)
        session.record(i)
        session.check()
    assert outcomes == {True, False}

    disk.free()
    for i in range(70, 73):
        assert (session.keep(i), session.record(i)) == (None, None)
    session.check()
    written = {entry.key.call_id: entry.verdict.text for entry in session.open_ledger()}
    assert written == session.shown

    # What is full can be swept: it needs no room to make some, and what went is told.
    disk.fill()
    some = Retention(age_s=None, live_s=0, session_count=5, free_bytes=None)
    swept = session.store.house.sweep(some, ours=session.store.shelf)
    assert len(swept.removed) == len(session.kept) - 5, swept
    for one in swept.removed:
        del session.kept[one.ref]
    session.check()
    disk.free()
    assert session.keep(99) is None
    session.check()
    for store in (session.store, LocalStore(session.state, "s")):
        assert all(is_gone(store, one.ref) for one in swept.removed)
    print("held")


def is_gone(store: LocalStore, ref: str) -> bool:
    try:
        store.about(ref)
    except RefGone:
        return True
    return False


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
