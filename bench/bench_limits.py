"""No shortened result exceeds its limit by one token: every real output, at five limits."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from headgate import Policy, ToolResult, tokens
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for

LIMITS = (128, 500, 1_000, 2_000, 4_000)
METER = meter_for("o200k", "tokens")


def shown_size(text: str, question: str, limit: int) -> int:
    amount = tokens(limit)
    policy = Policy(result=amount, batch=None, error=amount, preview=amount, block_overhead=0)
    desk = Desk(policy, METER, bytes(32), "bench", question=question)
    result = ToolResult.of("bash", text, call_id="c")
    [verdict] = plan_batch([result], Ledger(None), desk, NO_OVERRIDES).verdicts
    return METER.count(text if verdict.text is None else verdict.text)


def main(argv: list[str]) -> None:
    data = Path(argv[0] if argv else "../shared/data") / "B_tool_outputs" / "items.jsonl.gz"
    if not data.exists():
        print(f"no data at {data}: nothing measured")
        return
    with gzip.open(data, "rt", encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    print("| limit | shortened | over | least fill | mean fill |\n| --: | --: | --: | --: | --: |")
    for limit in LIMITS:
        big = [
            item
            for item in items
            if METER.estimate(item["text"].encode("utf-8", "replace")) > limit
        ]
        fills = [shown_size(item["text"], item.get("query") or "", limit) / limit for item in big]
        over = sum(fill > 1 for fill in fills)
        mean = sum(fills) / len(fills)
        print(f"| {limit:,} | {len(big)} | {over} | {min(fills):.2f} | {mean:.3f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
