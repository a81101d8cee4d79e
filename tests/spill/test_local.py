import hashlib
import os
import shutil
import stat
from dataclasses import replace
from itertools import product

import pytest

from headgate.errors import RefNotFound, StoreError
from headgate.refs import ref_of
from headgate.retention import Retention
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.key import installation_key
from headgate.types import About
from tests.spill.keeping import everything, keep, ref_in, session_path, store_in


@pytest.mark.proves("K1", "K2")
def test_an_original_is_a_file_named_by_its_ref_and_a_line_in_the_index(tmp_path):
    store = store_in(tmp_path)
    content = b"one\ntwo\nthree"

    about = keep(store, content, call_id="call_7", tool="grep")

    ref = ref_of(installation_key(tmp_path), "s", hashlib.sha256(content).hexdigest())
    assert about == About(
        ref=ref,
        sha256=hashlib.sha256(content).hexdigest(),
        length=13,
        lines=3,
        call_id="call_7",
        tool="grep",
        time_ns=1_000,
        chunk_bytes=262_144,
        chunk_lines=(2,),
        file=f"{tmp_path}/sessions/s/files/{ref}.txt",
    )
    assert everything(tmp_path) == {f"objects/{ref}": content, f"files/{ref}.txt": content}
    assert store_in(tmp_path).about(ref) == about


def test_opening_and_asking_makes_nothing(tmp_path):
    store = store_in(tmp_path / "state")

    with pytest.raises(RefNotFound):
        store.about("r_aaaaaaaaaaaa")
    with pytest.raises(RefNotFound):
        store.read("r_aaaaaaaaaaaa", 0, 1)
    assert store.all() == []
    store.writer(call_id="c", tool="t").abort()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proves("K9")
def test_pieces_of_any_size_make_the_same_original(tmp_path):
    content = os.urandom(CHUNK_BYTES * 3 + 77)
    sha256 = hashlib.sha256(content).hexdigest()
    abouts = []
    sizes = (999, CHUNK_BYTES, CHUNK_BYTES + 1, len(content))
    for size, hashed in product(sizes, (True, False)):
        store = store_in(tmp_path, f"s{size}-{hashed}".lower())
        writer = store.writer(call_id="c", tool="t", hashed=hashed)
        for at in range(0, len(content), size):
            writer.write(memoryview(content)[at : at + size])
        ref = ref_in(store, content)
        about = writer.commit(ref, sha256)
        assert store.read(ref, 0, about.length) == content
        abouts.append(replace(about, ref="", file=None))

    assert len(set(abouts)) == 1


@pytest.mark.parametrize("size", [0, 5, CHUNK_BYTES, CHUNK_BYTES * 3 + 77])
def test_an_original_that_is_put_whole_is_kept_as_one_that_is_written(tmp_path, size):
    content = os.urandom(size)
    written, put = (store_in(tmp_path / name) for name in ("written", "put"))
    for store in (written, put):
        (store.state / "key").parent.mkdir(exist_ok=True, mode=0o700)
        (store.state / "key").write_bytes(b"k" * 32)
    writer = written.writer(call_id="c", tool="t")
    writer.write(content)
    about = writer.commit(ref_in(written, content), hashlib.sha256(content).hexdigest())

    assert replace(keep(put, content, call_id="c", tool="t"), file=about.file) == about
    assert put.read(about.ref, 0, size + 1) == content
    assert everything(put.state) == everything(written.state)


def test_a_put_that_fails_leaves_nothing_and_is_not_counted(tmp_path):
    store = store_in(tmp_path)
    keep(store, b"first")
    usage, objects = tmp_path / "usage", session_path(tmp_path, "s") / "objects"
    before = usage.read_bytes()
    shutil.rmtree(objects)
    objects.touch()
    with pytest.raises(StoreError, match="a symlink or a file stands where a folder should be"):
        keep(store, b"second")

    assert usage.read_bytes() == before
    assert list(session_path(tmp_path, "s").joinpath("tmp").iterdir()) == []


def test_a_put_that_is_longer_than_is_kept_of_one_result_is_cut(tmp_path):
    store = store_in(tmp_path, retention=Retention(result_bytes=6))
    ref, sha256 = ref_in(store, b"0123456789"), hashlib.sha256(b"0123456789").hexdigest()

    kept = store.put(ref, b"0123456789", call_id="c", tool="t", sha256=sha256, clean=True)

    assert (kept, store.about(ref).length, store.about(ref).full_length) == (6, 6, 10)


@pytest.mark.proves("K9")
def test_a_stream_holds_no_more_than_a_chunk_in_memory(tmp_path):
    store = store_in(tmp_path)
    writer = store.writer(call_id="c", tool="t")
    for _ in range(40):
        writer.write(b"x" * 100_000)
        assert sum(map(len, writer._waiting)) <= CHUNK_BYTES
    [temp] = session_path(tmp_path, "s").joinpath("tmp").iterdir()
    assert temp.stat().st_size >= 4_000_000 - CHUNK_BYTES
    writer.abort()
    assert not temp.exists()


