"""Real conversations, request by request: `python bench/histories_replay.py [DATA] [--most N]`.

DATA is by default ../shared/data. Every request is prepared by a gate that was just opened, all on
one state folder, several conversations to a session: only the ledger carries over. Three promises:

- P4: what was sent has the same bytes in the next request, unless an epoch was opened.
- P5: where the limits are wide, a request that its provider takes goes out as the very same bytes.
- P6: whatever was prepared passes the independent check, or was given up on and said so. A thinking
  block that came without its signature is left alone, and counted.

A long conversation is sampled, at most `--turns` requests of it. Some run once more in processes
with other hash seeds, locales and time zones. Exits 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from conversations import DATA, FILE, Conversation, conversations, sampled

from headgate import Gate, Policy, tokens
from headgate.ageing import Ageing
from headgate.check import check

SESSIONS = 16
WINDOW_TOKENS = 200_000
WIDE = Policy(
    result=tokens(10**8),
    batch=None,
    error=tokens(10**8),
    classes={},
    repeats=False,
    ageing=Ageing(high=None),
)
WORLDS: Sequence[Mapping[str, str]] = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "POSIX", "TZ": "America/New_York", "PYTHONUTF8": "1"},
    {"PYTHONHASHSEED": "random", "LC_ALL": "en_US.UTF-8", "TZ": "Europe/Berlin"},
)
COLUMNS = (
    *("conversations", "requests", "messages kept", "changed", "epochs"),
    *("results shortened", "repaired", "given up", "left alone", "P4", "P5", "P6"),
)
LEFT_ALONE = ("A11",)
"""What a thinking block lacks, nobody but the model can give it; such a block is never changed."""

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])


def main(argv: Sequence[str]) -> int:
    """Replay, print a table by dialect, and name every broken promise."""
    asked = arguments(argv)
    if asked.prepare is not None:
        prepare_lines(asked.prepare)
        return 0
    if not (asked.data / FILE).exists():
        print(f"no data at {asked.data}: nothing replayed")
        return 0
    found: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(conversations(asked.data)):
            if asked.most is not None and number >= asked.most:
                break
            kept = found.setdefault(one.dialect, Counter())
            kept["conversations"] += 1
            replayed(one, f"s{number % SESSIONS}", Path(folder), asked.turns, kept)
            untouched(one, f"wide{number % SESSIONS}", Path(folder), asked.turns, kept)
            if number % asked.every == 0:
                elsewhere(one, Path(folder), kept)
    print("| dialect | " + " | ".join(COLUMNS) + " |\n| --- |" + " --: |" * len(COLUMNS))
    for dialect, kept in found.items():
        print(f"| {dialect} | " + " | ".join(f"{kept[name]:,}" for name in COLUMNS) + " |")
    total = sum((Counter(kept) for kept in found.values()), Counter[str]())
    print(
        f"\nin processes with other hash seeds, locales and time zones: {total['elsewhere']:,} "
        f"requests of {total['travelled']} conversations, {total['P4 elsewhere']} changed"
    )
    return 1 if any(total[name] for name in ("P4", "P5", "P6", "P4 elsewhere")) else 0


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Replay real conversations through the gate.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--most", type=int, help="so many conversations")
    parser.add_argument("--turns", type=int, default=40, help="requests of one conversation")
    parser.add_argument("--every", type=int, default=20, help="which run in other processes too")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def replayed(one: Conversation, session: str, state: Path, turns: int, kept: Counter[str]) -> None:
    """P4 and P6 with the default policy: a new gate for each request."""
    before: list[bytes] = []
    for count in sampled(one.requests, turns):
        gate = Gate(state=state, session=session)
        outcome = gate.prepare(
            one.body(count), dialect=one.dialect, model=one.model, window_tokens=WINDOW_TOKENS
        )
        now = [bytes(raw) for raw in _ARRAY.decode(outcome.body)]
        same = now[: len(before)] == before
        kept["requests"] += 1
        kept["messages kept"] += len(before) if same else 0
        kept["epochs"] += outcome.epoch is not None
        kept["changed"] += not same
        kept["results shortened"] += sum(verdict.text is not None for verdict in outcome.verdicts)
        kept["repaired"] += bool(outcome.fixes)
        kept["given up"] += bool(outcome.gave_up)
        if not same and outcome.epoch is None:
            broken("P4", one, count, first_difference(before, now), kept)
        wrong = [] if outcome.gave_up else check(outcome.body, one.dialect)
        kept["left alone"] += any(violation.rule in LEFT_ALONE for violation in wrong)
        wrong = [violation for violation in wrong if violation.rule not in LEFT_ALONE]
        if wrong:
            broken("P6", one, count, str(wrong[0]), kept)
        before = now


def untouched(one: Conversation, session: str, state: Path, turns: int, kept: Counter[str]) -> None:
    """P5: nothing is too big, nothing is wrong, nothing changes."""
    gate = Gate(WIDE, state=state, session=session)
    for count in sampled(one.requests, turns):
        sent = one.body(count)
        if check(sent, one.dialect):
            continue
        outcome = gate.prepare(sent, dialect=one.dialect, model=one.model, window_tokens=10**9)
        if outcome.body != sent:
            fixes = "; ".join(map(str, outcome.fixes)) or "no fix"
            broken("P5", one, count, fixes, kept)


def elsewhere(one: Conversation, state: Path, kept: Counter[str]) -> None:
    """P4 once more, each request in a process that sees another world."""
    before: list[bytes] = []
    kept["travelled"] += 1
    for turn, count in enumerate(sampled(one.requests, 2 * len(WORLDS))):
        asked = {"dialect": one.dialect, "model": one.model, "body": one.body(count).decode()}
        ran = subprocess.run(
            [sys.executable, __file__, "--prepare", str(state / "elsewhere")],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **WORLDS[turn % len(WORLDS)]},
            check=True,
        )
        answer = json.loads(ran.stdout)
        now = [bytes(raw) for raw in _ARRAY.decode(answer["body"])]
        kept["elsewhere"] += 1
        if now[: len(before)] != before and not answer["epoch"]:
            broken("P4 elsewhere", one, count, first_difference(before, now), kept)
        before = now


def prepare_lines(state: Path) -> None:
    """In another process: requests in, what is sent out, a line of ASCII each."""
    for line in lines_in():
        asked = json.loads(line)
        outcome = Gate(state=state).prepare(
            asked["body"].encode(),
            dialect=asked["dialect"],
            model=asked["model"],
            window_tokens=WINDOW_TOKENS,
        )
        print(json.dumps({"body": outcome.body.decode(), "epoch": outcome.epoch is not None}))


def lines_in() -> Iterator[bytes]:
    yield from sys.stdin.buffer


def broken(promise: str, one: Conversation, count: int, how: str, kept: Counter[str]) -> None:
    kept[promise] += 1
    print(f"{promise} broken: {one.name}, request of {count} messages: {how}", file=sys.stderr)


def first_difference(before: Sequence[bytes], now: Sequence[bytes]) -> str:
    pairs = enumerate(zip(before, now, strict=False))
    place = next((i for i, (then, here) in pairs if then != here), len(now))
    return f"message {place} of {len(before)} that were sent"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
