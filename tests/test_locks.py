import fcntl
import os
from threading import Event, Lock, RLock, Thread

import pytest

from headgate.locks import Guard, take_lock, try_lock


def test_a_guard_says_that_it_was_not_forked():
    guard = Guard()

    with guard.lock:
        assert guard.take_fork() is False


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("make", [Lock, RLock])
def test_a_forked_child_finds_a_guard_open_whoever_held_it_and_is_told_once(make):
    guard = Guard(make)
    held, done = Event(), Event()

    def hold() -> None:
        with guard.lock:
            held.set()
            done.wait(5)

    thread = Thread(target=hold)
    thread.start()
    held.wait(5)
    child = os.fork()
    if not child:
        is_open = guard.lock.acquire(blocking=False)
        os._exit(0 if (is_open, guard.take_fork(), guard.take_fork()) == (True, True, False) else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not guard.lock.acquire(blocking=False)
    done.set()
    thread.join()


def test_the_lock_of_a_file_is_waited_for_a_while_and_no_longer(tmp_path, monkeypatch):
    monkeypatch.setattr("headgate.locks.LOCK_WAIT_S", 0.01)
    file = tmp_path / "file"
    file.touch()
    with file.open() as holder, file.open() as other:
        assert take_lock(holder.fileno(), fcntl.LOCK_EX)
        assert not take_lock(other.fileno(), fcntl.LOCK_EX)
        assert not try_lock(other.fileno())
        fcntl.flock(holder, fcntl.LOCK_UN)
        assert try_lock(other.fileno())
