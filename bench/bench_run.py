"""`headgate run` on endless output: time over a plain copy to disk, and the most memory it took.

The floor is the same command into a file: every byte must be written once, whoever does it.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SIZES_BYTES = (100_000_000, 2_000_000_000)

COMMANDS = {
    "yes": "yes",
    "a log": "yes '2026-11-15 03:00:00 INFO worker 7 has done its part of the work'",
}

MEASURED = """
import resource, subprocess, sys

ran = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(ran.returncode)
"""
"""A process forked from a large one counts as large before it begins, so a small one starts it."""

HEADGATE = Path(sys.executable).with_name("headgate")


def floor_s(command: str, folder: str) -> float:
    """Seconds that the command takes into a file."""
    began = time.perf_counter()
    subprocess.run(["sh", "-c", f"{command} > {folder}/copy"], check=True)
    elapsed_s = time.perf_counter() - began
    os.unlink(f"{folder}/copy")
    return elapsed_s


def run_s(command: str, folder: str) -> tuple[float, int]:
    """Seconds that it takes through the gate, and the most memory in KB."""
    began = time.perf_counter()
    gate = [HEADGATE, "run", "--tokens", "2000", "--", "sh", "-c", command]
    ran = subprocess.run(
        [sys.executable, "-c", MEASURED, *gate],
        env={**os.environ, "HEADGATE_STATE_DIR": f"{folder}/state"},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - began, int(ran.stdout)


def main(argv: Sequence[str]) -> int:
    """Print the table."""
    print("output       MB   file s    run s  ratio   MB/s  peak MB")
    for name, command in COMMANDS.items():
        for size in SIZES_BYTES:
            with tempfile.TemporaryDirectory() as folder:
                part = f"{command} | head -c {size}"
                floor = floor_s(part, folder)
                elapsed, peak_kb = run_s(part, folder)
            print(
                f"{name:<8} {size / 1e6:>6.0f} {floor:>8.2f} {elapsed:>8.2f}"
                f" {elapsed / floor:>6.1f} {size / elapsed / 1e6:>6.0f} {peak_kb / 1e3:>8.0f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
