import fcntl
import os
import stat
from threading import Thread

import pytest

from headgate.disk import Folder
from headgate.errors import StoreError
from headgate.retention import Retention
from headgate.spill.usage import Counts, Disk, Sheet, Usage


@pytest.fixture
def usage(tmp_path):
    return Usage(Folder(tmp_path / "state"))


@pytest.fixture
def sheet(tmp_path):
    return Sheet(Folder(tmp_path / "state").sub("s", "the session's folder"))


def test_counts_are_there_for_the_next_who_takes_the_lock(usage, sheet, tmp_path):
    with usage.locked() as books:
        assert (books.total(), sheet.read()) == (None, Counts())
        books.set_total(Counts(10, 2, 99))
        sheet.write(Counts(7, 1))

    with Usage(Folder(tmp_path / "state")).locked() as books:
        assert (books.total(), sheet.read()) == (Counts(10, 2, 99), Counts(7, 1))


def test_what_another_wrote_is_read_from_the_file_that_stays_open(usage, sheet, tmp_path):
    other = Sheet(Folder(tmp_path / "state").sub("s", "the session's folder"))
    for count in range(3):
        sheet.write(Counts(count * 10, count))
        assert other.read() == Counts(count * 10, count)

        with Usage(Folder(tmp_path / "state")).locked() as books:
            books.set_total(Counts(count))
        with usage.locked() as books:
            assert books.total() == Counts(count)


def test_a_count_without_a_file_is_of_nothing_or_not_known(sheet, tmp_path):
    assert sheet.read() == Counts()

    (tmp_path / "state" / "s").mkdir(parents=True, mode=0o700)
    assert sheet.read() is None


@pytest.mark.parametrize("gone", ["removed", "replaced"])
def test_counts_never_go_to_a_file_that_is_no_longer_at_its_path(usage, sheet, tmp_path, gone):
    state = tmp_path / "state"
    with usage.locked() as books:
        books.set_total(Counts(10, 2))
        sheet.write(Counts(7, 1))
    put_away(state, gone)

    with usage.locked() as books:
        assert (books.total(), sheet.read()) == (None, None)
        books.set_total(Counts(3, 1))
        sheet.write(Counts(4, 1))

    assert Sheet(Folder(state)).read() == Counts(3, 1)
    assert Sheet(Folder(state).sub("s", "the session's folder")).read() == Counts(4, 1)


def put_away(state, gone):
    for file in (state / "usage", state / "s" / "usage"):
        file.unlink()
        if gone == "replaced":
            file.write_bytes(b"")


def test_a_count_that_was_opened_up_is_private_again(usage, sheet, tmp_path):
    files = [tmp_path / "state" / "usage", tmp_path / "state" / "s" / "usage"]
    with usage.locked():
        sheet.write(Counts(7, 1))
        sheet.read()
    for file in files:
        file.chmod(0o644)

    with usage.locked():
        sheet.read()

    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"hg-use1\n" + b"\1" * 32, b"x" * 99])
def test_counts_that_make_no_sense_are_counted_anew(usage, tmp_path, damage):
    with usage.locked() as books:
        books.set_total(Counts(10, 2))
    (tmp_path / "state" / "usage").write_bytes(damage)

    with usage.locked() as books:
        assert books.total() is None


def test_one_at_a_time_has_the_lock(usage, tmp_path):
    with usage.locked():
        other = os.open(tmp_path / "state" / "usage", os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)


def test_a_lock_that_is_kept_is_told_after_a_while(usage, tmp_path, monkeypatch):
    monkeypatch.setattr("headgate.locks.LOCK_WAIT_S", 0.01)
    other = Usage(Folder(tmp_path / "state"))
    with usage.locked(), pytest.raises(StoreError, match="was locked by another process"):  # noqa: SIM117
        with other.locked():
            pass


def test_who_does_not_wait_is_told_at_once(usage):
    with usage.locked(), pytest.raises(StoreError, match="was locked by another process just now"):  # noqa: SIM117
        with usage.locked(wait=False):
            pass

    with usage.locked(wait=False) as books:
        assert books.total() is None


def test_a_lock_is_let_go_after_an_error(usage):
    with pytest.raises(ZeroDivisionError), usage.locked():
        raise ZeroDivisionError

    with usage.locked(wait=False):
        pass


def test_what_an_interrupt_left_locked_is_free_again_after_the_next_use(usage, tmp_path):
    usage.take(wait=True)  # and never let go of

    with usage.locked() as books:
        assert books.total() is None

    thread = Thread(target=lambda: usage.take(wait=False))
    thread.start()
    thread.join()
    assert usage._held == (usage._guard.lock, thread.ident)


@pytest.mark.proves("P13")
def test_threads_with_one_usage_take_turns(usage):
    def add() -> None:
        for _ in range(100):
            with usage.locked() as books:
                books.set_total((books.total() or Counts()).plus(1, 1))

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with usage.locked() as books:
        assert books.total() == Counts(400, 400)


@pytest.mark.proves("P13")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_has_no_part_in_the_lock_its_parent_holds(usage):
    with usage.locked() as books:
        books.set_total(Counts(1, 1))
        child = os.fork()
        if not child:
            status = 1
            try:
                with usage.locked(wait=False):
                    pass
            except StoreError:
                status = 7
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

    child = os.fork()
    if not child:
        status = 1
        try:
            with usage.locked(wait=False) as books:
                books.set_total(Counts(2, 2))
                status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with usage.locked(wait=False) as books:
        assert books.total() == Counts(2, 2)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_lock_that_was_let_go_is_free_while_a_child_of_its_time_lives(usage, tmp_path):
    read, write = os.pipe()
    with usage.locked():
        child = os.fork()
        if not child:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    os.close(read)

    with Usage(Folder(tmp_path / "state")).locked(wait=False) as books:
        assert books.total() is None
    os.close(write)
    os.waitpid(child, 0)


def test_a_change_never_leads_below_zero():
    assert Counts(5, 1, 7).plus(-9, -3) == Counts(0, 0, 7)


@pytest.mark.proves("K4")
@pytest.mark.parametrize(
    ("free", "free_inodes", "need", "short"),
    [
        (2_000, 900, 500, 0),
        (1_400, 900, 500, 100),
        (9_000, 9, 500, 500),
        (9_000, 0, 0, 1),
    ],
)
def test_what_is_missing_to_the_floor_is_told_in_bytes(free, free_inodes, need, short):
    disk = Disk(100_000, free, 1_000, free_inodes)

    assert disk.short_bytes(Retention(free_bytes=1_000), need) == short
    assert disk.short_bytes(Retention(free_bytes=None), need) == 0
