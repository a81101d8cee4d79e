"""One batch of calls: run, answered and admitted, however it ends.

Sync and async batches follow the same course; they differ in how they wait for its messages.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import Context as Variables
from contextvars import copy_context
from dataclasses import replace
from queue import Empty, SimpleQueue
from threading import Lock, RLock

from headgate.events import CallEnded, CallLeft, Event, Hook
from headgate.registry.answers import answered, end_of, failed
from headgate.registry.context import Context
from headgate.registry.course import Course, Ended, Lane, Message, Raised, Returned, Stop
from headgate.registry.jobs import Job, Jobs, turned
from headgate.registry.loop import LoopThread
from headgate.registry.wording import in_words, line_of, traceback_of
from headgate.registry.workers import Workers
from headgate.types import Amount, Call, ShownResult, ToolResult

LOG = logging.getLogger("headgate.registry")

WAIT_S = 0.5
"""An interrupt that comes in the instant before a wait does not end it, but is seen after it."""


class Batch:
    """Calls that answer one assistant message; made by `Registry.batch`, and run once.

    When `run` or `arun` is over, by returning or by raising, `results` has an answer to every call,
    in the order of the calls, each admitted by the gate.
    """

    def __init__(
        self,
        made: Jobs,
        jobs: Sequence[Job],
        *,
        workers: Workers,
        loop: LoopThread,
        lane: Callable[[Job], Lane],
        grace_s: float,
        question: str,
        prefix: bytes,
        notes: Mapping[str, str],
        hooks: Sequence[Hook],
    ) -> None:
        self.results: list[ShownResult] = []
        self._made = made
        self._jobs = list(jobs)
        self._gate = made.gate
        self._workers = workers
        self._own_loop = loop
        self._lane = lane
        self._course = Course({}, grace_s)
        self._question = question
        self._prefix = prefix
        self._notes = notes
        self._hooks = hooks
        self._contexts: dict[int, Context] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._post: Callable[[Message], None] | None = None
        """From any thread."""
        self._on_loop: Callable[[Message], None] | None = None
        """From the loop that `arun` runs on, without a detour."""
        self._early: list[Message] = []
        self._opening = Lock()
        self._admitting = RLock()

    @property
    def calls(self) -> list[Call]:
        """What the model asked for."""
        return [job.call for job in self._jobs]

    def cancel(self, reason: str = "") -> None:
        """Stop what runs and start nothing more; from any thread. The batch then ends as always."""
        self._send(Stop(reason))

    def run(self) -> list[ShownResult]:
        """Run the calls and wait for all of them; async tools run on a loop of the registry."""
        mailbox: SimpleQueue[Message] = SimpleQueue()
        self._open(mailbox.put)
        try:
            if any(job.page for job in self._jobs):
                self._settle()
            self._begin()
            while not self._course.done:
                self._advance(_next(mailbox, self._course.wait_s(time.monotonic())))
            return self._admit()
        except BaseException:
            # The program is interrupted; the model's calls are answered before it goes on.
            self._advance(Stop("interrupted", at_once=True))
            self._admit()
            raise

    async def arun(self) -> list[ShownResult]:
        """The same on the running event loop; where the task is cancelled, it ends cancelled."""
        loop = self._loop = asyncio.get_running_loop()
        mailbox: asyncio.Queue[Message] = asyncio.Queue()
        self._open(lambda message: _put(loop, mailbox.put_nowait, message))
        self._on_loop = mailbox.put_nowait
        try:
            if any(job.page for job in self._jobs):
                await self._workers.run(self._settle)
            self._begin()
            await self._follow(mailbox)
            return await self._workers.run(self._admit)
        except asyncio.CancelledError:
            self._advance(Stop("cancelled"))
            try:
                await self._follow(mailbox)
            except asyncio.CancelledError:
                self._advance(Stop("cancelled", at_once=True))
            self._admit()
            raise
        except BaseException:
            self._advance(Stop("interrupted", at_once=True))
            self._admit()
            raise

    async def _follow(self, mailbox: asyncio.Queue[Message]) -> None:
        while not self._course.done:
            self._advance(await _next_async(mailbox, self._course.wait_s(time.monotonic())))

    def _open(self, post: Callable[[Message], None]) -> None:
        with self._opening:
            if self._post is not None:
                raise RuntimeError("this batch was run already; make another one")
            self._post = post

    def _settle(self) -> None:
        self._jobs = self._made.settled(self._jobs)

    def _begin(self) -> None:
        lanes: dict[int, Lane] = {}
        for number, job in enumerate(self._jobs):
            if job.act is not None:
                lanes[number] = self._lane(job)
                self._contexts[number] = self._context(job)
            elif job.answer is not None:
                call, said = job.call, line_of(job.answer.text)
                self._tell(CallEnded(call.call_id, call.tool, "refused", 0, said))
        self._course = Course(lanes, self._course.grace_s)
        for message in [*self._early, None]:
            self._advance(message)

    def _send(self, message: Message) -> None:
        with self._opening:
            post = self._post
            if post is None:
                self._early.append(message)
        if post is not None:
            post(message)

    def _advance(self, message: Message) -> None:
        """Take in what happened, and do what follows from it."""
        course, before = self._course, set(self._course.ends)
        step = course.take(message, time.monotonic())
        for number in step.stop:
            self._stop(number)
        for number in sorted(course.ends.keys() - before):
            self._contexts[number].close()
            self._tell_end(number)
        for number in step.left:
            call = self._jobs[number].call
            self._tell(CallLeft(call.call_id, call.tool))
        for number in step.start:
            self._start(number)

    def _start(self, number: int) -> None:
        tool = self._jobs[number].tool
        if tool is None or not tool.is_async:
            variables = copy_context()
            self._workers.start(lambda: self._work(number, variables))
            return
        if self._loop is not None:
            self._spawn(self._loop, number)
            return
        loop = self._own_loop.loop()
        loop.call_soon_threadsafe(self._spawn, loop, number)

    def _stop(self, number: int) -> None:
        self._contexts[number].stop()
        task = self._tasks.get(number)
        if task is not None:
            with suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)

    def _work(self, number: int, variables: Variables) -> None:
        """In a thread: run a tool that blocks."""
        outcome: Returned | Raised
        try:
            outcome = Returned(variables.run(self._act, number))
        except BaseException as error:  # noqa: BLE001  # whatever a tool raises is its result
            outcome = Raised(error)
        self._send(Ended(number, outcome))

    def _spawn(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        """On the loop: begin an async tool; a task has the variables of who asked for it."""
        self._tasks[number] = task = loop.create_task(self._await(number))
        task.add_done_callback(lambda task: self._dropped(number, task))
        if self._contexts[number].cancelled:
            task.cancel()

    def _dropped(self, number: int, task: asyncio.Task[None]) -> None:
        """A task that is cancelled before its first step never gets to say so itself."""
        if task.cancelled():
            self._send(Ended(number, Raised(asyncio.CancelledError())))

    async def _await(self, number: int) -> None:
        outcome: Returned | Raised
        try:
            made = self._act(number)
            outcome = Returned(await made if isinstance(made, Awaitable) else made)
        except BaseException as error:  # noqa: BLE001  # whatever a tool raises is its result
            outcome = Raised(error)
        send = self._on_loop or self._send
        send(Ended(number, outcome))

    def _act(self, number: int) -> object:
        act = self._jobs[number].act
        assert act is not None
        return act(self._contexts[number])

    def _admit(self) -> list[ShownResult]:
        """Answer every call and let the answers in; a second time changes nothing."""
        with self._admitting:
            if self.results or not self._jobs:
                return self.results
            given = [self._answer(number) for number in range(len(self._jobs))]
            pages = [
                turned(job, each, self._gate) for job, each in zip(self._jobs, given, strict=True)
            ]
            batch = [self._noted(result) for result, _ in pages]
            shown = self._gate.admit(batch, question=self._question, prefix=self._prefix)
            for number, (job, result) in enumerate(zip(self._jobs, given, strict=True)):
                verdict = shown[number].verdict
                if job.tool is not None and not result.is_error:
                    ref = pages[number][1] or verdict.ref
                    self._made.pages.remember(job.tool, result, ref)
            self.results = shown
            return shown

    def _answer(self, number: int) -> ToolResult:
        job, end = self._jobs[number], self._course.ends.get(number)
        if job.like is not None:
            return replace(
                self._answer(job.like), call_id=job.call.call_id, arguments=job.arguments
            )
        if end is None:
            said = f"{job.call.tool} was not run: the batch was cancelled."
            return job.answer or failed(job.call, said, job.arguments)
        if job.tool is None and isinstance(end, Returned) and isinstance(end.value, ToolResult):
            # Read back by the gate itself, which alone may say so.
            return end.value
        try:
            result = answered(job.call, job.arguments, end)
        except Exception as error:  # noqa: BLE001  # what a tool returned may raise when it is read
            said = f"{job.call.tool} failed: its result cannot be read: {in_words(error)}"
            result = failed(job.call, said, job.arguments)
        return replace(
            result,
            declared=result.declared or self._made.declared(job.call.tool),
            promised=job.promised,
            pages_itself=job.page is None,
        )

    def _noted(self, result: ToolResult) -> ToolResult:
        note = self._notes.get(result.call_id)
        return replace(result, note=note) if note else result

    def _context(self, job: Job) -> Context:
        policy, share = self._gate.policy, job.promised
        most = None if share is None else Amount(share - policy.block_overhead, policy.unit)
        return Context(job.call, most, self._tell)

    def _tell_end(self, number: int) -> None:
        call, end = self._jobs[number].call, self._course.ends[number]
        word, said = end_of(end)
        if isinstance(end, Raised) and word == "failed" and LOG.isEnabledFor(logging.INFO):
            LOG.info("%s failed (%s)\n%s", call.tool, call.call_id, traceback_of(end.error))
        took_ns = int(self._course.took_s(number) * 1e9)
        for job in (job for n, job in enumerate(self._jobs) if number in (n, job.like)):
            self._tell(CallEnded(job.call.call_id, call.tool, word, took_ns, said))

    def _tell(self, event: Event) -> None:
        """Tell everybody who listens; one that raises does not keep the others from hearing."""
        for hook in (self._gate.emit, *self._hooks):
            try:
                hook(event)
            except Exception as error:  # noqa: BLE001  # not ours, and no call may fail by it
                LOG.error("a hook raised on %s\n%s", type(event).__name__, traceback_of(error))


def _next(mailbox: SimpleQueue[Message], wait_s: float | None) -> Message:
    try:
        return mailbox.get(timeout=WAIT_S if wait_s is None else min(wait_s, WAIT_S))
    except Empty:
        return None


async def _next_async(mailbox: asyncio.Queue[Message], wait_s: float | None) -> Message:
    if wait_s is None:
        return await mailbox.get()
    over = asyncio.get_running_loop().call_later(wait_s, mailbox.put_nowait, None)
    try:
        return await mailbox.get()
    finally:
        over.cancel()


def _put(loop: asyncio.AbstractEventLoop, put: Callable[[Message], None], message: Message) -> None:
    # A tool that was left may end after the loop did; then nobody waits for it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(put, message)
