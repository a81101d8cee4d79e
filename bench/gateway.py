"""What the gateway costs, beside no proxy, a bare one of the same stack, and litellm's.

    python bench/gateway.py [--litellm PROGRAM] [--seconds 60] [--requests 300]

Requests are turns of conversations whose history is about 200 KB: a chat with results of 10 KB and
of 40 KB, one call and one result more each time. Latency is from the first byte of a request to the
first of its answer, one request at a time, the ways in turn, so that a busy machine is busy for
all; what a request takes of the processor does not depend on that. Then requests per second, and
then 200 streams at once for a minute, each compared byte by byte.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway_parts import answer
from run import machine

HERE = Path(__file__).parent
HISTORY_BYTES = 180_000
"""At first; twenty turns later a conversation has 225,000."""

TURNS = 20
STREAMS = 200
CONCURRENT = 16
START_S = 60
SETTLED_S = 0.005
"""After an answer a gateway still learns from its usage."""

KEY = "sk-" + "0123456789abcdef" * 4
"""litellm asks for one that is long enough; the others pass it on."""

GOAL_MS = 10
GOAL_TIMES = 5

LITELLM = """
model_list:
  - model_name: gpt-5
    litellm_params:
      model: openai/gpt-5
      api_base: {upstream}/v1
      api_key: key
litellm_settings:
  telemetry: false
  num_retries: 0
"""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to the upstream."""

    name: str
    port: int
    pid: int = 0

    def cpu_s(self) -> float:
        """What the threads of the process have taken of the processor, to the nanosecond."""
        if not self.pid:
            return 0.0
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9

    def memory_mb(self) -> float:
        """What the process and its children hold."""
        return sum(map(_rss_mb, [self.pid, *_children(self.pid)])) if self.pid else 0.0


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in found.read_text().split()] if found.exists() else []


def _rss_mb(pid: int) -> float:
    with contextlib.suppress(FileNotFoundError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


class Conversation:
    """A chat that grows by a call and a result each time it is asked for its next request."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls = 0
        self.messages: list[object] = [{"role": "user", "content": f"Look into shard {number}."}]
        while self.size() < HISTORY_BYTES:
            self._call(40_000 if self.calls % 8 == 3 else 10_000)

    def next(self, path: str = "/v1/chat/completions", **headers: object) -> bytes:
        """The next request, as bytes to send."""
        self._call(2_000)
        body = json.dumps(
            {"model": "gpt-5", "messages": self.messages, "stream": True, "tools": TOOLS}
        ).encode()
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = (
            f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n"
            f"content-type: application/json\r\n{more}content-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def size(self) -> int:
        """Of the history, in bytes."""
        return len(json.dumps(self.messages))

    def _call(self, size_bytes: int) -> None:
        self.calls += 1
        name = f"call_{self.number}_{self.calls}"
        call = {"id": name, "type": "function", "function": {"name": "bash", "arguments": "{}"}}
        shard = self.number * 1_009 + self.calls * 31
        log = "".join(
            f"10:{i // 60 % 60:02}:{i % 60:02} INFO shard {shard + i * 7919 % 997} is at {i}\n"
            for i in range(size_bytes // 36)
        )
        self.messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": name, "content": log},
        ]


TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]


class Client:
    """One connection, as thin as it can be."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self.port, limit=2**22
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, data: bytes) -> tuple[float, bytes]:
        """Seconds to the first byte, and the body."""
        started = time.perf_counter()
        self.writer.write(data)
        head = await self.reader.readuntil(b"\r\n\r\n")
        first_s = time.perf_counter() - started
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise RuntimeError(head.decode())
        out = []
        while size := int(await self.reader.readline(), 16):
            out.append((await self.reader.readexactly(size + 2))[:-2])
        await self.reader.readline()
        return first_s, b"".join(out)


