import hashlib
import os
import shutil
from dataclasses import replace

import pytest

from headgate.errors import RefNotFound, StoreError
from headgate.events import LedgerRepaired
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.key import installation_key
from tests.faults import file_size_limit
from tests.spill.keeping import everything, keep, ref_in, session_path, store_in


@pytest.mark.proves("0.7")
@pytest.mark.parametrize("at", [0, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 4_096])
def test_a_byte_that_changed_on_disk_is_reported_and_never_returned(tmp_path, at):
    store = store_in(tmp_path)
    content = b"x" * (CHUNK_BYTES * 3)
    ref = keep(store, content).ref
    with (session_path(tmp_path, "s") / "objects" / ref).open("r+b") as file:
        file.seek(at)
        file.write(b"\0")

    chunk = at // CHUNK_BYTES
    first, last = chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES
    with pytest.raises(StoreError) as caught:
        store.read(ref, at, at + 1)
    assert str(caught.value) == (
        f"the object of {ref} is damaged: bytes {first} to {last} are not what was written; "
        "run the tool again to get it back"
    )
    assert store.read(ref, 2 * CHUNK_BYTES, 2 * CHUNK_BYTES + 5) == b"xxxxx"


@pytest.mark.proves("0.7")
@pytest.mark.parametrize("length", [0, 99, 101])
def test_an_object_that_changed_its_length_is_reported(tmp_path, length):
    store = store_in(tmp_path)
    ref = keep(store, b"x" * 100).ref
    os.truncate(session_path(tmp_path, "s") / "objects" / ref, length)

    for act in (lambda: store.about(ref), lambda: store_in(tmp_path).read(ref, 0, 10)):
        with pytest.raises(StoreError) as caught:
            act()
        assert not isinstance(caught.value, RefNotFound)
        assert f"it has {length} bytes, and had 100" in str(caught.value)


@pytest.mark.proves("K3")
def test_keeping_it_again_mends_a_damaged_object(tmp_path):
    store = store_in(tmp_path)
    content = b"line\n" * 100_000
    ref = keep(store, content).ref
    path = session_path(tmp_path, "s") / "objects" / ref
    path.write_bytes(content[:-3] + b"\0\0\0")

    keep(store, content)

    assert store_in(tmp_path).read(ref, 0, len(content)) == content


def test_an_object_that_was_deleted_is_not_found_and_can_be_kept_again(tmp_path):
    store = store_in(tmp_path)
    about = keep(store, b"text")
    (session_path(tmp_path, "s") / "objects" / about.ref).unlink()

    for act in (lambda: store.about(about.ref), lambda: store.read(about.ref, 0, 1)):
        with pytest.raises(RefNotFound):
            act()
    assert keep(store, b"text") == about
    assert store.read(about.ref, 0, 9) == b"text"


@pytest.mark.proves("K3", "P9")
def test_an_object_that_a_kill_left_unlisted_is_found_and_listed(tmp_path):
    about = keep(store_in(tmp_path), b"text\n")
    (session_path(tmp_path, "s") / "index").unlink()

    store = store_in(tmp_path)
    found = store.about(about.ref)
    assert store.read(about.ref, 0, 99) == b"text\n"

    assert replace(found, time_ns=0) == replace(about, call_id="", tool="", time_ns=0)
    assert found.time_ns == 1_000
    assert store_in(tmp_path).all() == [found]


@pytest.mark.proves("K3")
def test_listing_finds_what_a_kill_left_unlisted(tmp_path):
    refs = {keep(store_in(tmp_path), b"%d" % i).ref for i in range(3)}
    (session_path(tmp_path, "s") / "index").unlink()

    assert {about.ref for about in store_in(tmp_path).all()} == refs


@pytest.mark.proves("K3")
def test_keeping_an_unlisted_object_again_lists_it_with_its_call(tmp_path):
    about = keep(store_in(tmp_path), b"text\n")
    (session_path(tmp_path, "s") / "index").unlink()

    assert keep(store_in(tmp_path), b"text\n") == about
    assert store_in(tmp_path).about(about.ref) == about


@pytest.mark.proves("0.7", "K3")
def test_an_unlisted_object_that_is_not_what_its_ref_says_is_reported(tmp_path):
    about = keep(store_in(tmp_path), b"text\n")
    (session_path(tmp_path, "s") / "index").unlink()
    (session_path(tmp_path, "s") / "objects" / about.ref).write_bytes(b"\0\0\0\0\0")

    with pytest.raises(StoreError) as caught:
        store_in(tmp_path).read(about.ref, 0, 5)

    assert not isinstance(caught.value, RefNotFound)
    assert "its content is not what the ref stands for" in str(caught.value)
    assert store_in(tmp_path).all() == []
    assert keep(store_in(tmp_path), b"text\n") == about


