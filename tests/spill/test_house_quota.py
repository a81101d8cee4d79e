import hashlib
import os
from itertools import count
from pathlib import Path

import pytest

from headgate.retention import Need
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.house import NoRoom
from tests.spill.housing import counted, on_disk, text
from tests.spill.keeping import keep, ref_in, session_path


@pytest.mark.proves("K4", "P15")
@pytest.mark.parametrize("limit", ["result_bytes", "session_bytes", "total_bytes"])
def test_one_result_larger_than_the_quota_is_kept_up_to_it(open_store, tmp_path, limit):
    store = open_store(**{limit: 700_000})
    content = b"%07d\n" * 1 % 7 * 125_000

    about = keep(store, content)

    assert (about.length, about.full_length) == (700_000, 1_000_000)
    assert store.read(about.ref, 0, 1 << 30) == content[:700_000]
    assert about.sha256 == hashlib.sha256(content).hexdigest()
    assert on_disk(tmp_path / "state") <= 701_000
    assert counted(store)[0] >= 700_000


@pytest.mark.proves("P9", "K4")
def test_a_part_that_was_kept_is_found_again_without_the_index(open_store, tmp_path):
    store = open_store(result_bytes=50)
    about = keep(store, text(0))
    (session_path(tmp_path / "state", "s") / "index").unlink()

    again = open_store().about(about.ref)

    assert (again.length, again.full_length, again.sha256) == (50, 100, about.sha256)
    assert open_store().read(about.ref, 0, 99) == text(0)[:50]


@pytest.mark.proves("K4")
def test_more_is_kept_of_the_same_content_when_more_is_allowed(open_store, tmp_path):
    part = keep(open_store(result_bytes=50), text(0))
    whole = keep(open_store(), text(0))

    assert (part.length, whole.length, whole.full_length) == (50, 100, None)
    (session_path(tmp_path / "state", "s") / "index").unlink()
    assert open_store().read(part.ref, 0, 999) == text(0)


@pytest.mark.proves("K4")
def test_no_character_is_cut_where_a_text_is_cut(open_store):
    about = keep(open_store(result_bytes=10), "ä".encode() * 4 + "€€".encode(), clean=True)

    assert about.length == 8
    assert Path(about.file).read_text() == "ääää"


@pytest.mark.proves("K4")
def test_a_stream_that_meets_the_quota_keeps_what_it_has(open_store, tmp_path):
    store, other = open_store(total_bytes=2_000_000), open_store("other", total_bytes=2_000_000)
    busy = other.writer(call_id="c", tool="t")
    busy.write(b"x" * 1_000_000)
    content = b"0123456\n" * 150_000
    writer = store.writer(call_id="c", tool="t")
    for at in range(0, len(content), 50_000):
        writer.write(content[at : at + 50_000])

    about = writer.commit(ref_in(store, content), hashlib.sha256(content).hexdigest())

    assert 0 < about.length < len(content)
    assert about.full_length == len(content)
    assert store.read(about.ref, 0, 1 << 30) == content[: about.length]
    assert on_disk(tmp_path / "state") <= 2_000_000
    busy.abort()
    assert counted(store) == (on_disk(tmp_path / "state"), 1)


@pytest.mark.proves("K4")
def test_the_end_of_a_stream_that_has_no_room_is_left_out(open_store):
    store, other = open_store(total_bytes=1_200_000), open_store("other", total_bytes=1_200_000)
    busy = other.writer(call_id="c", tool="t")
    busy.write(b"x" * CHUNK_BYTES + b"x")
    content = b"0123456\n" * 90_000
    writer = store.writer(call_id="c", tool="t")
    writer.write(content)

    about = writer.commit(ref_in(store, content), hashlib.sha256(content).hexdigest())

    assert (about.length, about.full_length) == (2 * CHUNK_BYTES, len(content))
    assert store.read(about.ref, 0, 1 << 30) == content[: 2 * CHUNK_BYTES]
    busy.abort()


@pytest.mark.proves("K4")
def test_where_nothing_can_be_removed_there_is_no_room(open_store):
    store = open_store(total_count=1)
    busy = store.writer(call_id="c", tool="t")
    busy.write(b"x" * 300_000)

    with pytest.raises(NoRoom, match="would be more than retention keeps in all"):
        keep(store, text(0))
    busy.abort()
    assert keep(store, text(0)).length == 100


@pytest.mark.proves("K4", "P13")
def test_room_that_was_made_is_not_taken_by_another_process(open_store, monkeypatch):
    ours, other = open_store(session_count=4), open_store(session_count=4)
    for i in range(4):
        keep(ours, text(i))
    numbers, let_go = count(100), ours.house.usage.let_go

    def and_another_is_first() -> None:
        let_go()
        keep(other, text(next(numbers)))

    monkeypatch.setattr(ours.house.usage, "let_go", and_another_is_first)

    assert keep(ours, text(4)).length == 100


@pytest.mark.proves("K4", "P11")
def test_a_disk_that_is_nearly_full_is_left_alone(open_store):
    store = open_store(free_bytes=1 << 60, session_bytes=None, total_bytes=None)
    store.house.state.make()
    disk = os.statvfs(store.house.state.path)
    if disk.f_bavail * disk.f_frsize > disk.f_blocks * disk.f_frsize * 0.05:
        assert keep(store, text(0)).length == 100, "the floor is a twentieth of the disk at most"
    need = Need("s", disk.f_blocks * disk.f_frsize, 1)

    temp = store.shelf.objects.begin()
    with pytest.raises(NoRoom, match="less free space on this disk than retention leaves"):
        store.house.reserve(store.shelf, store.retention, temp, need, 100)
    temp.discard()
