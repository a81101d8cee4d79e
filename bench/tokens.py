"""How well tokens are estimated: `python bench/tokens.py [DATA]`, by default ../shared/data.

Real agent windows, in each of which the provider reported how much the context grew when tool
results were added. Every method estimates that growth from the text alone. Ours is judged twice:
calibrated on other conversations (five parts, each judged by what the other four taught), and
online (each window judged by what was reported before it).

The rivals are fixed rules. So that the learning does not take the credit for the model of text, one
row gives characters a ratio that is learnt online, too.

The truth is noisy: some clients log too few output tokens, and add reminders that are in no log.
No method could reach zero.
"""

import gzip
import json
import math
import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headgate.dialects import dialect_named
from headgate.dialects.history import History
from headgate.history.calibrate import Calibration, Observation, observe, uncalibrated
from headgate.history.count import CountCache, accounting_for, count, observation
from headgate.history.usage import Usage
from headgate.measure.estimates import median_of_three, rounded, rounded_for_file
from headgate.measure.models import counted_as

DATA = Path("../shared/data")
PARTS = 5
SEED = 7


@dataclass(frozen=True, slots=True)
class Window:
    """One answer of a provider, and the history it answered."""

    conversation: str
    model: str
    history: History
    before: Usage
    after: Usage
    texts: tuple[tuple[str, str], ...]
    """What was added, each with the extension of the file it was read from."""

    @property
    def answered(self) -> int:
        return len(self.history.messages) - 2

    @property
    def growth(self) -> int:
        return self.before.growth_to(self.after)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a method said of a window, and what it would stake its life on."""

    likely: float
    high: float


def main(argv: Sequence[str]) -> int:
    """Print the table; 0 too where there is no data, and it says so."""
    folder = Path(argv[0] if argv else DATA) / "A_conversations"
    if not (folder / "token_truth.jsonl.gz").exists():
        print(f"tokens: no {folder}/token_truth.jsonl.gz; name the folder that holds the data")
        return 0
    windows = list(read(folder))
    rows = {
        "chars / 4": [plain(rounded(sum(len(t) for t, _ in w.texts))) for w in windows],
        "chars / 4, JSON / 2": [
            plain(sum(rounded_for_file(len(t), kind) for t, kind in w.texts)) for w in windows
        ],
        "median of three": [plain(sum(median_of_three(t) for t, _ in w.texts)) for w in windows],
    }
    rivals = list(rows)
    rows["chars x learnt ratio"] = chars_online(windows)
    cache = CountCache()
    start = {w.model: uncalibrated(counted_as(w.model)) for w in windows}
    rows["table of models"] = [judged(w, start[w.model], cache) for w in windows]
    rows["calibrated on others"] = calibrated_on_others(windows, cache)
    rows["calibrated online"] = calibrated_online(windows, cache)
    show(windows, rows, rivals)
    return 0


def read(folder: Path) -> Iterator[Window]:
    """The windows in the order of the file."""
    with gzip.open(folder / "conversations.jsonl.gz", "rt", encoding="utf-8") as lines:
        conversations = {c["id"]: c["messages"] for c in map(json.loads, lines)}
    dialect = dialect_named("anthropic")
    with gzip.open(folder / "token_truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        for truth in map(json.loads, lines):
            messages = conversations[truth["conv_id"]][: truth["msg_index"] + 1]
            yield Window(
                truth["conv_id"],
                truth["model"],
                dialect.read(json.dumps(messages[-2:]).encode()),
                Usage(truth["ctx_before"], output_tokens=truth["output_tokens_logged"]),
                Usage(truth["ctx_after"]),
                tuple(added_texts(messages[-2], messages[-1])),
            )


def added_texts(asked: dict[str, object], answered: dict[str, object]) -> Iterator[tuple[str, str]]:
    blocks = [block for block in (asked["content"] or []) if isinstance(block, dict)]
    paths = {b["id"]: b["input"].get("file_path") for b in blocks if b["type"] == "tool_use"}
    for block in answered["content"]:
        path = paths.get(block["tool_use_id"])
        extension = Path(path).suffix if isinstance(path, str) else ""
        content = block["content"]
        texts = [content] if isinstance(content, str) else [b["text"] for b in content]
        yield from ((text, extension) for text in texts)


def plain(tokens: int) -> Judged:
    return Judged(tokens, tokens)


def judged(window: Window, known: Calibration, cache: CountCache) -> Judged:
    accounting = accounting_for(window.model, known)
    counted = count(window.history, accounting, usage=window.before, cache=cache)
    return Judged(counted.estimated.likely, counted.estimated.high)


def learnt(window: Window, known: Calibration, cache: CountCache) -> Calibration:
    seen: Observation | None = observation(
        window.history,
        accounting_for(window.model, known),
        before=window.before,
        answered=window.answered,
        after=window.after,
        cache=cache,
    )
    return observe(known, seen) if seen else known


def chars_online(windows: Sequence[Window]) -> list[Judged]:
    """Characters times the median of what was reported before, per model."""
    seen: dict[str, list[float]] = defaultdict(lambda: [1 / 4])
    found: list[Judged] = []
    for w in windows:
        chars = sum(len(text) for text, _ in w.texts)
        found.append(plain(round(chars * statistics.median(seen[w.model]))))
        seen[w.model].append(w.growth / chars)
    return found


def calibrated_on_others(windows: Sequence[Window], cache: CountCache) -> list[Judged]:
    conversations = sorted({w.conversation for w in windows})
    random.Random(SEED).shuffle(conversations)
    part_of = {name: i % PARTS for i, name in enumerate(conversations)}
    found: dict[int, Judged] = {}
    for part in range(PARTS):
        known = {w.model: uncalibrated(counted_as(w.model)) for w in windows}
        for w in windows:
            if part_of[w.conversation] != part:
                known[w.model] = learnt(w, known[w.model], cache)
        for i, w in enumerate(windows):
            if part_of[w.conversation] == part:
                found[i] = judged(w, known[w.model], cache)
    return [found[i] for i in range(len(windows))]


def calibrated_online(windows: Sequence[Window], cache: CountCache) -> list[Judged]:
    known = {w.model: uncalibrated(counted_as(w.model)) for w in windows}
    found: list[Judged] = []
    for w in windows:
        found.append(judged(w, known[w.model], cache))
        known[w.model] = learnt(w, known[w.model], cache)
    return found


def show(windows: Sequence[Window], rows: dict[str, list[Judged]], rivals: Sequence[str]) -> None:
    errors = {
        name: [j.likely / w.growth - 1 for j, w in zip(said, windows, strict=True)]
        for name, said in rows.items()
    }
    best_mean = min(mean_size(errors[name]) for name in rivals)
    best_median = min(median_size(errors[name]) for name in rivals)
    conversations = len({w.conversation for w in windows})
    print(f"{len(windows)} windows of {conversations} conversations, in % of the reported growth\n")
    print("| | mean | of best | median | of best | 95 % | bias | context | total | too low |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for name, said in rows.items():
        off = errors[name]
        cells = (
            f"{mean_size(off):.1%}",
            f"{mean_size(off) / best_mean:.2f}",
            f"{median_size(off):.1%}",
            f"{median_size(off) / best_median:.2f}",
            f"{quantile(off, 0.95):.1%}",
            f"{statistics.fmean(off):+.1%}",
            f"{whole(windows, said):.2%}",
            f"{total(windows, said):+.1%}",
            f"{too_low(windows, said):.1%}",
        )
        print(f"| {name} | {' | '.join(cells)} |")
    print(
        "\nof best: against the best fixed rule; context: the mean error of the whole context, that"
        "\nis of what was reported before plus the estimate; total: of all windows summed; too low:"
        "\nhow often the number that decisions go by was under what was reported"
    )


def mean_size(off: Sequence[float]) -> float:
    return statistics.fmean(map(abs, off))


def median_size(off: Sequence[float]) -> float:
    return statistics.median(map(abs, off))


def quantile(off: Sequence[float], share: float) -> float:
    return sorted(map(abs, off))[math.ceil(share * len(off)) - 1]


def whole(windows: Sequence[Window], said: Sequence[Judged]) -> float:
    return statistics.fmean(
        abs(j.likely - w.growth) / w.after.prompt for j, w in zip(said, windows, strict=True)
    )


def total(windows: Sequence[Window], said: Sequence[Judged]) -> float:
    return sum(j.likely for j in said) / sum(w.growth for w in windows) - 1


def too_low(windows: Sequence[Window], said: Sequence[Judged]) -> float:
    return statistics.fmean(j.high < w.growth for j, w in zip(said, windows, strict=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
