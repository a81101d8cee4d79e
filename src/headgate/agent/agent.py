"""The loop, on one page: the model speaks, its calls run as a batch, what came back goes in, again.

It is for those who have no framework, and a reference for those who have. The history is valid at
every moment: where a turn is cancelled, breaks off, or its process is killed, every call has its
answer before the model is asked again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from headgate.ageing import Ageing
from headgate.agent.conversation import Conversation, encoded
from headgate.agent.ladder import Overflowed, Step, is_overflow, is_too_large, ladder
from headgate.agent.turn import AgentEvent, Answered, Called, Listener, Prompt, Reason, Turn
from headgate.async_gate import AsyncGate
from headgate.events import CallEnded, CallLeft, Event, Progress
from headgate.gate import Gate
from headgate.guards import Trip
from headgate.model import Model, Reply, Stop, WindowExceeded
from headgate.outgoing import Outcome
from headgate.registry import Batch, Registry
from headgate.types import Call, Text, ToolResult
from headgate.watch import Watch, arguments_of, refusal, tripped_events

CUT_OFF = (
    "Not run: the reply was cut off at its limit before the call was complete. Make it shorter."
)

REFUSED = "Not run: the reply was ended by a refusal, and the call may not be complete."

NOT_RUN: Mapping[Stop, str] = MappingProxyType({"length": CUT_OFF, "refusal": REFUSED})
"""What calls are told of a reply that did not end by itself."""


class AsyncAgent:
    """A model and tools around a gate, for event loops; one conversation, one turn at a time."""

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
        self.model = model
        self.registry = registry
        self.gate = gate
        self.conversation = conversation if conversation is not None else Conversation()
        self.window_tokens = window_tokens
        self._async_gate = AsyncGate(gate)
        self._watch = Watch(gate)
        self._tools = registry.definitions(model.dialect, gate.policy)
        self._question = ""
        self._task: asyncio.Task[object] | None = None
        """Where the turn runs that can be cancelled."""
        self._cancels = 0
        self._tell: Listener = _nobody
        self._reported: tuple[Outcome, Reply] | None = None
        """What the gate has still to learn from."""

    async def run(self, prompt: Prompt | None = None, *, listen: Listener | None = None) -> Turn:
        """Let the model work until it has answered; without a prompt it goes on where it was.

        `listen` hears what happens, on the loop. Cancelling the task ends it cancelled, with every
        call answered; `cancel` ends it with a turn that says so.
        """
        if self._task is not None:
            raise RuntimeError("this agent is in the middle of a turn; wait for it or cancel it")
        task = self._task = asyncio.current_task()
        self._cancels = 0
        self._tell = _on_loop(asyncio.get_running_loop(), listen) if listen else _nobody
        turn = Turn()
        try:
            self._begin(prompt)
            while True:
                reply = await self._ask()
                turn = turn.after(reply)
                if reply.calls:
                    halt = await self._answer(reply)
                    if halt is not None:
                        return await self._ended(replace(turn, text=halt.text, reason="halted"))
                else:
                    self.conversation.add(reply.messages)
                if reply.stop == "refusal" or not (reply.calls or reply.stop == "pause"):
                    return await self._ended(replace(turn, reason=_reason(reply)))
        except asyncio.CancelledError:
            if task is None or not self._cancels:
                raise
            for _ in range(self._cancels):
                task.uncancel()
            return await self._ended(replace(turn, reason="cancelled"))
        finally:
            if self._task is task:
                self._task = None

    async def stream(self, prompt: Prompt | None = None) -> AsyncGenerator[AgentEvent, None]:
        """The same as events, the last of which is the turn; leaving early cancels it."""
        heard: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        task = asyncio.ensure_future(self.run(prompt, listen=heard.put_nowait))
        task.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (event := await heard.get()) is not None:
                yield event
            await task
        finally:
            task.cancel()
            await asyncio.wait([task])

    def cancel(self) -> None:
        """End the turn that runs, from any thread: what runs is stopped, every call is answered."""
        task = self._task

        def stop() -> None:
            # On the loop: the turn may have ended meanwhile, and its task gone on to other things.
            if task is not None and self._task is task:
                self._cancels += 1
                task.cancel()

        if task is not None:
            with suppress(RuntimeError):  # the loop is closed: nothing runs
                task.get_loop().call_soon_threadsafe(stop)

    def _begin(self, prompt: Prompt | None) -> None:
        if prompt is None and not len(self.conversation):
            raise ValueError("nothing was said yet; begin with a prompt")
        if not isinstance(prompt, str | dict | None):
            raise TypeError(f"the prompt is {prompt!r}; it takes a text, or a message as an object")
        self.conversation.mend(self.gate, self.model.dialect)
        if prompt is None:
            return
        self._watch.begin_turn()
        self._question = prompt if isinstance(prompt, str) else ""
        self.conversation.add([self.model.user(prompt) if isinstance(prompt, str) else prompt])

    async def _ask(self) -> Reply:
        """Ask the model; a history that is refused as too long goes down the ladder."""
        steps = ladder(self.gate.policy)
        outcome = await self._prepared(self.window_tokens)
        while True:
            try:
                return await self._sent(outcome)
            except Exception as error:
                # Every client has errors of its own; whatever is no overflow goes on as it came.
                tokens = outcome.count.tokens
                if is_overflow(error, tokens, outcome.count.window_tokens):
                    outcome = await self._shorter(outcome, steps, error)
                    continue
                raise

    async def _shorter(
        self, refused: Outcome, steps: list[tuple[Step, Ageing]], error: Exception
    ) -> Outcome:
        tokens = refused.count.tokens
        window_tokens = min(refused.count.window_tokens or tokens, tokens)
        if not is_too_large(error):
            # Whatever the model's window is said to be: as we count, it is less than this.
            self.window_tokens = window_tokens
        while steps:
            step, ageing = steps.pop(0)
            outcome = await self._prepared(window_tokens, ageing)
            if outcome.body != refused.body:
                self._tell(Overflowed(step, tokens, str(error)))
                return outcome
        self._tell(Overflowed(None, tokens, str(error)))
        raise WindowExceeded(
            f"{self.model.name} refuses the history as too long: about {tokens:,} tokens, and all "
            "that may be shortened is; begin a new conversation, or let the policy age more"
        ) from error

    async def _learn(self) -> None:
        """Tell the gate what the last request really took."""
        if self._reported is not None:
            (outcome, reply), self._reported = self._reported, None
            body, name = outcome.body, self.model.name
            await self._async_gate.observe(body, reply.usage, dialect=outcome.dialect, model=name)

    async def _prepared(self, window_tokens: int | None, ageing: Ageing | None = None) -> Outcome:
        await self._learn()
        body = self.model.body(self.conversation.messages, self._tools)
        return await self._async_gate.prepare(
            encoded(body),
            dialect=self.model.dialect,
            model=self.model.name,
            window_tokens=window_tokens,
            question=self._question,
            ageing=ageing,
        )

    async def _sent(self, outcome: Outcome) -> Reply:
        reply: Reply | None = None
        async for said in self.model.send(json.loads(outcome.body)):
            if isinstance(said, Reply):
                reply = said
            else:
                self._tell(said)
        assert reply is not None
        self._reported = outcome, reply
        return reply

    async def _answer(self, reply: Reply) -> Trip | None:
        """Run the calls of a reply; gives what halts the turn, if anything does."""
        calls = reply.calls
        self._tell(Called(calls))
        trips = self._watch.ask(calls)
        for event in tripped_events(calls, trips):
            self._tell(event)
        refused, notes = _refused(reply, trips), _notes(calls, trips)
        batch = self.registry.batch(
            self.gate,
            calls,
            question=self._question,
            answered=refused,
            notes=notes,
            hooks=[self._hear],
        )
        self.conversation.add(reply.messages)
        await self._run(batch, refused)
        return next((trip for trip in trips if trip is not None and trip.action == "halt"), None)

    async def _run(self, batch: Batch, refused: dict[str, ToolResult]) -> None:
        try:
            await batch.arun()
        finally:
            # A batch that is cancelled has its answers too.
            if batch.results:
                self.conversation.add(self.model.answers(batch.results))
                self._tell(Answered(tuple(batch.results)))
        self._watch.learn([r for r in batch.results if r.call_id not in refused])

    def _hear(self, event: Event) -> None:
        if isinstance(event, Progress | CallEnded | CallLeft):
            self._tell(event)

    async def _ended(self, turn: Turn) -> Turn:
        self._task = None
        self._tell(turn)
        await self._learn()
        await asyncio.sleep(0)  # the listener hears of it before the caller does
        return turn


def _refused(reply: Reply, trips: Sequence[Trip | None]) -> dict[str, ToolResult]:
    """The results of calls that are not run."""
    refused: dict[str, ToolResult] = {}
    for call, trip in zip(reply.calls, trips, strict=True):
        if trip is not None and trip.action != "warn":
            refused[call.call_id] = refusal(call, trip)
        elif reply.stop in NOT_RUN:
            text = Text(NOT_RUN[reply.stop])
            refused[call.call_id] = ToolResult(
                call.call_id, call.tool, (text,), True, arguments_of(call)
            )
    return refused


def _notes(calls: Sequence[Call], trips: Sequence[Trip | None]) -> dict[str, str]:
    return {
        call.call_id: trip.text
        for call, trip in zip(calls, trips, strict=True)
        if trip is not None and trip.action == "warn"
    }


def _reason(reply: Reply) -> Reason:
    return reply.stop if reply.stop in ("length", "refusal") else "end"


def _on_loop(loop: asyncio.AbstractEventLoop, listen: Listener) -> Listener:
    """Tools speak from their threads; a listener hears everything on the loop, in order."""

    def tell(event: AgentEvent) -> None:
        with suppress(RuntimeError):  # the loop is closed: a tool that was left still speaks
            loop.call_soon_threadsafe(listen, event)

    return tell


def _nobody(event: AgentEvent) -> None:
    """Nobody listens."""
