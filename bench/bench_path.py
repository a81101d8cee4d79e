"""One result through the whole path, over the floor of its own store.

The floor is what keeping the original costs and nothing else: encode, the same hash, the same write
and rename with the same syncs. Texts differ from call to call, so no cache answers.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from headgate import Gate, Policy, ToolResult, tokens

GOALS = {10_000: 12, 1_000_000: 10, 100_000_000: 3}
ROUNDS = {10_000: 200, 1_000_000: 30, 100_000_000: 3}
LIMIT = Policy(result=tokens(2_000), batch=tokens(2_000))
WORDS = [
    "accepting",
    "closing",
    "opening",
    "queue",
    "shard",
    "replica",
    "worker",
    "flush",
    "commit",
    "index",
]


def texts(size: int, rounds: int) -> Iterator[str]:
    """Logs of about `size` characters, each unlike the others, one loud line in eighty."""
    lines = []
    for i in range(size // 60 + 1):
        word, other = WORDS[i % 10], WORDS[(i * 7 + i // 10) % 10]
        loud = "ERROR timeout in" if i % 80 == 41 else "INFO done with"
        lines.append(f"2026-11-15T10:{i % 60:02}:{i * 13 % 60:02} {loud} {word} {other} {i * 7919}")
    body = "\n".join(lines)[:size]
    for turn in range(rounds):
        yield f"run {turn}\n" + body.replace("7919", str(7_000 + turn))


def floor(text: str, folder: int, name: str) -> None:
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    fd = os.open(f"{name}.tmp", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)
    os.rename(f"{name}.tmp", digest, src_dir_fd=folder, dst_dir_fd=folder)


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def measure(size: int, root: Path) -> tuple[float, float]:
    """Median seconds of the path and of its floor, turn by turn in one run."""
    gate = Gate(LIMIT, state=root / "state", session=f"bench-{size}")
    (root / f"floor-{size}").mkdir()
    folder = os.open(root / f"floor-{size}", os.O_RDONLY)
    gate.admit([ToolResult.of("bash", "warm " * 3_000, call_id="warm")])
    paths, floors = [], []
    for turn, text in enumerate(texts(size, ROUNDS[size])):
        result = ToolResult.of("bash", text, call_id=f"call_{turn}")
        paths.append(timed(lambda result=result: gate.admit([result])))
        floors.append(timed(lambda text=text, turn=turn: floor(text, folder, str(turn))))
    os.close(folder)
    return statistics.median(paths), statistics.median(floors)


def small_result(root: Path) -> float:
    """Median seconds for a result of 2 KB that fits."""
    gate = Gate(Policy(), state=root / "small")
    times = []
    for turn, text in enumerate(texts(2_000, 500)):
        result = ToolResult.of("bash", text, call_id=f"call_{turn}")
        times.append(timed(lambda result=result: gate.admit([result])))
    return statistics.median(times)


def main(argv: list[str]) -> None:
    print("| size | floor ms | path ms | ratio | goal |\n| --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        for size, goal in GOALS.items():
            path, bare = measure(size, Path(folder))
            row = f"| {size:,} B | {bare * 1e3:.3f} | {path * 1e3:.3f} |"
            print(f"{row} {path / bare:.1f}x | {goal}x |", flush=True)
        print(f"\na result of 2 KB that fits: {small_result(Path(folder)) * 1e6:.0f} µs (goal 100)")


if __name__ == "__main__":
    main([])
