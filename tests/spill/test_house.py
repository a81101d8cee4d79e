"""Retention with the real store: limits hold, what goes leaves a tombstone, counts are true."""

import hashlib
import os
from pathlib import Path

import pytest

from headgate.errors import RefGone, RefNotFound, StoreError
from headgate.retention import EVERYTHING, Retention
from headgate.spill.house import SWEEP_EVERY_NS, House
from headgate.spill.local import LocalStore
from headgate.spill.usage import Counts
from tests.faults import no_more_files
from tests.spill.housing import HOUR, START, counted, on_disk, text
from tests.spill.keeping import keep, ref_in, session_path


@pytest.mark.proves("K4", "P9")
def test_a_session_keeps_its_newest_and_says_of_the_others_that_they_are_gone(open_store, clock):
    store = open_store(session_bytes=350)
    refs = []
    for i in range(6):
        refs.append(keep(store, text(i)).ref)
        clock.now_ns += HOUR

    assert [about.ref for about in store.all()] == refs[3:]
    assert store.read(refs[5], 0, 999) == text(5)
    with pytest.raises(RefGone) as caught:
        store.about(refs[0])
    assert str(caught.value) == (
        f"result '{refs[0]}' is gone: removed 2027-01-15 11:00 UTC, because its session had more "
        "than is kept of one session; run the tool again to get it back"
    )
    assert [(one.ref, one.why) for one in store.take_removed()] == [
        (ref, "session") for ref in refs[:3]
    ]


@pytest.mark.proves("K4")
def test_plain_files_go_with_their_originals(open_store, tmp_path):
    store = open_store(session_count=1)
    first = keep(store, text(1), call_id="one")
    copy = keep(store, b"\xff no text", call_id="two")

    assert not Path(first.file).exists()
    assert Path(copy.file).exists()
    keep(store, text(3))
    assert not Path(copy.file).exists()
    assert len(list(session_path(tmp_path / "state", "s").glob("files/*"))) == 1


@pytest.mark.proves("K4")
def test_a_file_in_a_workspace_goes_only_if_it_still_is_the_original(tmp_path, clock):
    retention = Retention(session_count=1, free_bytes=None)
    work = tmp_path / "work"
    store = LocalStore(
        tmp_path / "state", "s", retention=retention, clock=clock, files_dir=work, name_by="call"
    )
    keep(store, text(1), call_id="first")
    keep(store, text(2), call_id="second")
    assert [path.name for path in work.iterdir()] == ["second.txt"]

    (work / "second.txt").unlink()
    (work / "second.txt").write_text("the user's own")
    keep(store, text(3), call_id="third")
    assert (work / "second.txt").read_text() == "the user's own"


@pytest.mark.proves("K4")
def test_all_sessions_share_the_total_and_the_least_recently_used_goes(open_store, clock):
    stores = [open_store(name, total_bytes=400) for name in ("a", "b", "c")]
    refs = []
    for i in range(6):
        refs.append(keep(stores[i % 3], text(i)).ref)
        clock.now_ns += HOUR

    assert [store.all() for store in stores] == [
        [stores[0].about(refs[3])],
        [stores[1].about(refs[4])],
        [stores[2].about(refs[2]), stores[2].about(refs[5])],
    ]
    with pytest.raises(RefGone, match="because there was more than is kept in all"):
        stores[0].read(refs[0], 0, 1)


@pytest.mark.proves("K4")
def test_what_a_live_history_refers_to_goes_last(open_store, clock):
    store = open_store(session_count=3)
    live = keep(store, text(0)).ref
    store.refer([b"link"], frozenset({live}))
    for i in range(1, 30):
        clock.now_ns += HOUR // 2
        keep(store, text(i))

    assert store.read(live, 0, 999) == text(0)
    store.refer([b"link", b"next"], frozenset())
    keep(store, text(99))
    with pytest.raises(RefGone):
        store.about(live)


@pytest.mark.proves("K4")
def test_reading_counts_as_use(open_store, clock):
    store = open_store(session_count=3)
    refs = [keep(store, text(i)).ref for i in range(3)]
    clock.now_ns += 48 * HOUR
    store.touch(refs[0])
    keep(store, text(3))

    assert store.all()[0].ref == refs[0]
    assert len(store.all()) == 3


@pytest.mark.proves("K4")
def test_what_is_too_old_goes_with_the_next_write_once_an_hour_has_passed(open_store, clock):
    store = open_store(age_s=24 * 3_600, live_s=3_600)
    old = keep(store, text(0)).ref
    clock.now_ns += 25 * HOUR
    young = keep(store, text(1)).ref

    assert [about.ref for about in store.all()] == [young]
    with pytest.raises(RefGone, match="it was not used for longer than results are kept"):
        store.about(old)
    clock.now_ns += SWEEP_EVERY_NS - 1
    keep(store, text(2))
    assert not store.house.is_due


