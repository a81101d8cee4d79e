import fcntl
import os
import shutil
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import journal as journal_module
from headgate.disk import Folder
from headgate.errors import StoreError
from headgate.journal import FRAME, HEADER, Journal, Repair
from tests.faults import file_size_limit


def log_in(folder: Path, *, durable: bool = False) -> Journal:
    return Journal(Folder(folder) / "log", durable=durable)


def write(journal: Journal, *records: bytes) -> None:
    journal.append(lambda _: records)


@given(st.lists(st.lists(st.binary(max_size=200), min_size=1, max_size=4), max_size=6))
@settings(max_examples=50)
def test_records_come_back_in_order_whatever_is_in_them(tmp_path_factory, batches):
    folder = tmp_path_factory.mktemp("journal")
    writer = log_in(folder)
    for batch in batches:
        write(writer, *batch)

    assert log_in(folder).catch_up() == [record for batch in batches for record in batch]


def test_opening_a_journal_touches_nothing(tmp_path):
    journal = log_in(tmp_path / "a")

    assert journal.catch_up() == []
    assert list(tmp_path.iterdir()) == []


def test_a_journal_and_its_folder_are_private(tmp_path):
    write(log_in(tmp_path / "a" / "b"), b"one")

    paths = [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "log"]
    assert [stat.S_IMODE(p.stat().st_mode) for p in paths] == [0o700, 0o700, 0o600]


def test_the_file_is_a_header_and_framed_records(tmp_path):
    write(log_in(tmp_path), b"one", b"")

    assert (tmp_path / "log").read_bytes() == (
        b"headgate-log-01\n"
        + FRAME.pack(3, 0x6DF620E6845B6612)
        + b"one"
        + FRAME.pack(0, 0x2D06800538D394C2)
    )


def test_catching_up_gives_each_record_once(tmp_path):
    ours, theirs = log_in(tmp_path), log_in(tmp_path)
    write(theirs, b"one", b"two")

    assert ours.catch_up() == [b"one", b"two"]
    assert ours.catch_up() == []
    write(theirs, b"three")
    assert ours.catch_up() == [b"three"]


@pytest.mark.proves("P13")
def test_whoever_appends_sees_first_what_others_wrote(tmp_path):
    ours, theirs = log_in(tmp_path), log_in(tmp_path)
    write(theirs, b"theirs")

    ours.append(lambda seen: [b"ours after " + b",".join(seen)])

    assert theirs.catch_up() == [b"ours after theirs"]


def test_our_own_records_are_not_handed_to_us(tmp_path):
    journal = log_in(tmp_path)
    write(journal, b"one")

    seen = []
    journal.append(lambda records: seen.extend(records) or [])

    assert seen == []
    assert journal.catch_up() == []


def test_a_decision_to_write_nothing_writes_nothing(tmp_path):
    journal = log_in(tmp_path)
    journal.append(lambda _: [])

    assert (tmp_path / "log").read_bytes() == HEADER


