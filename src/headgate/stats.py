"""What a session kept out of the context, counted so that nobody is flattered.

A token that was kept out would have been paid for once when it was first sent, and again, at the
price of the cache, in every later request. How many those were is not recorded, so only those are
counted that are certain: each later batch of the session was one. What was read back is paid for in
the same way, and is subtracted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headgate.admit import READ_BACK
from headgate.economy import Prices
from headgate.history.mending import MADE
from headgate.ledger import Entry, EpochEntry, ReadBack
from headgate.types import Fate, Verdict

MOST_SENT_TOKENS = 200_000
"""The window of most models. What is larger would not have been paid for, but refused."""


@dataclass(slots=True)
class Count:
    """Results of one kind, and their tokens."""

    results: int = 0
    by_fate: dict[Fate, int] = field(default_factory=dict)
    """As they stand now: an old one has moved down."""
    tokens: int = 0
    """Of the results as the tools gave them."""
    shown: int = 0
    """Of what the model was shown."""
    aged: int = 0
    """What old results lost when they moved down."""
    read_back: int = 0
    worth: float = 0.0
    """What all of it would have cost more, in tokens at the plain price of input."""

    @property
    def kept_out(self) -> int:
        """Tokens that did not enter the context; less than none where more was read back."""
        return self.tokens - self.shown + self.aged - self.read_back

    @property
    def shortened(self) -> int:
        """Results that were not shown whole."""
        return self.results - self.by_fate.get("whole", 0)

    def add(self, other: Count) -> None:
        """Count another one in."""
        self.results += other.results
        for fate, results in other.by_fate.items():
            self.by_fate[fate] = self.by_fate.get(fate, 0) + results
        self.tokens += other.tokens
        self.shown += other.shown
        self.aged += other.aged
        self.read_back += other.read_back
        self.worth += other.worth


def counted(
    entries: Sequence[Entry],
    epochs: Iterable[EpochEntry],
    reads: Iterable[ReadBack],
    prices: Prices,
    since_ns: int = 0,
) -> dict[str, Count]:
    """The counts of one session by tool."""
    fresh = [entry for entry in entries if _is_of_a_tool(entry.verdict)]
    moments = sorted({entry.time_ns for entry in entries})
    counts: dict[str, Count] = {}
    in_order = sorted(epochs, key=lambda epoch: epoch.time_ns)
    moved = {key: verdict for epoch in in_order for key, verdict in epoch.moves.items()}
    # What was shown whole is kept, and has its ref, only since it moved.
    said = [*(entry.verdict for entry in fresh), *moved.values()]
    tool_of = {verdict.ref: verdict.tool for verdict in said}
    for entry in fresh:
        verdict = entry.verdict
        if entry.time_ns >= since_ns:
            before, after = verdict.before.tokens, verdict.after.tokens
            sent = min(before, max(MOST_SENT_TOKENS, after))
            worth = _worth(sent - after, entry.time_ns, moments, prices)
            now = moved.get(entry.key, verdict).fate
            one = Count(1, {now: 1}, before, after, worth=worth)
            counts.setdefault(verdict.tool, Count()).add(one)
    for tool, aged in _aged(fresh, in_order, moments, prices, since_ns):
        counts.setdefault(tool, Count()).add(aged)
    for read in reads:
        if read.time_ns >= since_ns:
            worth = _worth(-read.tokens, read.time_ns, moments, prices)
            tool = tool_of.get(read.ref, "")
            counts.setdefault(tool, Count()).add(Count(read_back=read.tokens, worth=worth))
    return counts


def _is_of_a_tool(verdict: Verdict) -> bool:
    """Whether a tool gave it now: it was neither read back nor made up by repair."""
    return verdict.limit_by != READ_BACK.by and verdict.sha256 not in MADE


def total(counts: Iterable[Count]) -> Count:
    """All counts as one."""
    whole = Count()
    for count in counts:
        whole.add(count)
    return whole


def _aged(
    fresh: Sequence[Entry],
    epochs: Iterable[EpochEntry],
    moments: Sequence[int],
    prices: Prices,
    since_ns: int,
) -> list[tuple[str, Count]]:
    """What results lost when they moved down: paid for until then, and only read after it."""
    shown = {entry.key: entry.verdict.after.tokens for entry in fresh}
    found: list[tuple[str, Count]] = []
    for epoch in epochs:
        for key, verdict in epoch.moves.items():
            lost = shown.get(key, verdict.after.tokens) - verdict.after.tokens
            shown[key] = verdict.after.tokens
            if epoch.time_ns >= since_ns:
                worth = lost * prices.read * _later(epoch.time_ns, moments)
                found.append((verdict.tool, Count(aged=lost, worth=worth)))
    return found


def _worth(tokens: int, time_ns: int, moments: Sequence[int], prices: Prices) -> float:
    return tokens * (prices.write + prices.read * _later(time_ns, moments))


def _later(time_ns: int, moments: Sequence[int]) -> int:
    """Requests that are certain to have come after a moment."""
    return len(moments) - bisect_right(moments, time_ns)
