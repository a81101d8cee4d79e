import fcntl
import os

import pytest

from headgate.locks import Guard, take_lock, try_lock


def test_a_guard_is_taken_once_until_it_is_released(monkeypatch):
    monkeypatch.setattr("headgate.locks.LOCK_WAIT_S", 0.01)
    guard = Guard()

    assert guard.take(wait=True)
    assert not guard.take(wait=True)
    assert not guard.take(wait=False)
    guard.release()
    assert guard.take(wait=False)


def test_a_guard_says_that_it_was_not_forked():
    with Guard() as forked:
        assert forked is False


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("entered", [True, False])
def test_a_forked_child_finds_a_guard_open_whoever_held_it(entered):
    guard = Guard()
    with guard:
        child = os.fork()
        if not child:
            if entered:
                with guard as forked:
                    os._exit(0 if forked else 1)
            os._exit(0 if guard.take(wait=False) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not guard.take(wait=False)


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
