"""What repair does to real histories, and what it costs: `python bench/histories.py [DATA]`.

DATA is by default ../shared/data. Three questions: is every history that people reported as refused
mended so that the independent check is silent, and a second repair finds nothing; does every real
conversation without a known defect come out as the very same bytes; and what do reading, repairing
and chaining a valid history cost over `json.loads` of the same bytes?

A case that a request alone does not show is said to be so: nothing may be done to it. One that
depends on the model is given the model its report names. Exits 1 when something was left broken or
changed without need.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histories_check import DATA, DIALECTS, MODELS, encoded, generated, read

from headgate.check import check
from headgate.dialects import dialect_named
from headgate.errors import HistoryError
from headgate.history.chain import chain
from headgate.history.repair import repair

KEYS = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}

NOT_IN_THE_REQUEST = {
    "C056": "signatures are the provider's to compare",
    "C068": "too big, not broken: a matter of the budget",
    "C093": "the call waits in a stored response",
}
"""Cases whose history is sound as far as it can be seen."""

LENGTHS = (100, 300, 1_000, 3_000, 10_000)
ROUNDS = 5

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of one history."""

    found: Counter[str]
    fixes: Mapping[str, int]
    left: Counter[str]
    gave_up: str
    is_same: bool
    is_settled: bool
    """Whether a second repair changes nothing."""

    @property
    def is_good(self) -> bool:
        """Whether it went out sound, and was changed only if it had to be."""
        kept_if_sound = self.is_same or bool(self.found)
        return not self.left and not self.gave_up and self.is_settled and kept_if_sound


def mend(raw: bytes, dialect: str) -> Mended:
    """Repair a history, look at the outcome, and repair it once more."""
    spoken = dialect_named(dialect)
    repaired = repair(spoken.read(raw))
    out = spoken.write(repaired.history)
    again = spoken.write(repair(spoken.read(out)).history)
    return Mended(
        Counter(violation.rule for violation in check(raw, dialect)),
        repaired.counts,
        Counter(violation.rule for violation in check(out, dialect)),
        repaired.gave_up,
        out is raw,
        again is out,
    )


def cases(data: Path) -> bool:
    """Histories that people reported as refused."""
    lines = (data / "C_broken_histories" / "cases.jsonl").read_text().splitlines()
    good, apart = [], 0
    print("case   api                category                             found      done")
    for case in map(json.loads, lines):
        dialect = DIALECTS.get(case["api"])
        outcome = mended_case(case, dialect) if dialect else None
        if outcome is None:
            apart += 1
            continue
        good.append(outcome.is_good and bool(outcome.found or case["id"] in NOT_IN_THE_REQUEST))
        done = ", ".join(f"{kind} {count}" for kind, count in outcome.fixes.items())
        note = done or NOT_IN_THE_REQUEST.get(case["id"], "nothing")
        flag = "" if good[-1] else f"  WRONG, left: {dict(outcome.left)} {outcome.gave_up}"
        rules = " ".join(outcome.found) or "-"
        print(f"{case['id']:<6} {case['api']:<18} {case['category']:<36} {rules:<10} {note}{flag}")
    print(
        f"\ncases mended, or rightly left alone: {sum(good)} of {len(good)}; no history: {apart}\n"
    )
    return all(good)


def mended_case(case: Mapping[str, object], dialect: str) -> Mended | None:
    broken = generated(case)
    model = MODELS.get(str(case["id"]))
    if model is not None:
        body = broken if isinstance(broken, dict) else {KEYS[dialect]: broken}
        broken = {"model": model, **body}
    try:
        return mend(encoded(broken), dialect)
    except HistoryError:
        return None


def windows(data: Path) -> bool:
    """Pieces of real conversations around a defect."""
    path = data / "C_broken_histories" / "real_windows.jsonl.gz"
    outcomes = [mend(encoded(one["messages"]), "anthropic") for one in read(path)]
    good = sum(outcome.is_good and bool(outcome.fixes) for outcome in outcomes)
    print(f"windows with a real defect: {good} of {len(outcomes)} mended\n")
    return good == len(outcomes)


