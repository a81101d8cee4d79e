"""What starting costs: an import, a gate with its first result, and a command."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROUNDS = 9
BARE = "pass"
IMPORT = "import headgate"
FIRST = (
    "from headgate import Gate, ToolResult; "
    "Gate(state={state!r}).admit([ToolResult.of('bash', 'x', call_id='1')])"
)


SIZES = (
    ("20 lines (goal 60)", 20),
    ("150 lines (goal 60)", 150),
    ("3,000 lines, shortened", 3_000),
)
HEADGATE = str(Path(sys.executable).with_name("headgate"))


def event(lines: int, call: int = 0) -> bytes:
    """What Claude Code tells a hook."""
    text = "".join(f"worker {n}: compiled module_{n}.c\n" for n in range(lines))
    told = {
        "session_id": "bench",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False},
        "tool_use_id": f"toolu_{call}",
    }
    return json.dumps(told).encode()


def timed(
    words: list[str], told: Callable[[int], bytes] = lambda call: b"", **environ: str
) -> float:
    times = []
    for call in range(ROUNDS):
        stdin = told(call)
        start = time.perf_counter()
        subprocess.run(
            words, check=True, input=stdin, capture_output=True, env={**os.environ, **environ}
        )
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(argv: list[str]) -> None:
    with tempfile.TemporaryDirectory() as state:
        bare = timed([sys.executable, "-c", BARE])
        rows = {
            "import headgate (goal 100)": timed([sys.executable, "-c", IMPORT]),
            "a gate and its first result": timed([sys.executable, "-c", FIRST.format(state=state)]),
            "headgate --version": timed([sys.executable, "-m", "headgate", "--version"]),
            **{
                f"headgate hook, {what}": timed(
                    [HEADGATE, "hook", "claude-code"],
                    partial(event, lines),
                    HEADGATE_STATE_DIR=state,
                )
                for what, lines in SIZES
            },
        }
    print("| what | ms over a bare python | in all |\n| --- | --: | --: |")
    for what, seconds in rows.items():
        print(f"| {what} | {(seconds - bare) * 1e3:.0f} | {seconds * 1e3:.0f} |")


if __name__ == "__main__":
    main([])
