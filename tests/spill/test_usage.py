import fcntl
import os

import pytest

from headgate.disk import Folder
from headgate.errors import StoreError
from headgate.retention import Retention
from headgate.spill.usage import Counts, Disk, Usage


@pytest.fixture
def usage(tmp_path):
    return Usage(Folder(tmp_path / "state"))


def test_counts_are_there_for_the_next_who_takes_the_lock(usage, tmp_path):
    session = Folder(tmp_path / "state").sub("s", "the session's folder")
    with usage.locked() as books:
        assert (books.total(), books.of(session)) == (None, Counts())
        books.set_total(Counts(10, 2, 99))
        books.set_of(session, Counts(7, 1))

    with usage.locked() as books:
        assert (books.total(), books.of(session)) == (Counts(10, 2, 99), Counts(7, 1))


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
    monkeypatch.setattr("headgate.journal.LOCK_WAIT_S", 0.01)
    with usage.locked(), pytest.raises(StoreError, match="was locked by another process"):  # noqa: SIM117
        with usage.locked():
            pass


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