def test_a_decision_that_raises_leaves_the_journal_open_for_others(tmp_path):
    journal = log_in(tmp_path)

    with pytest.raises(ZeroDivisionError):
        journal.append(lambda _: [bytes(1 // 0)])

    write(log_in(tmp_path), b"one")
    assert journal.catch_up() == [b"one"]


@pytest.mark.proves("H8", "P12")
def test_a_torn_tail_is_set_aside_reported_and_written_over(tmp_path):
    write(log_in(tmp_path), b"one", b"two")
    with (tmp_path / "log").open("ab") as file:
        file.write(b"torn tail")

    journal = log_in(tmp_path)
    write(journal, b"three")

    assert journal.take_repairs() == [Repair(f"{tmp_path}/log", lost_bytes=9, kept_records=2)]
    assert journal.take_repairs() == []
    assert (tmp_path / "log.damaged-1").read_bytes() == b"torn tail"
    assert stat.S_IMODE((tmp_path / "log.damaged-1").stat().st_mode) == 0o600
    assert log_in(tmp_path).catch_up() == [b"one", b"two", b"three"]


@pytest.mark.proves("H8")
def test_a_reader_reports_and_repairs_a_torn_tail_too(tmp_path):
    write(log_in(tmp_path), b"one")
    with (tmp_path / "log").open("ab") as file:
        file.write(b"torn")

    journal = log_in(tmp_path)

    assert journal.catch_up() == [b"one"]
    assert journal.take_repairs() == [Repair(f"{tmp_path}/log", lost_bytes=4, kept_records=1)]


def test_each_damage_is_set_aside_under_a_name_of_its_own(tmp_path):
    for text in (b"first", b"second"):
        write(log_in(tmp_path), b"record")
        with (tmp_path / "log").open("ab") as file:
            file.write(text)
    log_in(tmp_path).catch_up()

    found = {path.name: path.read_bytes() for path in tmp_path.glob("log.damaged-*")}
    assert found == {"log.damaged-1": b"first", "log.damaged-2": b"second"}


def test_an_emptied_journal_is_reported(tmp_path):
    write(log_in(tmp_path), b"one")
    os.truncate(tmp_path / "log", 0)

    journal = log_in(tmp_path)

    assert journal.catch_up() == []
    assert journal.take_repairs() == [Repair(f"{tmp_path}/log", lost_bytes=0, kept_records=0)]
    assert (tmp_path / "log").read_bytes() == HEADER


def test_a_journal_of_a_newer_version_is_left_alone(tmp_path):
    content = b"headgate-log-02\nwho knows"
    (tmp_path / "log").write_bytes(content)

    with pytest.raises(StoreError) as caught:
        write(log_in(tmp_path), b"one")

    assert str(caught.value) == f"{tmp_path}/log has format 02, written by a newer version"
    assert (tmp_path / "log").read_bytes() == content


@pytest.mark.proves("P11")
def test_a_disk_that_takes_a_part_leaves_none_of_it(tmp_path):
    journal = log_in(tmp_path)
    write(journal, b"one")
    before = (tmp_path / "log").read_bytes()

    with file_size_limit(len(before) + 30), pytest.raises(StoreError) as caught:
        write(journal, b"two", b"x" * 100)

    assert str(caught.value) == (
        f"the journal {tmp_path}/log: "
        "over the file-size limit of this process; raise it (ulimit -f)"
    )
    assert (tmp_path / "log").read_bytes() == before
    write(journal, b"three")
    assert log_in(tmp_path).catch_up() == [b"one", b"three"]


@pytest.mark.proves("P11")
def test_a_tail_that_cannot_be_set_aside_stays_until_it_can(tmp_path):
    write(log_in(tmp_path), b"one")
    with (tmp_path / "log").open("ab") as file:
        file.write(b"t" * 100)
    journal = log_in(tmp_path)

    with file_size_limit(20), pytest.raises(StoreError):
        write(journal, b"two")
    assert (tmp_path / "log").read_bytes().endswith(b"t" * 100)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]

    write(journal, b"two")
    assert log_in(tmp_path).catch_up() == [b"one", b"two"]
    assert (tmp_path / "log.damaged-1").read_bytes() == b"t" * 100


def test_a_record_that_was_taken_back_after_it_was_seen_breaks_nothing(tmp_path):
    ours, theirs = log_in(tmp_path), log_in(tmp_path)
    write(theirs, b"one")
    size = (tmp_path / "log").stat().st_size
    write(theirs, b"taken back")
    assert ours.catch_up() == [b"one", b"taken back"]
    os.truncate(tmp_path / "log", size)
    write(log_in(tmp_path), b"a much longer record instead")

    seen = []
    ours.append(lambda records: seen.extend(records) or [b"last"])

    assert seen == [b"one", b"a much longer record instead"]
    assert ours.take_repairs() == []
    assert log_in(tmp_path).catch_up() == [b"one", b"a much longer record instead", b"last"]


def test_a_shorter_file_is_read_from_the_start(tmp_path):
    ours = log_in(tmp_path)
    write(ours, b"one")
    size = (tmp_path / "log").stat().st_size
    write(ours, b"two")
    os.truncate(tmp_path / "log", size)

    assert ours.catch_up() == [b"one"]


@pytest.mark.parametrize("gone", ["log", "folder"])
def test_a_deleted_journal_is_begun_anew(tmp_path, gone):
    journal = log_in(tmp_path / "folder")
    write(journal, b"one")
    if gone == "log":
        (tmp_path / "folder" / "log").unlink()
    else:
        shutil.rmtree(tmp_path / "folder")

    assert journal.catch_up() == []
    write(journal, b"two")

    assert journal.take_repairs() == []
    assert log_in(tmp_path / "folder").catch_up() == [b"two"]


def test_a_record_never_goes_to_a_file_that_was_deleted_meanwhile(tmp_path):
    journal = log_in(tmp_path)
    write(journal, b"one")
    (tmp_path / "log").unlink()

    write(journal, b"two")

    assert log_in(tmp_path).catch_up() == [b"two"]


def test_a_journal_that_was_replaced_is_read_from_its_start(tmp_path):
    ours = log_in(tmp_path)
    write(ours, b"one")
    write(log_in(tmp_path / "other"), b"uno", b"due")
    (tmp_path / "other" / "log").replace(tmp_path / "log")

    assert ours.catch_up() == [b"uno", b"due"]
    write(ours, b"tre")
    assert log_in(tmp_path).catch_up() == [b"uno", b"due", b"tre"]


@pytest.mark.proves("K2")
@pytest.mark.parametrize("kind", ["symlink", "pipe", "folder"])
def test_only_a_plain_file_is_taken_for_a_journal(tmp_path, kind):
    if kind == "symlink":
        (tmp_path / "elsewhere").write_bytes(HEADER)
        (tmp_path / "log").symlink_to("elsewhere")
    elif kind == "pipe":
        os.mkfifo(tmp_path / "log", 0o600)
    else:
        (tmp_path / "log").mkdir()

    with pytest.raises(StoreError, match="/log"):
        write(log_in(tmp_path), b"one")

    if kind == "symlink":
        assert (tmp_path / "elsewhere").read_bytes() == HEADER


@pytest.mark.proves("P21")
def test_a_journal_that_was_opened_up_is_private_again(tmp_path):
    write(log_in(tmp_path), b"one")
    (tmp_path / "log").chmod(0o644)

    log_in(tmp_path).catch_up()

    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


@pytest.fixture
def stopped_writer(tmp_path, monkeypatch):
    """Somebody holds the lock, half of a record written, and never goes on."""
    monkeypatch.setattr("headgate.locks.LOCK_WAIT_S", 0.02)
    write(log_in(tmp_path), b"one")
    with (tmp_path / "log").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(FRAME.pack(100, 0) + b"half")
        file.flush()
        yield file


@pytest.mark.proves("P24")
def test_nobody_waits_for_ever_for_a_stopped_writer(tmp_path, stopped_writer):
    with pytest.raises(StoreError, match="was locked by another process"):
        write(log_in(tmp_path), b"two")


def test_a_reader_without_the_lock_stops_at_the_unfinished_record(tmp_path, stopped_writer):
    before = (tmp_path / "log").read_bytes()
    journal = log_in(tmp_path)

    assert journal.catch_up() == [b"one"]
    assert journal.take_repairs() == []
    assert (tmp_path / "log").read_bytes() == before


@pytest.mark.proves("P13")
def test_threads_on_one_journal_lose_nothing(tmp_path):
    journal = log_in(tmp_path)
    counts: list[int] = []

    def work(name: int) -> None:
        for i in range(50):
            record = b"%d-%d" % (name, i)
            journal.append(lambda seen, record=record: counts.append(len(seen)) or [record])

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    wanted = {b"%d-%d" % (name, i) for name in range(8) for i in range(50)}
    found = log_in(tmp_path).catch_up()
    assert (len(found), set(found)) == (400, wanted)
    assert sum(counts) == 0


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_opens_the_journal_for_itself_whoever_held_it(tmp_path):
    journal = log_in(tmp_path)
    write(journal, b"parent")
    with journal._guard.lock:
        child = os.fork()
        if child == 0:
            # The lock is held for ever as far as the child can see.
            write(journal, b"child")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    write(journal, b"parent again")

    assert log_in(tmp_path).catch_up() == [b"parent", b"child", b"parent again"]


@pytest.mark.proves("K3")
def test_a_durable_journal_is_synced_before_append_returns(tmp_path, monkeypatch):
    synced: list[tuple[str, bytes]] = []
    fsync = os.fsync

    def noted(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        synced.append((path, b"" if os.path.isdir(path) else Path(path).read_bytes()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", noted)
    journal = log_in(tmp_path / "a", durable=True)
    write(journal, b"one")

    # The new file, the folders that lead to it, then the record.
    assert synced[0][1] == HEADER
    assert [path for path, _ in synced[1:-1]] == [str(tmp_path / "a"), str(tmp_path)]
    assert synced[-1] == (str(tmp_path / "a" / "log"), (tmp_path / "a" / "log").read_bytes())


def test_a_closed_journal_opens_again(tmp_path):
    journal = log_in(tmp_path)
    write(journal, b"one")
    journal.close()

    assert journal.catch_up() == [b"one"]


def test_a_journal_that_is_rewritten_is_found_by_all_who_have_the_old_one_open(tmp_path):
    ours, theirs = log_in(tmp_path), log_in(tmp_path)
    write(ours, b"one", b"two", b"three")
    assert theirs.catch_up() == [b"one", b"two", b"three"]

    ours.rewrite(lambda records: [b"".join(records)])
    write(theirs, b"four")

    assert ours.catch_up() == [b"onetwothree", b"four"]
    assert log_in(tmp_path).catch_up() == [b"onetwothree", b"four"]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_rewrite_that_fails_changes_nothing(tmp_path):
    ours = log_in(tmp_path)
    write(ours, b"one")

    with file_size_limit(20), pytest.raises(StoreError, match="file-size limit"):
        ours.rewrite(lambda _: [b"x" * 100])

    assert log_in(tmp_path).catch_up() == [b"one"]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize(
    ("tail", "lost"), [(b"", 0), (b"torn", 4), (FRAME.pack(3, 0) + b"abc", FRAME.size + 3)]
)
def test_what_belongs_to_no_record_is_counted_without_being_touched(tmp_path, tail, lost):
    write(log_in(tmp_path), b"one")
    with (tmp_path / "log").open("ab") as file:
        file.write(tail)
    before = (tmp_path / "log").read_bytes()

    assert journal_module.damaged_bytes(Folder(tmp_path) / "log") == lost
    assert (tmp_path / "log").read_bytes() == before
    assert journal_module.damaged_bytes(Folder(tmp_path) / "none") == 0
    assert journal_module.damaged_bytes(Folder(tmp_path / "gone") / "log") == 0