@pytest.mark.proves("P12")
def test_a_damaged_index_is_reported_and_loses_nothing(tmp_path):
    refs = [keep(store_in(tmp_path), b"%d" % i).ref for i in range(4)]
    index = session_path(tmp_path, "s") / "index"
    os.truncate(index, index.stat().st_size // 2)

    store = store_in(tmp_path)

    assert [store.read(ref, 0, 9) for ref in refs] == [b"0", b"1", b"2", b"3"]
    [repair] = store.take_repairs()
    assert isinstance(repair, LedgerRepaired)
    assert (repair.path, repair.kept_records) == (str(index), 1)


def test_what_another_process_keeps_is_found(tmp_path):
    ours, theirs = store_in(tmp_path), store_in(tmp_path)
    assert ours.all() == []
    about = keep(theirs, b"theirs")

    assert ours.about(about.ref) == about
    assert ours.read(about.ref, 0, 9) == b"theirs"
    assert ours.all() == [about]


@pytest.mark.parametrize(
    "gone", ["", "sessions", "sessions/s", "sessions/s/objects", "sessions/s/tmp"]
)
def test_a_deleted_folder_is_made_again(tmp_path, gone):
    store = store_in(tmp_path / "state")
    installation_key(tmp_path / "state")
    first = keep(store, b"first")
    shutil.rmtree(tmp_path / "state" / gone)

    second = keep(store, b"second")
    assert store.read(second.ref, 0, 99) == b"second"
    assert store_in(tmp_path / "state").read(second.ref, 0, 99) == b"second"
    if gone != "sessions/s/tmp":
        with pytest.raises(RefNotFound):
            store.read(first.ref, 0, 9)


def test_a_stream_whose_folder_is_deleted_ends_with_an_error(tmp_path):
    store = store_in(tmp_path / "state")
    content = b"x" * (CHUNK_BYTES * 2)
    ref = ref_in(store, content)
    writer = store.writer(call_id="c", tool="t")
    writer.write(content)
    shutil.rmtree(tmp_path / "state")

    with pytest.raises(StoreError, match="it is gone; the state folder was deleted or moved"):
        writer.commit(ref, hashlib.sha256(content).hexdigest())


@pytest.mark.proves("K3")
def test_what_killed_processes_left_unfinished_is_removed_by_the_next(tmp_path):
    keep(store_in(tmp_path), b"first")
    temps = session_path(tmp_path, "s") / "tmp"
    (temps / ".tmp-left").write_bytes(b"unfinished")
    live = store_in(tmp_path).writer(call_id="c", tool="t")
    live.write(b"x" * (CHUNK_BYTES * 2))
    (temps / ".tmp-left-again").write_bytes(b"unfinished")

    keep(store_in(tmp_path), b"second")

    # As long as it may become, so that this much is counted.
    assert [path.stat().st_size for path in temps.iterdir()] == [CHUNK_BYTES * 4]
    live.abort()


@pytest.mark.proves("P11", "K5")
@pytest.mark.parametrize("size", [500, CHUNK_BYTES * 2])
def test_a_disk_that_takes_a_part_keeps_none_of_it_and_reads_go_on(tmp_path, size):
    store = store_in(tmp_path)
    first = keep(store, b"first")
    before = everything(tmp_path)

    with file_size_limit(400):
        with pytest.raises(StoreError) as caught:
            keep(store, b"x" * size)
        assert store.read(first.ref, 0, 99) == b"first"
        assert everything(tmp_path) == before

    assert str(caught.value) == (
        f"the folder of unfinished objects {tmp_path}/sessions/s/tmp: "
        "over the file-size limit of this process; raise it (ulimit -f)"
    )
    again = keep(store, b"x" * size)
    assert store_in(tmp_path).read(again.ref, 0, size) == b"x" * size


@pytest.mark.proves("P11")
def test_an_index_that_cannot_grow_fails_the_write_and_is_mended_by_the_next(tmp_path):
    store = store_in(tmp_path)
    keep(store, b"first")
    size = (session_path(tmp_path, "s") / "index").stat().st_size
    with file_size_limit(size + 5), pytest.raises(StoreError) as caught:
        keep(store, b"second")

    assert str(caught.value).startswith(
        f"the journal {tmp_path}/sessions/s/index: over the file-size limit"
    )

    about = keep(store, b"second", call_id="c2")
    assert store_in(tmp_path).about(about.ref) == about
