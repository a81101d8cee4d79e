from threading import Event

import pytest

from headgate.errors import StoreError
from headgate.spill.memory import MemoryStore
from headgate.timely import TimelyWriter, TooLate, in_time

LONG_S = 5.0


def fails():
    raise StoreError("the disk is full")


def test_what_is_there_in_time_is_given():
    assert in_time(lambda: 7, LONG_S) == 7
    assert in_time(lambda: None, LONG_S) is None
    assert in_time(lambda: 7, None) == 7


@pytest.mark.parametrize("wait_s", [LONG_S, None])
def test_a_failure_in_time_is_that_failure(wait_s):
    with pytest.raises(StoreError, match="the disk is full"):
        in_time(fails, wait_s)


def test_what_is_not_there_in_time_is_a_failure():
    released = Event()

    with pytest.raises(TooLate, match=r"the store did not answer within 0\.01 s"):
        in_time(released.wait, 0.01)

    released.set()


def test_a_writer_in_time_keeps_what_is_written():
    store = MemoryStore(1_000)
    writer = TimelyWriter(lambda: store.writer(call_id="c", tool="t", hashed=True), LONG_S)
    writer.write(b"one ")
    writer.write(b"two")

    about = writer.commit("r_aaaaaaaaaaaa", "ab" * 32)
    writer.abort()

    assert about.length == 7
    assert store.read("r_aaaaaaaaaaaa", 0, 7) == b"one two"


class Hanging:
    """A writer that hangs when it is written to, and counts how often it is told to forget."""

    def __init__(self, released: Event) -> None:
        self.released = released
        self.aborted = 0

    def write(self, data: bytes) -> None:
        self.released.wait()

    def abort(self) -> None:
        self.aborted += 1


def test_a_writer_that_hangs_is_touched_no_more():
    released = Event()
    hanging = Hanging(released)
    writer = TimelyWriter(lambda: hanging, 0.01)

    with pytest.raises(TooLate):
        writer.write(b"x")
    writer.abort()
    released.set()

    assert hanging.aborted == 0


def test_a_writer_that_answers_is_told_to_forget():
    inner = Hanging(Event())
    writer = TimelyWriter(lambda: inner, LONG_S)

    writer.abort()

    assert inner.aborted == 1
