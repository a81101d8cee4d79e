"""What a provider would charge for real conversations: `python bench/histories_cost.py [DATA]`.

DATA is by default ../shared/data. Every request of every conversation is made as each policy would
make it. Messages at its beginning that are the same as in the request before are read from the
provider's cache, the others are written to it; prices are parts of the plain input price. What an
agent would do otherwise, such as calling a tool again whose result was taken away, is not in it.

Exits 1 when ours changes what was sent outside of an epoch, or is not the cheapest.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from conversations import DATA, FILE, RESULTS, Conversation, conversations, sampled

from headgate import Gate, tokens
from headgate import Policy as Rules
from headgate.ageing import Ageing
from headgate.economy import ANTHROPIC
from headgate.measure.meters import meter_for

WINDOW_TOKENS = 200_000
KEEP = 3
CLEARED = "[Old tool result content cleared]"
METER = meter_for("o200k", "tokens")

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(slots=True)
class Bill:
    """What one policy's requests cost, over all conversations."""

    requests: int = 0
    sent: int = 0
    uncached: int = 0
    broken: int = 0
    """Requests that changed what was sent before, and were no epoch."""
    epochs: int = 0
    over_window: int = 0

    @property
    def cost(self) -> float:
        """In input tokens at the plain price."""
        cached = self.sent - self.uncached
        return self.uncached * ANTHROPIC.write + cached * ANTHROPIC.read


Sent = tuple[Sequence[bytes], bool]
"""The messages of a request, and whether it opened an epoch."""
Policy = Callable[[Conversation, Sequence[int]], Iterator[Sent]]


def unedited(one: Conversation, counts: Sequence[int]) -> Iterator[Sent]:
    """Everything, always."""
    for count in counts:
        yield one.encoded[:count], False


def clearing(trigger_tokens: int, one: Conversation, counts: Sequence[int]) -> Iterator[Sent]:
    """From a size on, all results but the last three are taken away, in every request anew."""
    cleared = [without_results(message) for message in one.messages]
    sizes = [size(raw) for raw in one.encoded]
    for count in counts:
        messages = list(one.encoded[:count])
        if sum(sizes[:count]) > trigger_tokens:
            with_results = [i for i in range(count) if cleared[i] is not None]
            for place in with_results[:-KEEP]:
                messages[place] = cleared[place] or messages[place]
        yield messages, False


def ours(policy: Rules, one: Conversation, counts: Sequence[int]) -> Iterator[Sent]:
    """A policy of ours, with the window that the conversation's model is taken to have."""
    with tempfile.TemporaryDirectory() as state:
        gate = Gate(policy, state=state)
        for count in counts:
            outcome = gate.prepare(
                one.body(count), dialect=one.dialect, model=one.model, window_tokens=WINDOW_TOKENS
            )
            yield [bytes(raw) for raw in _ARRAY.decode(outcome.body)], outcome.epoch is not None


PAYING = Rules(ageing=Ageing(pays_from_tokens=0, keep_last=KEEP, least=tokens(200)))
"""Keeps as many of the newest results as the others do, and ages the rest when that pays."""

POLICIES: Mapping[str, Policy] = {
    "no editing": unedited,
    "clearing by age, from 30k": functools.partial(clearing, 30_000),
    "clearing by age, from 100k": functools.partial(clearing, 100_000),
    "headgate, by pressure only (the default)": functools.partial(ours, Rules()),
    "headgate, when it pays": functools.partial(ours, PAYING),
}
BEST = "headgate, when it pays"


def without_results(message: Mapping[str, object]) -> bytes | None:
    """A message whose results say nothing; None if it has none."""
    if message.get("role") == "tool":
        return encoded({**message, "content": CLEARED})
    if message.get("type") in RESULTS:
        return encoded({**message, "output": CLEARED})
    for key in ("content", "parts"):
        blocks = message.get(key)
        told = [_told(b) for b in blocks] if isinstance(blocks, list) else []
        if any(new is not None for new in told):
            kept = [new or old for new, old in zip(told, blocks, strict=True)]
            return encoded({**message, key: kept})
    return None


def _told(block: Mapping[str, object]) -> Mapping[str, object] | None:
    if block.get("type") == "tool_result":
        return {**block, "content": CLEARED}
    answer = block.get("functionResponse")
    return {"functionResponse": {**answer, "response": {"result": CLEARED}}} if answer else None


def encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


@functools.lru_cache(100_000)
def size(raw: bytes) -> int:
    return METER.estimate(raw)


def charge(bill: Bill, requests: Iterator[Sent]) -> None:
    """Add up one conversation."""
    before: Sequence[bytes] = ()
    for messages, is_epoch in requests:
        same = 0
        while same < min(len(before), len(messages)) and before[same] == messages[same]:
            same += 1
        sizes = [size(raw) for raw in messages]
        bill.requests += 1
        bill.sent += sum(sizes)
        bill.uncached += sum(sizes[same:])
        bill.epochs += is_epoch
        bill.broken += same < len(before) and not is_epoch
        bill.over_window += sum(sizes) > WINDOW_TOKENS
        before = messages


def main(argv: Sequence[str]) -> int:
    """Print the bill of each policy, over all conversations and over the long ones alone."""
    parser = argparse.ArgumentParser(description="Simulate what real conversations cost.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--most", type=int, help="so many conversations")
    parser.add_argument("--turns", type=int, default=10**6, help="requests of one conversation")
    asked = parser.parse_args(argv)
    if not (asked.data / FILE).exists():
        print(f"no data at {asked.data}: nothing simulated")
        return 0
    bills = {name: Bill() for name in POLICIES}
    long_bills = {name: Bill() for name in POLICIES}
    for number, one in enumerate(conversations(asked.data)):
        if asked.most is not None and number >= asked.most:
            break
        is_long = sum(map(size, one.encoded)) > WINDOW_TOKENS // 2
        for name, policy in POLICIES.items():
            spent = Bill()
            charge(spent, policy(one, sampled(one.requests, asked.turns)))
            add(bills[name], spent)
            if is_long:
                add(long_bills[name], spent)
    table("all conversations", bills)
    table(f"conversations of more than {WINDOW_TOKENS // 2:,} tokens", long_bills)
    cheapest = min(bills.values(), key=lambda bill: bill.cost)
    return 0 if cheapest is bills[BEST] and not bills[BEST].broken else 1


def add(bill: Bill, other: Bill) -> None:
    for name in ("requests", "sent", "uncached", "broken", "epochs", "over_window"):
        setattr(bill, name, getattr(bill, name) + getattr(other, name))


def table(title: str, bills: Mapping[str, Bill]) -> None:
    print(f"{title}:\n")
    print("| policy | requests | sent | uncached | cost | broken prefixes | epochs | over window |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    least = bills["no editing"].cost or 1
    for name, bill in bills.items():
        print(
            f"| {name} | {bill.requests:,} | {bill.sent:,} | {bill.uncached:,} | "
            f"{bill.cost:,.0f} ({bill.cost / least:.0%}) | {bill.broken:,} | {bill.epochs} | "
            f"{bill.over_window:,} |"
        )
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