def test_nothing_is_seen_before_it_is_committed(tmp_path):
    store = store_in(tmp_path)
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x" * (CHUNK_BYTES * 2))

    assert store_in(tmp_path).all() == []
    assert [path for path in everything(tmp_path) if not path.startswith("tmp/")] == []
    writer.abort()
    writer.abort()
    assert everything(tmp_path) == {}


def test_a_writer_that_is_dropped_leaves_nothing(tmp_path):
    writer = store_in(tmp_path).writer(call_id="c", tool="t")
    writer.write(b"x" * (CHUNK_BYTES * 2))
    del writer

    assert everything(tmp_path) == {}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("ends", ["drops it", "aborts it"])
def test_a_forked_child_takes_nothing_from_the_writer_of_its_parent(tmp_path, ends):
    store = store_in(tmp_path)
    writer = store.writer(call_id="c", tool="t")
    content = b"x" * (CHUNK_BYTES * 2)
    writer.write(content)
    child = os.fork()
    if not child:
        if ends == "aborts it":
            writer.abort()
        del writer
        os._exit(0)
    os.waitpid(child, 0)

    writer.write(b"y")
    ref = ref_in(store, content + b"y")
    writer.commit(ref, hashlib.sha256(content + b"y").hexdigest())

    assert store.read(ref, 0, 1 << 20) == content + b"y"


def test_a_writer_that_has_ended_takes_no_more(tmp_path):
    store = store_in(tmp_path)
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"text")
    writer.commit(ref_in(store, b"text"), hashlib.sha256(b"text").hexdigest())
    writer.abort()

    for act in (lambda: writer.write(b"more"), lambda: writer.commit("r_aaaaaaaaaaaa", "")):
        with pytest.raises(ValueError, match="this writer has ended; begin another"):
            act()


@pytest.mark.proves("K3")
@pytest.mark.parametrize("size", [5, CHUNK_BYTES * 2])
def test_bytes_that_are_not_what_was_promised_are_not_kept(tmp_path, size):
    store = store_in(tmp_path)
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x" * size)

    with pytest.raises(StoreError) as caught:
        writer.commit("r_aaaaaaaaaaaa", "00" * 32)

    found = hashlib.sha256(b"x" * size).hexdigest()
    assert str(caught.value) == f"r_aaaaaaaaaaaa: the bytes have sha256 {found}, not {'00' * 32}"
    assert not session_path(tmp_path, "s").exists() or everything(tmp_path) == {}


@pytest.mark.proves("K3")
def test_a_file_that_is_not_as_long_as_what_was_written_is_not_kept(tmp_path):
    store = store_in(tmp_path)
    content = b"x" * (CHUNK_BYTES * 2)
    writer = store.writer(call_id="c", tool="t")
    writer.write(content)
    [temp] = session_path(tmp_path, "s").joinpath("tmp").iterdir()
    with temp.open("ab") as file:
        file.write(b"somebody else's")

    with pytest.raises(StoreError, match=f"has {len(content) * 2 + 15} bytes on disk, not"):
        writer.commit(ref_in(store, content), hashlib.sha256(content).hexdigest())
    assert everything(tmp_path) == {}


@pytest.mark.parametrize("ref", ["", "r_", "../x", "r_AAAAAAAAAAAA", "r_aaaaaaaaaaaa\n", "x" * 300])
def test_nothing_is_kept_under_what_is_no_ref(tmp_path, ref):
    writer = store_in(tmp_path).writer(call_id="c", tool="t")
    writer.write(b"text")

    with pytest.raises(StoreError, match="is no ref"):
        writer.commit(ref, hashlib.sha256(b"text").hexdigest())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proves("K8")
def test_the_same_content_is_stored_once_and_listed_for_each_call(tmp_path):
    first = keep(store_in(tmp_path), b"same\n", call_id="c1", tool="grep")
    before = os.stat(session_path(tmp_path, "s") / "objects" / first.ref)
    store = store_in(tmp_path)

    second = keep(store, b"same\n", call_id="c2", tool="read")

    after = os.stat(session_path(tmp_path, "s") / "objects" / first.ref)
    assert (after.st_ino, after.st_nlink) == (before.st_ino, 2)
    assert everything(tmp_path) == {
        f"objects/{first.ref}": b"same\n",
        f"files/{first.ref}.txt": b"same\n",
    }
    assert second == replace(first, call_id="c2", tool="read")
    assert store.all() == [first]
    assert store.shelf.index.listed(first.ref, b"c1", b"grep") is not None
    assert store.shelf.index.listed(first.ref, b"c2", b"read") is not None


