"""The agent for programs without an event loop."""

from __future__ import annotations

import asyncio
import os
import selectors
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from threading import Thread
from types import TracebackType

from headgate.agent.agent import AsyncAgent
from headgate.agent.conversation import Conversation
from headgate.agent.turn import AgentEvent, Listener, Prompt, Turn
from headgate.gate import Gate
from headgate.model import Model
from headgate.registry import Registry

CLOSING_S = 1.0
"""A program that ends gives the loops of its agents this long to clean up."""


class Agent:
    """A model and tools around a gate; Ctrl-C ends a turn with every call answered.

    It has an event loop of its own, on which async tools and async clients run as well.
    """

    def __init__(
        self,
        model: Model,
        registry: Registry,
        gate: Gate,
        *,
        conversation: Conversation | None = None,
        window_tokens: int | None = None,
    ) -> None:
        """`window_tokens` is needed only for models that are not known by name."""
        self._agent = AsyncAgent(
            model, registry, gate, conversation=conversation, window_tokens=window_tokens
        )
        self._runner: asyncio.Runner | None = None
        self._pid = 0
        """Of the process whose loop that is."""

    @property
    def conversation(self) -> Conversation:
        """What was said so far."""
        return self._agent.conversation

    def run(self, prompt: Prompt | None = None, *, listen: Listener | None = None) -> Turn:
        """Let the model work until it has answered; without a prompt it goes on where it was."""
        return self._own_loop().run(self._agent.run(prompt, listen=listen))

    def stream(self, prompt: Prompt | None = None) -> Iterator[AgentEvent]:
        """The same as events, the last of which is the turn; leaving early cancels it."""
        runner, events = self._own_loop(), self._agent.stream(prompt)
        try:
            while (event := runner.run(_next(events))) is not None:
                yield event
        finally:
            runner.run(events.aclose())

    def cancel(self) -> None:
        """End the turn that runs, from any thread: what runs is stopped, every call is answered."""
        self._agent.cancel()

    def close(self) -> None:
        """Let go of the event loop; the next turn has another."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            if self._pid != os.getpid():
                return
            if asyncio._get_running_loop() is None:
                runner.close()
            else:
                _closing(runner).join()

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _own_loop(self) -> asyncio.Runner:
        if asyncio._get_running_loop() is not None:
            raise RuntimeError("an event loop runs here already; use AsyncAgent on it")
        if self._runner is None or self._pid != os.getpid():
            self._runner, self._pid = asyncio.Runner(loop_factory=_loop), os.getpid()
            weakref.finalize(self, _let_go, self._runner, self._pid)
        return self._runner


def _loop() -> asyncio.AbstractEventLoop:
    # A forked child that closes what it inherits would take the wake-ups of its parent out of an
    # epoll, which is one for both.
    return asyncio.SelectorEventLoop(selectors.PollSelector())


def _closing(runner: asyncio.Runner) -> Thread:
    thread = Thread(target=runner.close, name="headgate-agent-close", daemon=True)
    thread.start()
    return thread


def _let_go(runner: asyncio.Runner, pid: int) -> None:
    """Close the loop of an agent that nobody has any more; a forked child leaves it to its parent.

    That may come to light in any thread, even in one that the loop would wait for: so in a thread
    of its own.
    """
    if pid != os.getpid():
        return
    try:
        thread = _closing(runner)
    except RuntimeError:
        # Since 3.12 an interpreter that ends starts no thread; then this is its main one.
        _close_soon(runner)
        return
    if asyncio._get_running_loop() is None:
        thread.join(CLOSING_S)


def _close_soon(runner: asyncio.Runner) -> None:
    """Close a loop here; what has not cleaned up in time is left behind."""
    with suppress(RuntimeError):
        loop = runner.get_loop()
        loop.call_later(CLOSING_S, loop.stop)
        runner.close()


async def _next(events: AsyncIterator[AgentEvent]) -> AgentEvent | None:
    return await anext(events, None)
