from threading import Thread

from headgate import Call, tokens
from headgate.events import Progress
from headgate.registry.context import Context

WAIT_S = 5
CALL = Call("call_1", "build")


def context(told=None, share=None):
    return Context(CALL, share, (told if told is not None else []).append)


def test_a_context_knows_its_call_and_its_share():
    running = context(share=tokens(500))

    assert (running.call, running.share, running.cancelled) == (CALL, tokens(500), False)


def test_progress_says_whose_it_is_and_for_whom():
    told = []
    running = context(told)

    running.progress("half way")
    running.progress("cache miss", audience="internal")

    assert told == [
        Progress("call_1", "build", "half way", "user"),
        Progress("call_1", "build", "cache miss", "internal"),
    ]


def test_after_its_answer_nothing_is_heard_of_a_tool():
    told = []
    stopped, closed = context(told), context(told)

    stopped.stop()
    closed.close()
    stopped.progress("still here")
    closed.progress("still here")

    assert told == []
    assert (stopped.cancelled, closed.cancelled) == (True, False)


def test_a_wait_ends_when_the_call_is_cancelled():
    running = context()
    waited = []
    thread = Thread(target=lambda: waited.append(running.wait(WAIT_S)))
    thread.start()

    running.stop()
    thread.join(WAIT_S)

    assert waited == [True]
    assert running.wait(WAIT_S)


def test_a_wait_that_nobody_ends_says_so():
    assert context().wait(0) is False
