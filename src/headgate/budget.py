"""Who gets how much of a batch's budget: three rules, each a pure function of sizes.

All take what each result wants (its size after its own limit) and answer with one share each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

Sharing = Literal["fair", "even", "largest_first"]


def fair_shares(wants: Sequence[int], budget: int) -> list[int]:
    """Split `budget` so that small wants are met in full and large ones share the rest evenly."""
    shares = [0] * len(wants)
    left = budget
    smallest_first = sorted(range(len(wants)), key=wants.__getitem__)
    for served, i in enumerate(smallest_first):
        shares[i] = min(wants[i], left // (len(wants) - served))
        left -= shares[i]
    return shares


def even_shares(wants: Sequence[int], budget: int, others: int = 0) -> list[int]:
    """Give each the same share, used or not; `others` take one each too."""
    share = budget // max(len(wants) + others, 1)
    return [min(want, share) for want in wants]


def largest_first(wants: Sequence[int], budget: int, preview: int) -> list[int]:
    """Cut the largest down to `preview`, one by one, until the rest fits.

    Where previews of all of them do not fit either, they share the budget.
    """
    shares = list(wants)
    total = sum(wants)
    for i in sorted(range(len(wants)), key=lambda i: (-wants[i], i)):
        if total <= budget or wants[i] <= preview:
            break
        total -= wants[i] - preview
        shares[i] = preview
    return shares if total <= budget else fair_shares(shares, max(budget, 0))


SHARING: Mapping[Sharing, Callable[[Sequence[int], Sequence[int], int, int], list[int]]] = {
    "fair": lambda wants, fixed, budget, _: fair_shares(wants, max(budget - sum(fixed), 0)),
    "even": lambda wants, fixed, budget, _: even_shares(wants, budget, len(fixed)),
    "largest_first": lambda wants, fixed, budget, preview: largest_first(
        wants, budget - sum(fixed), preview
    ),
}
"""Each takes the wants, the sizes that stand anyway, the budget, and the size of a preview."""
