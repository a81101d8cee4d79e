"""What a call costs through registry and gate, over calling the function.

A small result, so that nothing is shaped or spilled: what is left is checking the arguments, the
thread or task, measuring, the ledger on disk, and the answer. All ways are measured in turn, round
after round; of each the best round's median counts, for others share the machine. CPU time is that
of all threads. "In a batch of 8" is for one of eight calls that run together.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from headgate import Call, Gate, Registry, ToolResult

GOAL_US = 300
ROUNDS = 25
CALLS = 50
TOGETHER = 8
NUMBERS = itertools.count()


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of one call."""

    wall_us: float
    cpu_us: float


@dataclass(frozen=True, slots=True)
class Way:
    """A way to make a call, or several."""

    name: str
    act: Callable[[], Awaitable[object] | object]
    calls: int = 1


def look_up(name: str, most: int = 3) -> str:
    """A tool that does next to nothing."""
    return f"{name}: found {most} in 12 files"


async def look_up_async(name: str, most: int = 3) -> str:
    return look_up(name, most)


def call(tool: str) -> Call:
    number = next(NUMBERS)
    return Call(f"call_{number}", tool, {"name": f"item {number}", "most": 7})


def ways(tools: Registry, gate: Gate) -> list[Way]:
    def admit() -> None:
        made = call("look_up")
        text = look_up(made.call_id, 7)
        gate.admit([ToolResult.of("look_up", text, call_id=made.call_id)])

    def together() -> None:
        tools.run_batch(gate, [call("look_up") for _ in range(TOGETHER)])

    return [
        Way("the function alone", lambda: look_up("item", 7)),
        Way("the function, then `gate.admit`", admit),
        Way("`run_batch`, sync tool", lambda: tools.run_batch(gate, [call("look_up")])),
        Way("`run_batch`, async tool", lambda: tools.run_batch(gate, [call("look_up_async")])),
        Way(f"`run_batch`, sync tool in a batch of {TOGETHER}", together, TOGETHER),
        Way("`arun_batch`, sync tool", lambda: tools.arun_batch(gate, [call("look_up")])),
        Way("`arun_batch`, async tool", lambda: tools.arun_batch(gate, [call("look_up_async")])),
    ]


async def round_of(way: Way) -> Cost:
    walls, cpus = [], []
    for _ in range(CALLS):
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        made = way.act()
        if isinstance(made, Awaitable):
            await made
        walls.append(time.perf_counter_ns() - wall)
        cpus.append(time.process_time_ns() - cpu)
    each = way.calls * 1_000
    return Cost(statistics.median(walls) / each, statistics.median(cpus) / each)


async def measured(all_ways: list[Way]) -> list[Cost]:
    rounds = [[await round_of(way) for way in all_ways] for _ in range(ROUNDS)]
    return [min(costs, key=lambda cost: cost.wall_us) for costs in zip(*rounds, strict=True)]


def main(argv: list[str]) -> None:
    tools = Registry([look_up, look_up_async])
    with tempfile.TemporaryDirectory() as state:
        all_ways = ways(tools, Gate(tools.policy(), state=state))
        costs = asyncio.run(measured(all_ways))
    print("| one call | µs | over the function | CPU µs |\n| --- | --: | --: | --: |")
    for way, cost in zip(all_ways, costs, strict=True):
        over = cost.wall_us - costs[0].wall_us
        print(f"| {way.name} | {cost.wall_us:.0f} | {over:.0f} | {cost.cpu_us:.0f} |")
    print(f"\nThe goal for `run_batch` with a sync tool: under {GOAL_US} µs over the function.")
    tools.close()


if __name__ == "__main__":
    main(sys.argv[1:])
