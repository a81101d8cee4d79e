"""What the loop costs beside its model and its tools.

A model that answers at once and a tool that does next to nothing: what is left is the loop, the
guards with their journal, the batch, and preparing each request. A step is one reply with one call.
CPU time of all threads, for others share the machine; of each way the best round counts.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from headgate import AsyncAgent, Call, Gate, Registry, ToolResult
from headgate.agent import AnthropicModel, Conversation, Reply, Said
from headgate.model import Wire
from headgate.watch import Watch

STEPS = 100
ROUNDS = 5
NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Instant:
    """A model that calls so often, and then is done."""

    wire: AnthropicModel
    steps: int
    dialect: str = "anthropic"
    name: str = "claude-opus-5-5"

    def body(self, messages: Sequence[Wire], tools: Sequence[Wire]) -> Wire:
        return self.wire.body(messages, tools)

    def user(self, text: str) -> Wire:
        return self.wire.user(text)

    def answers(self, results: Sequence[ToolResult]) -> list[Wire]:
        return self.wire.answers(results)

    async def send(self, body: Wire) -> AsyncIterator[Said | Reply]:
        done = sum(message["role"] == "assistant" for message in body["messages"])
        if done >= self.steps:
            yield Reply(({"role": "assistant", "content": "Done."},), "Done.", (), "end")
            return
        call = Call(f"toolu_{next(NUMBERS)}", "look_up", {"name": f"item {done}"})
        block = {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": call.arguments}
        yield Reply(({"role": "assistant", "content": [block]},), "", (call,), "calls")


def registry() -> Registry:
    tools = Registry()

    @tools.tool
    async def look_up(name: str) -> str:
        """Look something up."""
        return f"{name}: found 3 in 12 files"

    return tools


def cpu_us(act: Callable[[], None], times: int) -> float:
    """CPU microseconds of one of `times`, in the best of some rounds."""
    spent = []
    for _ in range(ROUNDS):
        start = time.process_time()
        act()
        spent.append((time.process_time() - start) / times * 1e6)
    return min(spent)


def main(argv: Sequence[str]) -> int:
    """Print one row for each way."""
    with tempfile.TemporaryDirectory() as state:
        tools = registry()
        numbers = itertools.count()

        def gate() -> Gate:
            return Gate(state=state, session=f"s{next(numbers)}")

        def batches() -> None:
            own = gate()

            async def run() -> None:
                for number in range(STEPS):
                    call = Call(f"c{next(NUMBERS)}", "look_up", {"name": f"item {number}"})
                    await tools.arun_batch(own, [call])

            asyncio.run(run())

        def watched() -> None:
            own = gate()
            watch = Watch(own)
            for number in range(STEPS):
                call = Call(f"c{number}", "look_up", {"name": f"item {number}"})
                watch.ask([call])
                shown = ToolResult.of("look_up", "found", call_id=f"c{number}")
                watch.learn([replace(shown, arguments=call.arguments)])

        def turn(*, kept: bool) -> None:
            own = gate()
            model = Instant(AnthropicModel(None, "claude-opus-5-5"), STEPS)
            conversation = Conversation.kept(own) if kept else None
            agent = AsyncAgent(model, tools, own, conversation=conversation)
            done = asyncio.run(agent.run("Go."))
            assert done.calls == STEPS

        rows = [
            ("the batch alone: `arun_batch`, one call", cpu_us(batches, STEPS)),
            ("guards: `ask` and `learn`, one call", cpu_us(watched, STEPS)),
            (f"a step of `AsyncAgent`, mean of {STEPS}", cpu_us(lambda: turn(kept=False), STEPS)),
            ("the same, the conversation kept", cpu_us(lambda: turn(kept=True), STEPS)),
        ]
        tools.close()
    print("| | CPU µs | batches |")
    print("| --- | --- | --- |")
    for name, spent in rows:
        print(f"| {name} | {spent:,.0f} | {spent / rows[0][1]:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