@pytest.mark.proves("K4")
def test_what_is_too_old_goes_though_the_clock_was_ahead_the_last_time(open_store, clock):
    store = open_store(age_s=24 * 3_600, live_s=3_600)
    clock.now_ns += 1_000 * HOUR
    keep(store, text(0))
    clock.now_ns -= 1_000 * HOUR
    old = keep(store, text(1)).ref
    clock.now_ns += 26 * HOUR

    keep(store, text(2))

    with pytest.raises(RefGone, match="it was not used for longer than results are kept"):
        store.about(old)


def test_what_histories_dropped_is_remembered_while_it_makes_a_difference(open_store, clock):
    store = open_store(live_s=3_600)
    old = keep(store, text(0)).ref
    clock.now_ns += 2 * HOUR
    young = keep(store, text(1)).ref
    store.refer([b"a"], frozenset({old, young}))
    store.refer([b"a", b"b"], frozenset())
    assert store.shelf.live.read().dropped == {old, young}

    store.house.sweep(store.retention)

    assert store.shelf.live.read().dropped == {young}


@pytest.mark.proves("K4", "P1")
def test_the_same_content_kept_again_lifts_its_tombstone(open_store):
    store = open_store(session_count=1)
    first = keep(store, text(0)).ref
    keep(store, text(1))
    with pytest.raises(RefGone):
        store.read(first, 0, 1)

    keep(store, text(0))

    assert store.read(first, 0, 999) == text(0)
    assert open_store().read(first, 0, 999) == text(0)


@pytest.mark.proves("P9", "P14")
def test_another_process_learns_what_was_removed_and_another_session_nothing(open_store):
    ours, theirs, foreign = open_store(session_count=1), open_store(), open_store("other")
    ref = keep(theirs, text(0)).ref
    assert theirs.read(ref, 0, 999) == text(0)
    keep(ours, text(1))

    with pytest.raises(RefGone, match="is gone: removed"):
        theirs.read(ref, 0, 999)
    with pytest.raises(RefNotFound) as caught:
        foreign.read(ref, 0, 999)
    assert type(caught.value) is RefNotFound
    assert str(caught.value) == f"no result '{ref}' in this session; it may have expired"


@pytest.mark.proves("P9")
def test_an_object_that_somebody_deleted_is_told_as_gone(open_store, tmp_path):
    store = open_store()
    ref = keep(store, text(0)).ref
    (session_path(tmp_path / "state", "s") / "objects" / ref).unlink()

    with pytest.raises(RefGone) as caught:
        store.read(ref, 0, 1)
    assert str(caught.value) == (
        f"result '{ref}' is gone: its file is no longer there; run the tool again to get it back"
    )


@pytest.mark.proves("K4", "P13")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_and_its_parent_count_together(open_store, tmp_path):
    store = open_store()
    keep(store, text(0))
    child = os.fork()
    if not child:
        status = 1
        try:
            for i in range(100, 120):
                keep(store, text(i))
            status = 0
        finally:
            os._exit(status)
    for i in range(1, 21):
        keep(store, text(i))

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(store.all()) == 41
    assert counted(store) == (on_disk(tmp_path / "state"), 41) == (4_100, 41)


@pytest.mark.proves("K4")
@pytest.mark.parametrize("which", ["usage", "sessions/s/usage"])
def test_counts_that_somebody_deletes_are_counted_anew_by_who_has_them_open(
    open_store, tmp_path, which
):
    store = open_store()
    keep(store, text(0))
    (tmp_path / "state" / which).unlink()

    keep(store, text(1))

    assert counted(store) == (200, 2)
    assert counted(open_store()) == (200, 2)
    assert store.shelf.usage.read() == Counts(200, 2)


@pytest.mark.parametrize("used", [True, False])
def test_a_process_that_can_open_no_more_files_is_told_and_counts_on(open_store, tmp_path, used):
    store = open_store()
    if used:
        keep(store, text(0))
    ref, sha256 = ref_in(store, text(1)), hashlib.sha256(text(1)).hexdigest()
    with no_more_files(), pytest.raises(StoreError, match="too many open files"):
        store.put(ref, text(1), call_id="c", tool="t", sha256=sha256, clean=True)

    keep(store, text(1))

    kept = 2 if used else 1
    assert counted(store) == (on_disk(tmp_path / "state"), kept) == (100 * kept, kept)


@pytest.mark.proves("P15")
def test_what_is_counted_is_what_is_there(open_store, tmp_path):
    store = open_store(session_count=5)
    for i in range(12):
        content = [text(i), b"\xff%d" % i * 300, b"x" * 300_000 + b"%d" % i][i % 3]
        keep(store, content)
        keep(store, content, call_id="again")
    store.writer(call_id="c", tool="t").write(b"y" * 600_000)

    size, count = counted(store)
    assert (size, count) == (on_disk(tmp_path / "state"), len(store.all()))
    assert count <= 5


@pytest.mark.proves("P10", "P15")
def test_what_a_killed_process_had_counted_is_given_back_by_the_next_sweep(open_store, tmp_path):
    store = open_store()
    keep(store, text(0))
    with store.house.usage.locked() as books:
        books.set_total(Counts(10**9, 7, START))
    left = session_path(tmp_path / "state", "s") / "tmp" / ".tmp-left"
    left.write_bytes(b"x" * 500)

    swept = store.house.sweep(EVERYTHING)

    assert (swept.removed, swept.left) == ((), Counts(100, 1))
    assert not left.exists()
    assert counted(store) == (100, 1)


