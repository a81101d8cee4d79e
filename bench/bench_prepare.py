"""What `prepare` costs on a history that is known, over `json.loads` of the same bytes.

"Again": the same request once more. "Grown": one call and its result more than the last time, as
each turn sends it. "Another process": the first request of a process that starts on the same
ledger, its vocabulary not loaded yet. "Recognised": again, without being told the dialect.
Results are logs of 10 KB, calls are short, so that a message is 5 KB on average.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from headgate import Gate, Policy, tokens

GOAL = 3
ROUNDS = 9
WINDOW_TOKENS = 10**9
"""Nothing ages: what is measured is the same work at every length."""

KEYS = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}
NUMBERS = itertools.count()

ELSEWHERE = """
import sys, time
from pathlib import Path
from headgate import Gate, Policy, tokens
body, dialect, state, window = Path(sys.argv[1]).read_bytes(), *sys.argv[2:5]
gate = Gate(Policy(result=tokens(int(sys.argv[5]))), state=state)
start = time.perf_counter()
gate.prepare(body, dialect=dialect, window_tokens=int(window))
print(time.perf_counter() - start)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A history to measure with."""

    name: str
    dialect: str = "anthropic"
    messages: int = 1_000
    result_bytes: int = 10_000
    limit_tokens: int = 8_000


CASES = (
    Case("100 messages", messages=100),
    Case("300 messages", messages=300),
    Case("1,000 messages"),
    Case("3,000 messages", messages=3_000),
    Case("10,000 messages", messages=10_000),
    Case("1,000, openai-chat", "openai-chat"),
    Case("1,000, openai-responses", "openai-responses"),
    Case("1,000, gemini", "gemini"),
    Case("1,000, every result shortened", limit_tokens=1_000),
    Case("20,000 tiny messages", messages=20_000, result_bytes=200),
)


def text_of(size_bytes: int) -> str:
    """A log that is unlike all others."""
    number = next(NUMBERS)
    lines = (
        f"2026-11-15T10:{i % 60:02}:{i * 7 % 60:02} INFO shard {number * 31 + i * 7919 % 9973} done"
        for i in range(size_bytes // 48 + 1)
    )
    return "\n".join(lines)[:size_bytes]


def step(dialect: str, size_bytes: int) -> list[dict[str, object]]:
    """A call, and its result."""
    id_, text = f"call_{next(NUMBERS)}", text_of(size_bytes)
    asked = {"pattern": f"shard {id_}"}
    if dialect == "anthropic":
        call = {"type": "tool_use", "id": id_, "name": "grep", "input": asked}
        result = {"type": "tool_result", "tool_use_id": id_, "content": text}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    if dialect == "openai-chat":
        function = {"name": "grep", "arguments": json.dumps(asked)}
        calls = [{"id": id_, "type": "function", "function": function}]
        return [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": id_, "content": text},
        ]
    if dialect == "openai-responses":
        arguments = json.dumps(asked)
        return [
            {"type": "function_call", "call_id": id_, "name": "grep", "arguments": arguments},
            {"type": "function_call_output", "call_id": id_, "output": text},
        ]
    said = {"id": id_, "name": "grep", "args": asked}
    back = {"id": id_, "name": "grep", "response": {"result": text}}
    return [
        {"role": "model", "parts": [{"functionCall": said}]},
        {"role": "user", "parts": [{"functionResponse": back}]},
    ]


def body(dialect: str, messages: Sequence[dict[str, object]]) -> bytes:
    request = {"model": "gpt-4o", KEYS[dialect]: list(messages)}
    return json.dumps(request, ensure_ascii=False).encode()


def timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


@dataclass(slots=True)
class Times:
    """Median seconds, measured in turns so that a busy moment hits all of them."""

    loads: float
    again: float
    grown: float
    recognised: float
    elsewhere: float
    size_bytes: int


def measure(case: Case, root: Path) -> Times:
    user = {"role": "user", "content": "begin"}
    if case.dialect == "gemini":
        user = {"role": "user", "parts": [{"text": "begin"}]}
    messages = [user]
    while len(messages) < case.messages:
        messages += step(case.dialect, case.result_bytes)
    policy = Policy(result=tokens(case.limit_tokens))
    gate = Gate(policy, state=root / "state", session="default")
    sent = body(case.dialect, messages)

    def prepare(given: bytes, dialect: str | None = case.dialect) -> None:
        gate.prepare(given, dialect=dialect, window_tokens=WINDOW_TOKENS)

    prepare(sent)
    rows: list[tuple[float, float, float, float]] = []
    for _ in range(ROUNDS):
        loads = timed(partial(json.loads, sent))
        again = timed(partial(prepare, sent))
        recognised = timed(partial(prepare, sent, None))
        messages += step(case.dialect, case.result_bytes)
        sent = body(case.dialect, messages)
        rows.append((loads, again, timed(partial(prepare, sent)), recognised))
    loads, again, grown, recognised = map(statistics.median, zip(*rows, strict=True))
    elsewhere = _elsewhere(case, sent, root)
    return Times(loads, again, grown, recognised, elsewhere, len(sent))


def _elsewhere(case: Case, sent: bytes, root: Path) -> float:
    file = root / "body.json"
    file.write_bytes(sent)
    words = [str(file), case.dialect, str(root / "state"), str(WINDOW_TOKENS)]
    words += [str(case.limit_tokens)]
    times = []
    for _ in range(3):
        ran = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, *words], capture_output=True, text=True, check=True
        )
        times.append(float(ran.stdout))
    return statistics.median(times)


def main(argv: Sequence[str]) -> None:
    """Print the curve; 1,000 messages are held to the goal."""
    print(
        "| history | MB | json.loads ms | again | grown | recognised | another process, ms | "
        "again, µs a message |\n| --- | --: | --: | --: | --: | --: | --: | --: |"
    )
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(case, Path(folder))
        ratios = (found.again, found.grown, found.recognised)
        told = " | ".join(f"{seconds / found.loads:.1f}x" for seconds in ratios)
        each = found.again / case.messages * 1e6
        print(
            f"| {case.name} | {found.size_bytes / 1e6:.1f} | {found.loads * 1e3:.1f} | {told} | "
            f"{found.elsewhere * 1e3:.0f} | {each:.0f} |",
            flush=True,
        )
    print(f"\ngoal: 1,000 messages of 5 MB again in at most {GOAL}x, and linear in their number")


if __name__ == "__main__":
    main(sys.argv[1:])
