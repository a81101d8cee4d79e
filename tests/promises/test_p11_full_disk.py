"""P11: a full disk corrupts nothing, reads go on, and all goes on without a restart."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.disk import Folder
from headgate.errors import StoreError
from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.spill.local import LocalStore
from tests.faults import as_nobody
from tests.spill.keeping import keep, key, session_path, verdict

ROOT = Path(__file__).parents[2]
OPTIONS = {"space": "size=3m", "inodes": "nr_inodes=200"}


def mounted(options: str, folder: str) -> list[str]:
    """What to put before a command so that it finds a file system of its own at `folder`."""
    alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    mount = f'mount -t tmpfs -o mode=700,{options} none "$0" && exec "$@"'
    return [*alone, "sh", "-c", mount, folder]


def can_mount() -> bool:
    try:
        tried = subprocess.run(
            [*mounted("size=1m", "/tmp"), "true"], capture_output=True, timeout=60
        )
    except FileNotFoundError:
        return False
    return tried.returncode == 0


KINDS = ["limit", *(OPTIONS if can_mount() else ())]
"""The file-size limit can be had everywhere; a disk of one's own only where mounting is allowed."""


@pytest.mark.proves("P11", "K5", "P8")
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_corrupts_nothing_and_all_goes_on_when_there_is_room(tmp_path, kind):
    before = mounted(OPTIONS[kind], str(tmp_path)) if kind in OPTIONS else []
    ran = subprocess.run(
        [*before, sys.executable, "-B", "-m", "tests.promises.full_disk", kind, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "held\n", "")


def lock_up(folder: Path, mode: int) -> None:
    for path in [*folder.rglob("*"), folder]:
        if path.is_dir():
            path.chmod(mode)


def forbidden(folder: Path) -> None:
    state = folder / "state"
    store = LocalStore(state, "s")
    ledger = Ledger(Journal(Folder(session_path(state, "s")) / "ledger"))
    first = keep(store, b"first")
    ledger.record([(key("c1"), verdict("c1"))], time_ns=1)
    lock_up(state, 0o500)

    with pytest.raises(StoreError) as caught:
        keep(store, b"second")
    assert str(caught.value) == (
        f"the folder of unfinished objects {state}/sessions/s/tmp: "
        "permission denied; check its owner and mode"
    )
    assert store.read(first.ref, 0, 9) == b"first"
    assert LocalStore(state, "s").read(first.ref, 0, 9) == b"first"

    lock_up(state, 0o700)
    assert LocalStore(state, "s").read(keep(store, b"second").ref, 0, 9) == b"second"


def read_only(folder: Path) -> None:
    session = folder / "session"
    Ledger(Journal(Folder(session) / "ledger")).record([(key("c1"), verdict("c1"))], time_ns=1)
    (session / "ledger").chmod(0o400)
    ledger = Ledger(Journal(Folder(session) / "ledger"))

    assert ledger.find(key("c1")) == verdict("c1")
    assert ledger.record([(key("c2"), verdict("c2"))], time_ns=2) == [verdict("c2")]
    assert ledger.take_failure() == (
        f"the journal {session}/ledger: permission denied; check its owner and mode"
    )

    (session / "ledger").chmod(0o600)
    ledger.record([(key("c3"), verdict("c3"))], time_ns=3)
    again = Ledger(Journal(Folder(session) / "ledger"))
    assert [entry.key.call_id for entry in again] == ["c1", "c2", "c3"]


def unreadable(folder: Path) -> None:
    state = folder / "state"
    first = keep(LocalStore(state, "s"), b"first")
    (state / "sessions").chmod(0o000)

    with pytest.raises(StoreError) as caught:
        LocalStore(state, "s").about(first.ref)
    assert str(caught.value) == (
        f"the sessions folder {state}/sessions: permission denied; check its owner and mode"
    )
    (state / "sessions").chmod(0o700)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.proves("P11", "K5")
@pytest.mark.parametrize("act", [forbidden, read_only, unreadable])
def test_a_disk_that_forbids_is_told_apart_and_works_again_when_it_allows(act):
    as_nobody(act)