@pytest.mark.proves("K4")
def test_a_dry_sweep_says_what_would_go_and_removes_nothing(open_store, clock):
    store = open_store()
    refs = [keep(store, text(i)).ref for i in range(3)]
    clock.now_ns += 48 * HOUR

    swept = store.house.sweep(Retention(age_s=3_600, live_s=0, free_bytes=None), dry=True)

    assert {one.ref for one in swept.removed} == set(refs)
    assert len(store.all()) == 3


@pytest.mark.proves("P10")
def test_an_object_that_is_about_to_be_listed_is_left_alone(open_store, tmp_path, clock):
    store = open_store()
    ref = keep(store, text(0)).ref
    (session_path(tmp_path / "state", "s") / "index").unlink()
    strict = Retention(age_s=0, live_s=0, free_bytes=None)

    assert open_store().house.sweep(strict).removed == ()
    clock.now_ns += HOUR
    assert [one.ref for one in open_store().house.sweep(strict).removed] == [ref]


@pytest.mark.proves("P10")
def test_an_object_that_has_a_tombstone_is_removed_by_the_next_sweep(open_store, tmp_path):
    store = open_store(session_count=1)
    ref = keep(store, text(0)).ref
    keep(store, text(1))
    path = session_path(tmp_path / "state", "s") / "objects" / ref
    path.write_bytes(text(0))

    store.house.sweep(EVERYTHING)

    assert not path.exists()


@pytest.mark.proves("K4")
def test_an_index_of_tombstones_stays_short_and_forgets_none(
    open_store, tmp_path, clock, monkeypatch
):
    monkeypatch.setattr("headgate.spill.index.REWRITE_RECORDS", 20)
    store, other = open_store(session_count=2), open_store()
    refs = []
    for i in range(60):
        clock.now_ns += 1
        refs.append(keep(store, text(i), call_id=f"c{i}").ref)
    index = session_path(tmp_path / "state", "s") / "index"

    assert index.stat().st_size < 60 * 60
    for reader in (store, other, open_store()):
        for ref in refs[:-2]:
            with pytest.raises(RefGone):
                reader.about(ref)
        assert [about.ref for about in reader.all()] == refs[-2:]
        assert reader.all()[-1].call_id == "c59"


def test_a_session_that_cannot_be_looked_at_is_told_and_stops_no_other(open_store, clock, tmp_path):
    store = open_store(age_s=3_600, live_s=0)
    old = keep(store, text(0)).ref
    (tmp_path / "state" / "sessions" / "broken").mkdir(mode=0o777)
    (tmp_path / "state" / "sessions" / "broken").chmod(0o777)
    clock.now_ns += 2 * HOUR

    keep(store, text(1))

    assert "others may write in it" in store.take_trouble()
    assert store.take_trouble() is None
    with pytest.raises(RefGone):
        store.about(old)


@pytest.mark.proves("K4")
def test_a_history_that_only_grew_is_noted_now_and_then(open_store, clock, tmp_path):
    store = open_store()
    ref = keep(store, text(0)).ref
    live = session_path(tmp_path / "state", "s") / "live"
    store.refer([b"a"], frozenset())
    assert not live.exists()

    store.refer([b"a"], frozenset({ref}))
    written = live.stat().st_ino
    store.refer([b"a", b"b"], frozenset({ref}))
    assert live.stat().st_ino == written
    clock.now_ns += HOUR
    store.refer([b"a", b"b", b"c"], frozenset({ref}))
    assert live.stat().st_ino != written
    assert [sent.anchor for sent in store.shelf.live.read().sent] == [b"c"]


def test_a_house_without_sessions_is_swept(tmp_path):
    assert House(tmp_path / "state").sweep(Retention()).left == Counts()


def test_an_error_of_the_count_is_a_store_error(open_store, tmp_path):
    store = open_store()
    keep(store, text(0))
    (tmp_path / "state" / "usage").unlink()
    (tmp_path / "state" / "usage").mkdir()

    with pytest.raises(StoreError):
        keep(store, text(1))
    assert store.read(ref_in(store, text(0)), 0, 999) == text(0)


def test_a_writer_that_is_dropped_while_the_lock_is_held_waits_for_nobody(open_store, tmp_path):
    store = open_store()
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x" * 600_000)
    with store.house.usage.locked():
        del writer

    assert on_disk(tmp_path / "state") == 0
    assert counted(store)[0] > 0, "too high is safe, and the next sweep counts again"
    store.house.sweep(EVERYTHING)
    assert counted(store) == (0, 0)


def test_a_writer_that_is_dropped_after_its_counts_leaves_other_files_alone(open_store, tmp_path):
    store = open_store()
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x" * 600_000)
    # In what order things go that go together, nobody knows.
    for sheet in (store.house.usage._sheet, store.shelf.usage):
        sheet.__del__()
    others = [(tmp_path / name).open("w+b") for name in "ab"]

    del writer

    assert [other.read() for other in others] == [b"", b""]
    assert counted(store) == (0, 0)
    for other in others:
        other.close()
