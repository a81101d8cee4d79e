"""What a gateway counts, in memory that all of its workers share: one writer for each row.

Names and labels are a table, fixed when it starts, so nothing that a client sends becomes a label.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import BinaryIO, Final, Literal


@dataclass(frozen=True, slots=True)
class Metric:
    """One thing that is counted, apart for each value of its label."""

    name: str
    about: str
    label: str = ""
    values: tuple[str, ...] = ("",)
    kind: Literal["counter", "gauge", "histogram"] = "counter"


BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Upper ends of the buckets of a histogram; what is slower is in one more."""

METRICS: Final = (
    Metric(
        "requests",
        "Requests by what their body is.",
        "dialect",
        ("anthropic", "openai-chat", "openai-responses", "gemini", "other"),
    ),
    Metric(
        "bodies",
        "What was done with the bodies that carry a history.",
        "outcome",
        ("changed", "unchanged", "passthrough", "no_history", "gave_up", "failed", "late", "busy"),
    ),
    Metric(
        "refused",
        "Requests that were not let through, by why.",
        "reason",
        ("host", "origin", "token", "path", "upstream", "size", "depth", "encoding"),
    ),
    Metric("answers", "Answers by status.", "status", ("2xx", "3xx", "4xx", "429", "5xx")),
    Metric(
        "broken",
        "Exchanges that did not come to their end, by why.",
        "reason",
        ("unreachable", "timeout", "upstream", "client", "shutdown", "fault"),
    ),
    Metric("in_flight", "Requests that are being answered.", kind="gauge"),
    Metric(
        "results",
        "Tool results that were decided on, by what the model sees of them.",
        "fate",
        ("whole", "shaped", "spilled", "cleared"),
    ),
    Metric("result_tokens", "Tokens of those results.", "side", ("before", "after")),
    Metric("fixes", "Repairs of histories."),
    Metric("epochs", "Times that old results were moved down."),
    Metric(
        "kept_failures",
        "Originals or verdicts that could not be kept.",
        "what",
        ("original", "verdict"),
    ),
    Metric(
        "usage_tokens",
        "Tokens that the providers reported.",
        "kind",
        ("input", "cache_read", "cache_write", "output"),
    ),
    Metric(
        "sent_bytes",
        "Bytes of prepared bodies, as they came and as they went.",
        "side",
        ("before", "after"),
    ),
    Metric("prepare_seconds", "What preparing a body took.", kind="histogram"),
    Metric("added_seconds", "From the last byte of a request to its going out.", kind="histogram"),
)

WORD_BYTES: Final = 8


def _cells() -> dict[tuple[str, str], int]:
    cells: dict[tuple[str, str], int] = {}
    for metric in METRICS:
        values = metric.values
        if metric.kind == "histogram":
            values = (*(f"{bound:g}" for bound in BUCKETS_S), "+Inf", "sum_us")
        for value in values:
            cells[metric.name, value] = len(cells)
    return cells


CELLS: Final[Mapping[tuple[str, str], int]] = MappingProxyType(_cells())
"""Where each number stands in a row."""

ROW_BYTES: Final = len(CELLS) * WORD_BYTES


class Counters:
    """The numbers of one gateway; each worker has its row, and everybody sees the sums.

    Not for threads: a row is written by the event loop of its worker alone.
    """

    def __init__(self, rows: int = 1, *, file: BinaryIO | None = None, row: int = 0) -> None:
        """A `file` shares the numbers between processes."""
        size = rows * ROW_BYTES
        if file is not None and file.seek(0, 2) < size:
            file.truncate(size)
        self._map = mmap.mmap(file.fileno() if file is not None else -1, size)
        self._cells = memoryview(self._map).cast("Q")
        self._rows = rows
        self._row = row * len(CELLS)

    def add(self, name: str, value: str = "", count: int = 1) -> None:
        """Count."""
        at = self._row + CELLS[name, value]
        self._cells[at] = max(self._cells[at] + count, 0)

    def time(self, name: str, seconds: float) -> None:
        """Take one value into a histogram."""
        bucket = next((bound for bound in BUCKETS_S if seconds <= bound), None)
        self.add(name, "+Inf" if bucket is None else f"{bucket:g}")
        self.add(name, "sum_us", round(seconds * 1_000_000))

    def clear_gauges(self, row: int) -> None:
        """Forget what a worker that died had under way."""
        for metric in METRICS:
            if metric.kind == "gauge":
                self._cells[row * len(CELLS) + CELLS[metric.name, ""]] = 0

    def sum(self, name: str, value: str = "") -> int:
        """One number, over all workers."""
        at = CELLS[name, value]
        return sum(self._cells[row * len(CELLS) + at] for row in range(self._rows))


def as_json(counters: Counters) -> dict[str, object]:
    """All numbers as one object: `{"requests": {"anthropic": 3, …}, "in_flight": 0, …}`."""
    out: dict[str, object] = {}
    for metric in METRICS:
        if metric.kind == "histogram":
            out[metric.name] = _histogram(counters, metric.name)
        elif metric.label:
            out[metric.name] = {v: counters.sum(metric.name, v) for v in metric.values}
        else:
            out[metric.name] = counters.sum(metric.name)
    return out


def as_metrics(counters: Counters) -> str:
    """All numbers in the text format of Prometheus."""
    lines: list[str] = []
    for metric in METRICS:
        name = f"headgate_gateway_{metric.name}" + ("_total" if metric.kind == "counter" else "")
        lines += [f"# HELP {name} {metric.about}", f"# TYPE {name} {metric.kind}"]
        if metric.kind == "histogram":
            lines += _histogram_lines(counters, metric.name, name)
            continue
        for value in metric.values:
            label = f'{{{metric.label}="{value}"}}' if metric.label else ""
            lines.append(f"{name}{label} {counters.sum(metric.name, value)}")
    return "\n".join(lines) + "\n"


def _histogram(counters: Counters, name: str) -> dict[str, object]:
    counts = _bucket_counts(counters, name)
    seconds = counters.sum(name, "sum_us") / 1_000_000
    return {"count": sum(counts.values()), "sum": seconds, "buckets": counts}


def _histogram_lines(counters: Counters, name: str, full: str) -> list[str]:
    counts = _bucket_counts(counters, name)
    up_to = zip(counts, accumulate(counts.values()), strict=True)
    lines = [f'{full}_bucket{{le="{bound}"}} {count}' for bound, count in up_to]
    lines.append(f"{full}_sum {counters.sum(name, 'sum_us') / 1_000_000:g}")
    lines.append(f"{full}_count {sum(counts.values())}")
    return lines


def _bucket_counts(counters: Counters, name: str) -> dict[str, int]:
    bounds = (*(f"{bound:g}" for bound in BUCKETS_S), "+Inf")
    return {bound: counters.sum(name, bound) for bound in bounds}
