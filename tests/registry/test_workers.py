import asyncio
import os
import threading
from threading import Barrier, Event

import pytest

from headgate.registry.workers import Workers

WAIT_S = 5


def ran_in(workers):
    """Run something, and give the thread it ran in."""
    threads, done = [], Event()

    def task():
        threads.append(threading.current_thread())
        done.set()

    workers.start(task)
    assert done.wait(WAIT_S)
    return threads[0]


def test_as_many_run_at_once_as_are_given():
    workers, together, done = Workers(), Barrier(21), Event()

    def task():
        together.wait(WAIT_S)
        done.set()

    for _ in range(20):
        workers.start(task)
    together.wait(WAIT_S)

    assert done.wait(WAIT_S)


def test_threads_are_used_again():
    workers, before = Workers(), set(threading.enumerate())
    together = Barrier(2)

    for _ in range(50):
        workers.start(lambda: together.wait(WAIT_S))
        together.wait(WAIT_S)
        ran_in(workers)

    # A thread counts itself idle just after its task; until then another one may be started.
    assert len(set(threading.enumerate()) - before) < 50


def test_a_thread_that_nobody_needs_ends():
    thread = ran_in(Workers(idle_s=0.01))

    thread.join(WAIT_S)

    assert not thread.is_alive()


def test_threads_do_not_keep_the_process_from_ending():
    assert ran_in(Workers()).daemon


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    workers = Workers()
    ran_in(workers)
    ran_in(workers)

    child = os.fork()
    if child == 0:
        os._exit(0 if ran_in(workers).is_alive() else 1)

    assert os.waitpid(child, 0)[1] == 0


def test_an_event_loop_can_wait_for_a_thread():
    workers = Workers()

    async def main():
        thread = await workers.run(threading.current_thread)
        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda: 1 / 0)
        return thread

    assert asyncio.run(main()).name == "headgate-tool"


def test_a_thread_that_nobody_waits_for_any_more_ends_quietly():
    workers, begun, go_on, done = Workers(), Event(), Event(), Event()

    def act():
        begun.set()
        go_on.wait(WAIT_S)

    async def main():
        task = asyncio.create_task(workers.run(act))
        assert await asyncio.to_thread(begun.wait, WAIT_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        # It has come back to the loop when the next one has.
        await workers.run(done.set)

    asyncio.run(main())

    assert done.is_set()