def free_port() -> int:
    """One that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def program(words: Sequence[str], port: int, **environ: str) -> Iterator[int]:
    """A program that listens on a port, until the end of the block."""
    with tempfile.TemporaryFile() as told:
        running = subprocess.Popen(
            words, env={**os.environ, **environ}, stdout=told, stderr=subprocess.STDOUT
        )
        try:
            _await_port(port, running)
            yield running.pid
        finally:
            running.terminate()
            running.wait(30)


def _await_port(port: int, running: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and running.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nothing listens on {port}: {running.args}")


@contextlib.contextmanager
def ways(litellm: str | None) -> Iterator[list[Way]]:
    """All ways to the upstream, running."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        parts = [sys.executable, str(HERE / "gateway_parts.py")]
        upstream = free_port()
        stack.enter_context(program([*parts, "upstream", str(upstream)], upstream))
        url = f"http://127.0.0.1:{upstream}"
        found = [Way("no proxy", upstream)]
        port = free_port()
        pid = stack.enter_context(program([*parts, "bare", str(port), url], port))
        found.append(Way("bare proxy", port, pid))
        port = free_port()
        words = ["-m", "headgate", "gateway", "--port", str(port), "--no-admin"]
        pid = stack.enter_context(
            program(
                [sys.executable, *words, "--upstream", f"openai={url}"],
                port,
                HEADGATE_STATE_DIR=str(folder / "state"),
            )
        )
        found.append(Way("headgate", port, pid))
        if litellm:
            port = free_port()
            config = folder / "litellm.yaml"
            config.write_text(LITELLM.format(upstream=url))
            words = [litellm, "--config", str(config), "--port", str(port)]
            quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
            pid = stack.enter_context(program(words, port, **quiet))
            found.append(Way("litellm", port, pid))
        yield found


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of each request."""

    first: list[float] = field(default_factory=list)
    """To the first byte of the answer."""
    cpu: list[float] = field(default_factory=list)
    """Of the processor, up to the next request: what is done after the answer counts too."""


async def latency(found: Sequence[Way], count: int) -> dict[str, Taken]:
    """What requests take, one at a time, the ways in turn."""
    taken = {way.name: Taken() for way in found}
    async with contextlib.AsyncExitStack() as stack:
        clients = {w.name: await stack.enter_async_context(Client(w.port)) for w in found}
        for turn in range(count + TURNS):
            if turn % TURNS == 0:
                talks = {way.name: Conversation(turn) for way in found}
            before = {way.name: way.cpu_s() for way in found}
            for way in found:
                first_s, _ = await clients[way.name].ask(talks[way.name].next())
                # The first turn of a conversation decides all of its history: it is not counted.
                if turn >= TURNS and turn % TURNS:
                    taken[way.name].first.append(first_s)
            await asyncio.sleep(SETTLED_S)
            if turn >= TURNS and turn % TURNS:
                for way in found:
                    taken[way.name].cpu.append(way.cpu_s() - before[way.name])
    return taken


async def throughput(way: Way, seconds: float) -> tuple[float, float]:
    """Requests a second, each with its whole answer, and milliseconds of processor for each."""
    talks = [Conversation(1_000 + number) for number in range(CONCURRENT)]
    asked = [[talk.next() for _ in range(4)] for talk in talks]

    async def one(number: int) -> int:
        done = 0
        async with Client(way.port) as client:
            while time.perf_counter() < end:
                await client.ask(asked[number][done % 4])
                done += 1
        return done

    await asyncio.gather(*(_once(way, requests[0]) for requests in asked))
    end = time.perf_counter() + seconds
    started, before_s = time.perf_counter(), way.cpu_s()
    done = sum(await asyncio.gather(*map(one, range(CONCURRENT))))
    cpu_ms = (way.cpu_s() - before_s) / done * 1000
    return done / (time.perf_counter() - started), cpu_ms


async def _once(way: Way, data: bytes) -> None:
    async with Client(way.port) as client:
        await client.ask(data)


@dataclass(frozen=True, slots=True)
class Streamed:
    """What became of many streams at once."""

    passed: int
    lost: int
    first_s: list[float]
    memory_mb: list[float]


async def streams(way: Way, seconds: float) -> Streamed:
    """Run many paced streams at once, and compare each with what upstream sent."""
    events, pause_ms = 200, 50
    expected = answer(events)
    talks = [Conversation(2_000 + number) for number in range(STREAMS)]
    for start in range(0, STREAMS, CONCURRENT):
        await asyncio.gather(*(_once(way, t.next()) for t in talks[start : start + CONCURRENT]))
    end = time.perf_counter() + seconds
    first_s: list[float] = []
    lost = 0

    async def one(number: int, talk: Conversation) -> None:
        nonlocal lost
        # Not all at the same moment: people do not type in step.
        await asyncio.sleep(number / STREAMS * events * pause_ms / 1000)
        async with Client(way.port) as client:
            while time.perf_counter() < end:
                try:
                    asked = talk.next(x_events=events, x_pause_ms=pause_ms)
                    taken_s, body = await client.ask(asked)
                except (OSError, EOFError, RuntimeError, ValueError):
                    body = b""
                if body == expected:
                    first_s.append(taken_s)
                else:
                    lost += 1

    running = asyncio.gather(*(one(number, talk) for number, talk in enumerate(talks)))
    memory: list[float] = []
    while not running.done():
        memory.append(way.memory_mb())
        await asyncio.sleep(seconds / 20)
    await running
    return Streamed(len(first_s), lost, first_s, memory)


def show_streams(found: Streamed, seconds: float) -> None:
    """Say what became of them."""
    memory = found.memory_mb
    half = statistics.median(memory[len(memory) // 2 :])
    print(
        f"\n{STREAMS} streams at once for {seconds:g} s: {found.passed:,} passed byte for byte, "
        f"{found.lost} lost; to the first byte p50 {quantile(found.first_s, 0.5):.1f} ms, p99 "
        f"{quantile(found.first_s, 0.99):.1f} ms; memory {memory[0]:.0f} MB at first, "
        f"{half:.0f} MB in the second half, {memory[-1]:.0f} MB at last"
    )


def quantile(values: Sequence[float], share: float) -> float:
    """In milliseconds."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] * 1000


