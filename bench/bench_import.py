"""What starting costs: an import, a gate with its first result, and a command."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 9
BARE = "pass"
IMPORT = "import headgate"
FIRST = (
    "from headgate import Gate, ToolResult; "
    "Gate(state={state!r}).admit([ToolResult.of('bash', 'x', call_id='1')])"
)


def timed(words: list[str]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(argv: list[str]) -> None:
    with tempfile.TemporaryDirectory() as state:
        bare = timed([sys.executable, "-c", BARE])
        rows = {
            "import headgate (goal 100)": timed([sys.executable, "-c", IMPORT]),
            "a gate and its first result": timed([sys.executable, "-c", FIRST.format(state=state)]),
            "headgate --version": timed([sys.executable, "-m", "headgate", "--version"]),
        }
    print("| what | ms over a bare python | in all |\n| --- | --: | --: |")
    for what, seconds in rows.items():
        print(f"| {what} | {(seconds - bare) * 1e3:.0f} | {seconds * 1e3:.0f} |")


if __name__ == "__main__":
    main([])
