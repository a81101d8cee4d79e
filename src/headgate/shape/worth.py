"""What makes one part of a text worth more than another: that the query points at it."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from headgate.types import Query

Pointed: TypeAlias = Mapping[int, float]
"""Parts that the query points at, by number, and how strongly: 1 for the best."""

COMMON_SHARE = 0.25
"""A word in more than this share of the parts points at none of them."""

AGAIN = 0.5
"""What a word is still worth in the next part that has it: a query may be after several things."""

AGAIN_LITERALLY = 0.9
"""What a phrase is still worth: each part that has it literally is what was asked for."""

NAMED = 2.0
AGAIN_NAMED = 0.8
"""How much more a name is worth than a word of a language, and how slowly it loses that."""

QUESTION_WORDS = 12
"""Up to so many words ask one thing; more are a task, and tell less what is meant."""

LEAST_HUMP = 3
"""A word of so few characters is not looked for inside of names."""

SHORT_WORD = 2
"""A word of so few characters is only found as a whole word: `pr` is not the start of `print`."""

MOST_POINTED = 300
"""More parts than this are not what anybody asked for."""


class Reason(NamedTuple):
    """Why some parts are pointed at: a word of the query, for instance."""

    places: Collection[int]
    weight: float
    again: float = AGAIN
    """What is left of the weight each time a part with it was found."""


def pointed_by(
    query: Query, texts: Sequence[str], *, common_share: float = COMMON_SHARE
) -> Pointed:
    """Which parts hold words of the query: rare words say more, several together most."""
    most = max(3, int(common_share * len(texts)))
    found = _by_word(query, texts, most)
    return best_first([_reason(word, places, query, len(texts)) for word, places in found])


def best_first(reasons: Sequence[Reason]) -> Pointed:
    """Take the parts one after the other, always one of those worth most.

    A reason loses weight each time a part with it was found, so that parts for which others speak
    come before the next ones with the same. Of parts with the same reasons the first comes first.
    """
    weights = [reason.weight for reason in reasons]
    alike = _alike(reasons)
    queue = [(-sum(weights[which] for which in has), has) for has in alike]
    heapq.heapify(queue)
    best = -queue[0][0] if queue else 1.0
    found: dict[int, float] = {}
    while queue and len(found) < MOST_POINTED:
        claimed, has = heapq.heappop(queue)
        gain = sum(weights[which] for which in has)
        if gain < -claimed:
            heapq.heappush(queue, (-gain, has))
            continue
        found[alike[has].pop()] = gain / best
        for which in has:
            weights[which] *= reasons[which].again
        if alike[has]:
            heapq.heappush(queue, (-sum(weights[which] for which in has), has))
    return found


def _alike(reasons: Sequence[Reason]) -> dict[tuple[int, ...], list[int]]:
    """Parts by the reasons that they have, the first of them last."""
    has: dict[int, list[int]] = {}
    for which, reason in enumerate(reasons):
        for place in reason.places:
            has.setdefault(place, []).append(which)
    alike: dict[tuple[int, ...], list[int]] = {}
    for place in sorted(has, reverse=True):
        alike.setdefault(tuple(has[place]), []).append(place)
    return alike


def _reason(word: str, places: Collection[int], query: Query, total: int) -> Reason:
    rarity = math.log(1 + total / len(places))
    is_name = word in query.names
    again = AGAIN_NAMED if is_name else AGAIN
    if word in query.phrases:
        again = AGAIN_LITERALLY
    return Reason(places, rarity * (NAMED if is_name else 1.0), again)


def _by_word(query: Query, texts: Sequence[str], most: int) -> list[tuple[str, list[int]]]:
    """For each word or phrase that at most so many parts have: those that have it."""
    sought = dict.fromkeys(word.lower() for word in (*query.words, *query.phrases) if word)
    if not sought:
        return []
    written = "\n".join(texts)
    joined = written.lower()
    if len(joined) != len(written):
        # A few letters are two in lower case, and the places would not be those of the texts.
        joined = written
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    humps = written if len(query.words) <= QUESTION_WORDS else joined
    found = ((word, _holding(joined, humps, word, starts, most)) for word in sought)
    return [(word, places) for word, places in found if places]


def _holding(joined: str, written: str, word: str, starts: Sequence[int], most: int) -> list[int]:
    """The parts a word begins in; none if they are more than `most`."""
    places: list[int] = []
    at = joined.find(word)
    while at >= 0:
        if _begins(joined, written, at, word):
            places.append(bisect_right(starts, at) - 1)
            if len(places) > most:
                return []
            at = starts[places[-1] + 1] - 1
        at = joined.find(word, at + 1)
    return places


def _begins(joined: str, written: str, at: int, word: str) -> bool:
    """Whether a word begins here: `Idle` does in `MaxIdleConns`. A very short one must also end."""
    if at and joined[at - 1].isalnum() and word[0].isalnum():
        return len(word) > LEAST_HUMP and written[at].isupper() and written[at - 1].islower()
    end = at + len(word)
    return len(word) > SHORT_WORD or not joined[end : end + 1].isalnum()


def singular(word: str) -> str:
    """A word without the ending of many, where it may have one."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word