def show_latency(taken: dict[str, Taken]) -> float:
    """Print the table; gives what headgate adds at p99."""
    print(
        "| 200 KB history, to the first byte | p50 ms | p99 | added p50 | p99 | CPU ms p50 | p99 |"
    )
    print("| --- | --: | --: | --: | --: | --: | --: |")
    floor = [quantile(taken["no proxy"].first, share) for share in (0.5, 0.99)]
    for name, one in taken.items():
        p50, p99 = quantile(one.first, 0.5), quantile(one.first, 0.99)
        added = f"{p50 - floor[0]:.2f} | {p99 - floor[1]:.2f}"
        cpu = f"{quantile(one.cpu, 0.5):.2f} | {quantile(one.cpu, 0.99):.2f}"
        print(f"| {name} | {p50:.2f} | {p99:.2f} | {added} | {cpu if any(one.cpu) else ' | '} |")
    return quantile(taken["headgate"].first, 0.99) - floor[1]


async def show_throughput(found: Sequence[Way], seconds: float) -> dict[str, float]:
    """Print the table; gives the requests a second of each way."""
    print("\n| requests/s, 200 KB history, 16 at once | | of bare | CPU ms a request |")
    print("| --- | --: | --: | --: |")
    rates: dict[str, tuple[float, float]] = {}
    for way in found:
        rates[way.name] = await throughput(way, seconds)
    for name, (rate, cpu_ms) in rates.items():
        cpu = f"{cpu_ms:.1f}" if cpu_ms else ""
        print(f"| {name} | {rate:.0f} | {rate / rates['bare proxy'][0]:.2f}x | {cpu} |")
    return {name: rate for name, (rate, _) in rates.items()}


async def measure(asked: argparse.Namespace, litellm: str | None) -> int:
    """Run all of it; 1 where a goal is missed."""
    missed = []
    with ways(litellm) as found:
        added_ms = show_latency(await latency(found, asked.requests))
        if added_ms > GOAL_MS:
            missed.append(f"p99 added {added_ms:.1f} ms, goal {GOAL_MS}")
        rates = await show_throughput(found, asked.seconds / 6)
        if "litellm" in rates:
            times = rates["headgate"] / rates["litellm"]
            print(f"\nheadgate serves {times:.1f} times as many as litellm")
            if times < GOAL_TIMES:
                missed.append(f"{times:.1f} times litellm, goal {GOAL_TIMES}")
        way = next(way for way in found if way.name == "headgate")
        streamed = await streams(way, asked.seconds)
        show_streams(streamed, asked.seconds)
        if streamed.lost:
            missed.append(f"{streamed.lost} streams lost")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def main(argv: Sequence[str]) -> int:
    """Read the words and measure."""
    import uvloop

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--litellm", default="build/litellm/bin/litellm")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--requests", type=int, default=300)
    asked = parser.parse_args(argv)
    litellm = shutil.which(asked.litellm)
    print(f"{machine()}\n")
    if litellm is None:
        print(f"without litellm: {asked.litellm} is not there, see make bench-gateway\n")
    return uvloop.run(measure(asked, litellm))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