@pytest.mark.proves("K8", "K3")
def test_the_same_call_again_writes_nothing_at_all(tmp_path):
    store = store_in(tmp_path)
    first = keep(store, b"same\n")
    index = (session_path(tmp_path, "s") / "index").read_bytes()

    assert keep(store, b"same\n") == first
    assert keep(store_in(tmp_path), b"same\n") == first
    assert (session_path(tmp_path, "s") / "index").read_bytes() == index


def test_another_content_never_takes_a_ref_that_is_taken(tmp_path):
    store = store_in(tmp_path)
    about = keep(store, b"first")
    writer = store.writer(call_id="c2", tool="t")
    writer.write(b"second")

    with pytest.raises(StoreError, match=f"{about.ref} stands for other content"):
        writer.commit(about.ref, hashlib.sha256(b"second").hexdigest())

    assert store.read(about.ref, 0, 99) == b"first"


def test_a_range_is_read_and_clipped(tmp_path):
    store = store_in(tmp_path)
    content = bytes(range(256)) * 4_000
    ref = keep(store, content).ref

    for start, stop in [
        (0, 10),
        (CHUNK_BYTES - 5, CHUNK_BYTES + 5),
        (CHUNK_BYTES, 2 * CHUNK_BYTES),
        (len(content) - 3, len(content) + 50),
        (len(content), len(content) + 1),
        (len(content) * 2, len(content) * 3),
        (7, 7),
        (9, 3),
        (-5, 4),
        (0, len(content)),
    ]:
        assert store.read(ref, start, stop) == content[max(start, 0) : max(stop, 0)]


def test_an_empty_original_is_kept_too(tmp_path):
    store = store_in(tmp_path)
    about = keep(store, b"")

    assert (about.length, about.lines, about.chunk_lines) == (0, 0, ())
    assert store_in(tmp_path).read(about.ref, 0, 10) == b""


@pytest.mark.proves("0.7")
def test_a_durable_original_is_synced_before_it_is_shown(tmp_path, monkeypatch):
    installation_key(tmp_path)
    happened: list[str] = []
    fsync, rename, link = os.fsync, os.rename, os.link

    def path_of(fd: int) -> str:
        path = os.readlink(f"/proc/self/fd/{fd}").removeprefix(str(tmp_path))
        return "temp" if "/.tmp-" in path else path

    def noted_fsync(fd: int) -> None:
        happened.append(f"sync {path_of(fd)}")
        fsync(fd)

    def noted_rename(*args, **options) -> None:
        happened.append("rename")
        rename(*args, **options)

    def noted_link(source, *args, **options) -> None:
        if not source.startswith(".tmp-"):
            happened.append("link")
        link(source, *args, **options)

    store = store_in(tmp_path, durable=True)
    keep(store, b"first")
    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "rename", noted_rename)
    monkeypatch.setattr(os, "link", noted_link)
    keep(store, b"second")

    assert happened == [
        "sync temp",
        "rename",
        "sync /sessions/s/objects",
        "link",
        "sync /sessions/s/files",
        "sync /sessions/s/index",
    ]


def test_a_store_that_is_not_durable_syncs_nothing(tmp_path, monkeypatch):
    installation_key(tmp_path)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)

    keep(store_in(tmp_path), b"text")

    assert synced == []


def test_no_file_of_an_object_stays_open(tmp_path):
    store = store_in(tmp_path)
    about = keep(store, b"x" * (CHUNK_BYTES * 2))
    store.read(about.ref, 0, 99)

    fds = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    open_paths = [os.readlink(fd) for fd in fds if os.path.lexists(fd)]
    assert [path for path in open_paths if "objects/" in path or "/.tmp-" in path] == []


@pytest.mark.parametrize("call_id", ["", "../../etc/cron.d/x", "x" * 65_536, "\ud800", "a\0b", "."])
def test_any_call_id_and_any_tool_come_back_and_reach_no_path(tmp_path, call_id):
    store = store_in(tmp_path, name_by="call")

    about = keep(store, b"text", call_id=call_id, tool=call_id)

    assert (about.call_id, about.tool) == (call_id, call_id)
    assert store_in(tmp_path, name_by="call").about(about.ref) == about
    assert about.file is not None
    assert os.path.dirname(about.file) == f"{tmp_path}/sessions/s/files"


def test_objects_and_files_have_the_modes_of_private_files(tmp_path):
    keep(store_in(tmp_path), b"text")

    assert {
        stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path.is_file()
    } == {0o600}


@pytest.mark.proves("P24")
def test_records_of_a_later_version_are_passed_over(tmp_path):
    from headgate.disk import Folder
    from headgate.journal import Journal

    about = keep(store_in(tmp_path), b"text")
    Journal(Folder(session_path(tmp_path, "s")) / "index").append(lambda _: [b"\x91\xa4gone"])

    assert store_in(tmp_path).all() == [about]
