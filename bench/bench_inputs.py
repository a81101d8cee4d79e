"""Inputs of every kind and of every awkward form through the whole path, over an ordinary log.

The goal is that no input takes more than four times what a log of its size takes. Rounds take turns
over all inputs of a size, each time with another text; the least time of each counts, in seconds of
CPU, so that other programs on the machine do not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from inputs import AWKWARD, KINDS, vary

from headgate import Gate, Policy, ToolResult, tokens

GOAL = 4.0
ORDINARY = "log"
ROUNDS = {10_000: 25, 1_000_000: 11, 100_000_000: 1}
HUGE = (ORDINARY, "one giant line", "all alike", "base64", "spaces", "brackets alone", "JSON array")
"""What is tried at 100 MB, too."""
LIMITS = {10_000: 1_000, 1_000_000: 2_000, 100_000_000: 2_000}
"""In tokens; of 10 KB so few that all but blanks are shaped."""


def made(size: int, names: Sequence[str]) -> dict[str, str | bytes]:
    """The inputs of one size."""
    makes = {**KINDS, **AWKWARD}
    return {name: makes[name](size) for name in names or makes}


def measure(size: int, inputs: Mapping[str, str | bytes], root: Path) -> dict[str, float]:
    """The least seconds of each input."""
    limit = tokens(LIMITS[size])
    gate = Gate(Policy(result=limit, batch=limit), state=root / f"state-{size}", session="bench")
    least: dict[str, float] = {}
    for turn in range(ROUNDS[size] + 1):
        for name, text in inputs.items():
            content = vary(text, turn)
            result = ToolResult.of("bash", content, call_id=f"{name}-{turn}")
            start = time.process_time()
            gate.admit([result])
            taken = time.process_time() - start
            # The first round loads and compiles.
            if turn or ROUNDS[size] == 1:
                least[name] = min(least.get(name, taken), taken)
    return least


def main(argv: Sequence[str]) -> None:
    """Print a table; `argv` names the inputs, all if it is empty."""
    names = [ORDINARY, *(name for name in argv if name != ORDINARY)] if argv else []
    with tempfile.TemporaryDirectory() as folder:
        found: dict[int, dict[str, float]] = {}
        for size in ROUNDS:
            wanted = [name for name in names or HUGE if name in HUGE] if size > 10**7 else names
            found[size] = measure(size, made(size, wanted), Path(folder))
    print("| input | " + " | ".join(f"{size:,} B, ms | ratio" for size in found) + " |")
    print("| :-- |" + " --: |" * (2 * len(found)))
    for name in found[10_000]:
        cells = []
        for times in found.values():
            if name not in times:
                cells.append(" | ")
                continue
            ratio = times[name] / times[ORDINARY]
            mark = "" if ratio <= GOAL else " **over**"
            cells.append(f"{times[name] * 1e3:.2f} | {ratio:.1f}x{mark}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
