"""P21: every created path is private, under any umask, and nothing goes through a symlink."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.errors import RefNotFound, StoreError
from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore
from headgate.spill.private import session_folder
from tests.faults import as_nobody
from tests.spill.keeping import keep, key, session_path, verdict

UMASKS = [0o000, 0o002, 0o022, 0o077, 0o177, 0o277, 0o377, 0o700, 0o777]


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(root: Path) -> dict[str, int]:
    """Every path below, with its mode."""
    return {
        str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode)
        for path in sorted(root.rglob("*"))
    }


def use_everything(state: Path, files_dir: Path | None = None) -> None:
    """Everything that makes a file: key, objects, copies, streams, journals, their repair."""
    installation_key(state)
    store = LocalStore(state, "Not Plain", files_dir=files_dir)
    keep(store, b"clean text")
    keep(store, b"\xff no text")
    keep(store, b"stream\n" * CHUNK_BYTES)
    unfinished = store.writer(call_id="c", tool="t")
    unfinished.write(b"x" * (2 * CHUNK_BYTES))
    for _ in range(2):
        ledger = Ledger(Journal(session_folder(state, "Not Plain") / "ledger"))
        ledger.record([(key("c1"), verdict("c1"))], time_ns=1)
        with Path(session_folder(state, "Not Plain").path, "ledger").open("ab") as file:
            file.write(b"torn")
    Ledger(Journal(session_folder(state, "Not Plain") / "ledger")).find(key("c1"))
    check_private(state)
    unfinished.abort()


def check_private(root: Path) -> None:
    for path, mode in modes(root).items():
        folder = (root / path).is_dir()
        assert mode == (0o700 if folder else 0o600), f"{path} has {mode:o}"


@pytest.mark.proves("P21", "K2")
@pytest.mark.parametrize("mask", UMASKS, ids=oct)
def test_every_created_path_is_private_under_any_umask(tmp_path, mask):
    with umask(mask):
        use_everything(tmp_path / "a" / "b" / "state", tmp_path / "work" / "files")

    check_private(tmp_path)
    made = set(modes(tmp_path))
    assert {"a", "a/b", "a/b/state", "a/b/state/key", "a/b/state/sessions", "work"} < made
    names = {path.rpartition("/")[2] for path in made}
    assert {"index", "ledger", "ledger.damaged-1", "ledger.damaged-2", "objects", "tmp"} < names


def unprivileged(folder: Path) -> None:
    for mask in UMASKS:
        with umask(mask):
            use_everything(folder / oct(mask) / "state", folder / oct(mask) / "work")
        check_private(folder / oct(mask) / "state")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.proves("P21")
def test_a_umask_that_takes_the_owners_rights_does_not_lock_the_owner_out():
    as_nobody(unprivileged)


@pytest.fixture
def elsewhere(tmp_path) -> Path:
    """What an attacker wants us to write to, or through."""
    folder = tmp_path / "elsewhere"
    folder.mkdir(mode=0o700)
    (folder / "authorized_keys").write_text("precious")
    return folder


def untouched(elsewhere: Path) -> bool:
    found = {path.name: path.read_text() for path in elsewhere.iterdir()}
    return found == {"authorized_keys": "precious"}


@pytest.mark.proves("P21", "K2")
@pytest.mark.parametrize(
    "where", ["", "sessions", "sessions/s", "sessions/s/objects", "sessions/s/tmp"]
)
def test_a_folder_that_is_a_symlink_is_refused(tmp_path, elsewhere, where):
    state = tmp_path / "state"
    (state / where).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in state.rglob("*"):
        path.chmod(0o700)
    (state / where).symlink_to(elsewhere)
    store = LocalStore(state, "s")
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"text")

    with pytest.raises(StoreError, match="a symlink or a file stands where a folder should be"):
        writer.commit(
            "r_aaaaaaaaaaaa", "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
        )

    assert untouched(elsewhere)


@pytest.mark.proves("P21", "K2")
def test_a_files_folder_that_is_a_symlink_gets_no_file(tmp_path, elsewhere):
    (tmp_path / "work").symlink_to(elsewhere)
    store = LocalStore(tmp_path / "state", "s", files_dir=tmp_path / "work")

    about = keep(store, b"text")

    assert about.file is None
    assert store.read(about.ref, 0, 9) == b"text"
    assert untouched(elsewhere)


@pytest.mark.proves("P21", "K2")
@pytest.mark.parametrize("name", ["index", "ledger"])
def test_a_journal_that_is_a_symlink_is_refused(tmp_path, elsewhere, name):
    session_path(tmp_path, "s").mkdir(mode=0o700, parents=True)
    (tmp_path / "sessions").chmod(0o700)
    (session_path(tmp_path, "s") / name).symlink_to(elsewhere / "authorized_keys")

    ledger = Ledger(Journal(session_folder(tmp_path, "s") / "ledger"))
    if name == "ledger":
        ledger.record([(key("c1"), verdict("c1"))], time_ns=1)
        assert "a symlink stands there; remove it" in str(ledger.take_failure())
    else:
        with pytest.raises(StoreError, match="a symlink stands there; remove it"):
            keep(LocalStore(tmp_path, "s"), b"text")

    assert untouched(elsewhere)


@pytest.mark.proves("P21", "K2")
@pytest.mark.parametrize("content", [b"text", b"\xff no text", b"stream\n" * CHUNK_BYTES])
def test_symlinks_at_the_names_of_objects_and_files_are_replaced(tmp_path, elsewhere, content):
    about = keep(LocalStore(tmp_path / "first", "s"), content)
    state = tmp_path / "state"
    installation_key(tmp_path / "first")
    (state / "sessions" / "s" / "objects").mkdir(parents=True)
    (state / "sessions" / "s" / "files").mkdir()
    for path in [state, *state.rglob("*")]:
        path.chmod(0o700)
    (state / "key").write_bytes((tmp_path / "first" / "key").read_bytes())
    for link in (f"objects/{about.ref}", f"files/{about.ref}.txt"):
        (session_path(state, "s") / link).symlink_to(elsewhere / "authorized_keys")

    store = LocalStore(state, "s")
    with pytest.raises(StoreError) as caught:
        store.read(about.ref, 0, 9)
    assert not isinstance(caught.value, RefNotFound)
    again = keep(store, content)

    assert store.read(again.ref, 0, len(content)) == content
    assert not Path(str(again.file)).is_symlink()
    assert not (session_path(state, "s") / "objects" / about.ref).is_symlink()
    assert untouched(elsewhere)


@pytest.mark.proves("P21", "K2")
@pytest.mark.parametrize("where", ["", "sessions", "sessions/s", "sessions/s/objects"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_where_others_may_write_is_refused(tmp_path, where, mode):
    state = tmp_path / "state"
    keep(LocalStore(state, "s"), b"before")
    (state / where).chmod(mode)

    with pytest.raises(StoreError, match="others may write in it"):
        keep_without_key(LocalStore(state, "s"))
    (state / where).chmod(0o700)
    keep_without_key(LocalStore(state, "s"))


def keep_without_key(store: LocalStore) -> None:
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"text")
    writer.commit(
        "r_aaaaaaaaaaaa", "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    )


@pytest.mark.proves("P21")
def test_no_descriptor_is_inherited_by_a_program_that_is_run(tmp_path):
    store = LocalStore(tmp_path, "s")
    keep(store, b"text")
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x" * (2 * CHUNK_BYTES))
    ledger = Ledger(Journal(session_folder(tmp_path, "s") / "ledger"))
    ledger.record([(key("c1"), verdict("c1"))], time_ns=1)

    held = {}
    for name in os.listdir("/proc/self/fd"):
        path = Path("/proc/self/fd", name)
        if path.is_symlink() and str(path.readlink()).startswith(str(tmp_path)):
            held[str(path.readlink())] = os.get_inheritable(int(name))

    assert set(held.values()) == {False}
    assert f"{tmp_path}/sessions/s/ledger" in held
    writer.abort()
