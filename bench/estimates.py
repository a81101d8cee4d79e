"""How far estimates are from exact counts: `python bench/estimates.py [DATA]`.

Every labelled tool output and every result an agent used, by default of ../shared/data, in o200k.
Large texts are sampled; below 64 KB our estimate is the count. The rules need no vocabulary.
"""

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from retention_items import outputs, used_later

from headgate.measure.estimates import median_of_three, rounded
from headgate.measure.meters import meter_for
from headgate.measure.vocab import EXACT_BYTES

EXACT = meter_for("o200k", "tokens")
PIECES = meter_for("pieces", "tokens")

JSON_STARTS = ("{", "[")


def by_json(text: str) -> int:
    """Characters over two for JSON, over four for all else."""
    return rounded(len(text), 2 if text.lstrip()[:1] in JSON_STARTS else 4)


RULES: dict[str, Callable[[str], int]] = {
    "pieces (ours, no vocabulary)": lambda text: PIECES.estimate(text.encode()),
    "chars / 4": lambda text: rounded(len(text)),
    "chars / 3.5": lambda text: math.ceil(len(text) / 3.5),
    "chars / 4, JSON / 2": by_json,
    "median of three": median_of_three,
}


def row(name: str, errors: Sequence[float]) -> str:
    """Mean, median, 95 % and bias, in per cent."""
    sizes = sorted(map(abs, errors))
    high = sizes[min(int(len(sizes) * 0.95), len(sizes) - 1)]
    numbers = (statistics.mean(sizes), statistics.median(sizes), high, statistics.mean(errors))
    return f"| {name} | {len(sizes):,} | " + " | ".join(f"{100 * n:.2f}%" for n in numbers) + " |"


def main() -> None:
    """Print one table."""
    data = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    if not data.is_dir():
        print(f"no data at {data}: nothing to measure")
        return
    texts = list({item.text: None for item in (*outputs(data), *used_later(data)) if item.text})
    large = [text for text in texts if len(text.encode("utf-8", "replace")) >= EXACT_BYTES]
    exact = {text: EXACT.count(text) for text in texts}
    print("| | texts | mean | median | 95 % | bias |\n| --- | --: | --: | --: | --: | --: |")
    sampled = [EXACT.estimate(t.encode("utf-8", "replace")) / exact[t] - 1 for t in large]
    print(row("o200k, sampled from 64 KB on", sampled))
    for name, rule in RULES.items():
        print(row(name, [rule(text) / exact[text] - 1 for text in texts]))


if __name__ == "__main__":
    main()
