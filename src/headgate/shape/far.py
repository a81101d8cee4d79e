"""Which of many numbers lie far from the others: a request of two seconds among thousands."""

from __future__ import annotations

from collections.abc import Sequence

FEWEST = 8
"""Among fewer numbers none can be told to be far."""

FAR = 8
"""A number stands out that lies this many spreads of the middle half beyond it."""


def far_places(numbers: Sequence[float]) -> list[int]:
    """The places of the numbers that lie far from the middle half of all."""
    if len(numbers) < FEWEST:
        return []
    ordered = sorted(numbers)
    low, high = ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]
    reach = FAR * (high - low)
    if low - reach <= ordered[0] and ordered[-1] <= high + reach:
        return []
    return [i for i, number in enumerate(numbers) if not low - reach <= number <= high + reach]