def conversations(data: Path) -> bool:
    """Sound ones must come out as the same bytes, the others sound."""
    rows: dict[str, Counter[str]] = {}
    thinking = 0
    for one in read(data / "A_conversations" / "conversations.jsonl.gz"):
        dialect = DIALECTS[one["format"]]
        outcome = mend(encoded(one["messages"]), dialect)
        row = rows.setdefault(dialect, Counter())
        is_sound = not one["wire_errors"]
        row["sound"] += is_sound
        row["same bytes"] += is_sound and outcome.is_same
        row["broken"] += not is_sound
        # A thinking block without its signature was broken by the log, and is never touched.
        thinking += set(outcome.left) == {"A11"}
        row["mended"] += not is_sound and outcome.is_settled and set(outcome.left) <= {"A11"}
    columns = ("sound", "same bytes", "broken", "mended")
    print("conversations    ", *(f"{name:>11}" for name in columns))
    for dialect, row in rows.items():
        print(f"{dialect:<17}", *(f"{row[name]:>11}" for name in columns))
    print(f"of these mended but for a thinking block without signature: {thinking}\n")
    return all(
        row["sound"] == row["same bytes"] and row["broken"] == row["mended"]
        for row in rows.values()
    )


def speed(what: str, make: Callable[[int], bytes]) -> None:
    """The cost of a valid history at several lengths, over `json.loads` of the same bytes."""
    spoken = dialect_named("anthropic")
    print(f"{what}\nmessages      MB  json.loads ms    read  repair   chain     all (goal 2)")
    for length in LENGTHS:
        raw = make(length)
        history = spoken.read(raw)
        base = median_of(json.loads, raw)
        spent = [median_of(spoken.read, raw), median_of(repair, history), median_of(chain, history)]
        costs = "".join(f"{cost / base:>7.2f}x" for cost in [*spent, sum(spent)])
        print(f"{length:>8,} {len(raw) / 1e6:>7.1f} {base * 1e3:>14.1f} {costs}", flush=True)
    print()


def logs(length: int) -> bytes:
    """Steps of one call and a result of 10 KB, plain text: what `json.loads` is fastest at."""
    messages: list[Message] = [{"role": "user", "content": "go"}]
    for number in range((length - 1) // 2):
        lines = [f"10:00:{n % 60:02} INFO worker {number}.{n} is fine" for n in range(250)]
        id_ = f"toolu_{number}"
        call = {"type": "tool_use", "id": id_, "name": "bash", "input": {"n": number}}
        result = {"type": "tool_result", "tool_use_id": id_, "content": "\n".join(lines)}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result]})
    return encoded({"model": "m", "messages": messages})


def real(data: Path) -> Callable[[int], bytes]:
    """Real conversations one after the other, their results four times as long."""
    path = data / "A_conversations" / "conversations.jsonl.gz"
    sound = [one for one in read(path) if one["format"] == "anthropic" and not one["wire_errors"]]

    def make(length: int) -> bytes:
        messages: list[Message] = []
        for number, one in enumerate(itertools.cycle(sound)):
            renamed = [renumbered(message, number) for message in one["messages"]]
            messages += renamed[: length - len(messages)]
            if len(messages) == length:
                break
        while messages[-1]["role"] == "assistant":
            messages.pop()
        return encoded({"model": "m", "messages": messages})

    return make


def renumbered(message: Message, number: int) -> Message:
    """The message with ids that no other round of the cycle has."""
    content = message["content"]
    if not isinstance(content, list):
        return message
    blocks = []
    for block in content:
        key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])
        block = {**block, key: f"{block[key]}_{number}"} if key else block
        if block["type"] == "tool_result" and isinstance(block["content"], str):
            block = {**block, "content": block["content"] * 4}
        blocks.append(block)
    return {**message, "content": blocks}


def median_of(work: Callable[[Any], object], given: object) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work(given)
        times.append(time.process_time() - start)
    return statistics.median(times)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    data = Path(arguments[0]) if arguments else DATA
    speed("plain logs", logs)
    if not (data / "A_conversations").is_dir():
        print(f"no data at {data}: name the folder that holds A_conversations", file=sys.stderr)
        return 2
    speed("real conversations", real(data))
    good = [cases(data), windows(data), conversations(data)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
