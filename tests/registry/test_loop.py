import asyncio
import gc
import threading

import pytest

from headgate.registry.loop import LoopThread

WAIT_S = 5


def on(loop, coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result(WAIT_S)


async def here():
    return threading.current_thread()


def test_the_loop_runs_in_one_thread_for_all_its_life():
    own = LoopThread()

    first, second = on(own.loop(), here()), on(own.loop(), here())

    assert first is second
    assert first is not threading.current_thread()
    assert first.daemon
    own.close()


def test_a_closed_loop_cancels_what_is_left_on_it_and_its_thread_ends():
    own, cleaned = LoopThread(), []

    async def forever(started):
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    started = threading.Event()
    asyncio.run_coroutine_threadsafe(forever(started), own.loop())
    assert started.wait(WAIT_S)
    thread = on(own.loop(), here())
    own.close()

    assert cleaned == ["up"]
    assert not thread.is_alive()


def test_after_closing_another_loop_is_begun():
    own = LoopThread()
    first = on(own.loop(), here())
    own.close()

    assert on(own.loop(), here()) is not first
    own.close()
    own.close()


def test_a_loop_that_nobody_has_any_more_ends():
    own = LoopThread()
    thread = on(own.loop(), here())

    del own
    gc.collect()
    thread.join(WAIT_S)

    assert not thread.is_alive()


def test_a_loop_does_not_wait_for_itself():
    own = LoopThread()

    async def inside():
        own.loop()

    with pytest.raises(RuntimeError, match="await arun_batch"):
        on(own.loop(), inside())
    own.close()
