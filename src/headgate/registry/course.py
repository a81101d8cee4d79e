"""The course of a batch: which calls run, which wait, and how each came to its end.

Pure: messages and times come in, what to start and what to stop goes out. So sync and async batches
run the same course, and differ only in how they wait.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

MOST_AT_ONCE = 64
"""Calls of one batch that run at the same time; models ask for a handful."""


@dataclass(frozen=True, slots=True)
class Lane:
    """What the course has to know of one call."""

    timeout_s: float
    alone: bool = False
    """Whether no other call of the batch may run beside it."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The tool gave something back."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The tool raised."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The tool was still running when its time was over."""

    timeout_s: float


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The batch was cancelled."""

    reason: str
    was_running: bool


End: TypeAlias = Returned | Raised | TimedOut | Cancelled


@dataclass(frozen=True, slots=True)
class Ended:
    """A message: the tool of this call is over."""

    number: int
    outcome: Returned | Raised


@dataclass(frozen=True, slots=True)
class Stop:
    """A message: end the batch; what still runs is told to stop."""

    reason: str
    at_once: bool = False
    """Whether there is no time to clean up."""


Message: TypeAlias = Ended | Stop | None
"""None: nothing happened but time."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to do now."""

    start: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    """Calls that were told to stop and go on."""


@dataclass(slots=True)
class Course:
    """Where each call of a batch stands."""

    lanes: Mapping[int, Lane]
    """The calls that are to be run, by their number in the batch."""
    grace_s: float
    """What a tool gets to clean up after it was told to stop."""
    waiting: deque[int] = field(default_factory=deque)
    running: dict[int, float] = field(default_factory=dict)
    """Each with the time at which it is over."""
    stopping: dict[int, float] = field(default_factory=dict)
    """Answered, and on their way out, each with the time at which it is left to itself."""
    ends: dict[int, End] = field(default_factory=dict)
    ended_at: dict[int, float] = field(default_factory=dict)
    started_at: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.waiting.extend(self.lanes)

    @property
    def done(self) -> bool:
        """Whether every call has its end and nothing is waited for."""
        return not self.waiting and not self.running and not self.stopping

    def wait_s(self, now: float) -> float | None:
        """How long to wait for a message; None: until one comes."""
        first = min([*self.running.values(), *self.stopping.values()], default=math.inf)
        return None if first == math.inf else max(first - now, 0.0)

    def took_s(self, number: int) -> float:
        """How long a call ran until it had its answer; 0: it never did."""
        return self.ended_at.get(number, 0.0) - self.started_at.get(number, 0.0)

    def take(self, message: Message, now: float) -> Step:
        """Take in what happened until `now`."""
        stop: list[int] = []
        if isinstance(message, Ended):
            self._end(message.number, message.outcome, now)
        elif isinstance(message, Stop):
            stop += self._cancel(message, now)
        stop += self._expire(now)
        left = [number for number, over in self.stopping.items() if over <= now]
        for number in left:
            del self.stopping[number]
        return Step(tuple(self._start(now)), tuple(stop), tuple(left))

    def _end(self, number: int, outcome: Returned | Raised, now: float) -> None:
        self.stopping.pop(number, None)
        if self.running.pop(number, None) is not None:
            self.ends[number] = outcome
            self.ended_at[number] = now

    def _cancel(self, stop: Stop, now: float) -> list[int]:
        for number in self.waiting:
            self.ends[number] = Cancelled(stop.reason, was_running=False)
        self.waiting.clear()
        stopped = list(self.running)
        for number in stopped:
            self._give_up(number, Cancelled(stop.reason, was_running=True), now)
        if stop.at_once:
            self.stopping = dict.fromkeys(self.stopping, now)
        return stopped

    def _expire(self, now: float) -> list[int]:
        expired = [number for number, over in self.running.items() if over <= now]
        for number in expired:
            self._give_up(number, TimedOut(self.lanes[number].timeout_s), now)
        return expired

    def _give_up(self, number: int, end: End, now: float) -> None:
        del self.running[number]
        self.ends[number] = end
        self.ended_at[number] = now
        self.stopping[number] = now + self.grace_s

    def _start(self, now: float) -> list[int]:
        started: list[int] = []
        while self.waiting and self._may_start(self.lanes[self.waiting[0]]):
            number = self.waiting.popleft()
            self.running[number] = now + self.lanes[number].timeout_s
            self.started_at[number] = now
            started.append(number)
        return started

    def _may_start(self, lane: Lane) -> bool:
        # A tool that was told to stop and has not ended yet still holds what it must have alone.
        busy = [*self.running, *self.stopping]
        if not busy:
            return True
        beside = not lane.alone and not any(self.lanes[number].alone for number in busy)
        return beside and len(busy) < MOST_AT_ONCE
