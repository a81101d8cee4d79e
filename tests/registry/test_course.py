import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.registry.course import (
    MOST_AT_ONCE,
    Cancelled,
    Course,
    Ended,
    Lane,
    Raised,
    Returned,
    Step,
    Stop,
    TimedOut,
)

BROKEN = Raised(ValueError("no"))


def course(*lanes, grace_s=1.0):
    return Course(dict(enumerate(lanes)), grace_s)


def test_calls_start_together_and_end_in_any_order():
    calls = course(Lane(30), Lane(30))

    assert calls.take(None, 0) == Step(start=(0, 1))
    assert calls.take(Ended(1, Returned("b")), 2) == Step()
    assert not calls.done
    assert calls.take(Ended(0, BROKEN), 5) == Step()
    assert calls.done
    assert calls.ends == {0: BROKEN, 1: Returned("b")}
    assert (calls.took_s(0), calls.took_s(1)) == (5, 2)


def test_a_call_alone_waits_for_those_before_it_and_holds_back_those_after_it():
    calls = course(Lane(30), Lane(30, alone=True), Lane(30))

    assert calls.take(None, 0).start == (0,)
    assert calls.take(Ended(0, Returned(1)), 1).start == (1,)
    assert calls.take(Ended(1, Returned(2)), 2).start == (2,)


def test_no_more_than_so_many_run_at_once():
    calls = course(*[Lane(30)] * (MOST_AT_ONCE + 1))

    assert calls.take(None, 0).start == tuple(range(MOST_AT_ONCE))
    assert calls.take(Ended(3, Returned(1)), 1).start == (MOST_AT_ONCE,)


def test_a_call_out_of_time_is_told_to_stop_and_then_left():
    calls = course(Lane(10), Lane(math.inf))
    calls.take(None, 0)

    assert calls.wait_s(4) == 6
    assert calls.take(None, 9) == Step()
    assert calls.take(None, 10) == Step(stop=(0,))
    assert calls.ends == {0: TimedOut(10)}
    assert calls.wait_s(10.5) == 0.5
    assert calls.take(None, 11) == Step(left=(0,))
    assert calls.wait_s(11) is None
    assert not calls.done


def test_a_tool_that_ends_after_its_time_changes_nothing():
    calls = course(Lane(10))
    calls.take(None, 0)
    calls.take(None, 10)

    assert calls.take(Ended(0, Returned("late")), 10.2) == Step()
    assert calls.done
    assert calls.ends == {0: TimedOut(10)}


def test_what_must_run_alone_waits_until_a_stopped_call_is_gone():
    calls = course(Lane(10), Lane(10, alone=True))
    calls.take(None, 0)

    assert calls.take(None, 10) == Step(stop=(0,))
    assert calls.take(Ended(0, Returned("late")), 10.5) == Step(start=(1,))


def test_the_time_of_a_call_begins_when_it_starts():
    calls = course(Lane(10, alone=True), Lane(10, alone=True))
    calls.take(None, 0)
    calls.take(Ended(0, Returned(1)), 8)

    assert calls.wait_s(9) == 9


def test_a_cancelled_batch_keeps_what_has_ended():
    calls = course(Lane(30), Lane(30), Lane(30, alone=True))
    calls.take(None, 0)
    calls.take(Ended(0, Returned("a")), 1)

    assert calls.take(Stop("the user left"), 2) == Step(stop=(1,))
    assert not calls.done
    assert calls.take(Ended(1, BROKEN), 2.5) == Step()
    assert calls.done
    assert calls.ends == {
        0: Returned("a"),
        1: Cancelled("the user left", was_running=True),
        2: Cancelled("the user left", was_running=False),
    }


def test_an_interrupt_waits_for_nobody():
    calls = course(Lane(30), Lane(30))
    calls.take(None, 0)
    calls.take(Ended(0, Returned("a")), 1)

    assert calls.take(Stop("interrupted", at_once=True), 2) == Step(stop=(1,), left=(1,))
    assert calls.done


LANES = st.lists(st.builds(Lane, st.sampled_from([1.0, 5.0, math.inf]), st.booleans()), max_size=6)
MESSAGES = st.lists(
    st.tuples(
        st.one_of(
            st.none(),
            st.builds(Ended, st.integers(0, 5), st.sampled_from([Returned("x"), BROKEN])),
            st.builds(Stop, st.just("why"), st.booleans()),
        ),
        st.sampled_from([0.0, 0.5, 2.0]),
    ),
    max_size=20,
)


@pytest.mark.proves("G2")
@given(LANES, MESSAGES)
def test_whatever_happens_every_call_comes_to_one_end_and_starts_at_most_once(lanes, messages):
    calls = course(*lanes)
    now, running, started, stopped = 0.0, set(), [], []

    def take(message):
        step = calls.take(message, now)
        started.extend(step.start)
        stopped.extend(step.stop)
        running.update(step.start)
        running.difference_update(step.left)
        beside = [number for number in running if lanes[number].alone]
        assert not beside or len(running) == 1

    take(None)
    for message, passed_s in messages:
        now += passed_s
        if isinstance(message, Ended):
            # A tool speaks once, and only after it was started.
            if message.number not in running:
                continue
            running.discard(message.number)
        take(message)
    take(Stop("the end", at_once=True))

    assert calls.done
    assert sorted(calls.ends) == list(range(len(lanes)))
    assert len(set(started)) == len(started)
    assert len(set(stopped)) == len(stopped)
    assert set(stopped) <= set(started)
