"""200 lines out of 100 MB, as they came and compressed, over what a bare read of them takes.

The floor reads the same bytes from an open file whose line ends are known. A line is found by the
counts of the index; compressed, the one or two frames around it are opened.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_path import texts

from headgate import Gate, Policy, ToolResult, tokens
from headgate.retention import Retention
from headgate.spill.compress import compress
from headgate.spill.house import House

SIZE = 100_000_000
LINES = 200
ROUNDS = 200
GOAL_MS = 5.0
STORE = Retention(live_s=0, free_bytes=None)


def spans(total: int) -> list[int]:
    dice = random.Random(1)
    return [dice.randrange(1, total - LINES) for _ in range(ROUNDS)]


def timed(act: Callable[[int], object], starts: list[int]) -> list[float]:
    times = []
    for start in starts:
        begin = time.perf_counter()
        act(start)
        times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times)


def main(argv: list[str]) -> None:
    text = next(texts(SIZE, 1))
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        gate = Gate(Policy(result=tokens(12_000), batch=None, retention=STORE), state=state)
        [shown] = gate.admit([ToolResult.of("bash", text, call_id="call_1")])
        ref = shown.verdict.ref if shown.verdict else None
        assert ref is not None
        starts = spans(text.count("\n"))
        path, ends = state / "plain", [0]
        path.write_text(text)
        for line in text.split("\n"):
            ends.append(ends[-1] + len(line) + 1)
        fd = os.open(path, os.O_RDONLY)
        bare = timed(lambda s: os.pread(fd, ends[s + LINES - 1] - ends[s - 1], ends[s - 1]), starts)

        def asked(start: int) -> str:
            return gate.read(ref, {"lines": f"{start}-{start + LINES - 1}"}, tokens=12_000)

        def store(start: int) -> bytes:
            about = gate.store.about(ref)
            chunk = start % len(about.chunk_lines) * about.chunk_bytes
            return gate.store.read(ref, chunk, chunk + 12_000)

        rows = [("bare read", bare), ("store, as it came", timed(store, starts))]
        rows.append(("read(lines), as it came", timed(asked, starts)))
        begin = time.perf_counter()
        hour = time.time_ns() + 3_600 * 10**9
        [done] = compress(House(state, clock=lambda: hour), STORE)
        took = time.perf_counter() - begin
        rows.append(("store, compressed", timed(store, starts)))
        rows.append(("read(lines), compressed", timed(asked, starts)))
    ratio, speed = done.before_bytes / done.after_bytes, done.before_bytes / 1e6 / took
    print(f"compressed to a part of {1 / ratio:.2f} at {speed:.0f} MB/s\n")
    print("| 200 lines of 100 MB | p50 ms | p99 ms | goal |\n| :-- | --: | --: | --: |")
    for name, times in rows:
        print(f"| {name} | {statistics.median(times):.3f} | {times[-3]:.3f} | {GOAL_MS} |")


if __name__ == "__main__":
    main([])
