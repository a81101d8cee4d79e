"""What makes one part of a text worth more than another: that the query points at it."""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

from headgate.types import Query

Pointed: TypeAlias = Mapping[int, float]
"""Parts that the query points at, by number, and how strongly: 1 for the best."""

COMMON_SHARE = 0.25
"""A word in more than this share of the parts points at none of them."""

AGAIN = 0.5
"""What a word is still worth in the next part that has it: a query may be after several things."""

AGAIN_LITERALLY = 0.9
"""What a phrase is still worth: each part that has it literally is what was asked for."""

NAME = re.compile(r"\w(?:_|\.|::)\w")
NAMED = 2.0
AGAIN_NAMED = 0.8
"""How much more a name is worth than a word of a language, and how slowly it loses that."""

MOST_POINTED = 300
"""More parts than this are not what anybody asked for."""


def pointed_by(query: Query, texts: Sequence[str]) -> Pointed:
    """Which parts hold words of the query: rare words say more, several together most.

    A word loses weight each time a part with it was found, so that parts that have other words of
    the query come before the next ones with the same.
    """
    found = _by_word(query, texts)
    holding = [places for _, places in found]
    named = [NAME.search(word) is not None for word, _ in found]
    again = [
        AGAIN_LITERALLY if word in query.phrases else AGAIN_NAMED if is_name else AGAIN
        for (word, _), is_name in zip(found, named, strict=True)
    ]
    weights = [
        math.log(1 + len(texts) / len(places)) * (NAMED if is_name else 1.0)
        for places, is_name in zip(holding, named, strict=True)
    ]
    words: dict[int, list[int]] = {}
    for word, places in enumerate(holding):
        for place in places:
            words.setdefault(place, []).append(word)
    alike: dict[tuple[int, ...], list[int]] = {}
    for place in sorted(words, reverse=True):
        alike.setdefault(tuple(words[place]), []).append(place)
    return _best_first(alike, weights, again)


def _best_first(
    alike: Mapping[tuple[int, ...], list[int]], weights: list[float], again: Sequence[float]
) -> Pointed:
    """Take from parts with the same words one after the other, always of those worth most."""
    queue = [(-sum(weights[word] for word in has), has) for has in alike]
    heapq.heapify(queue)
    best = -queue[0][0] if queue else 1.0
    found: dict[int, float] = {}
    while queue and len(found) < MOST_POINTED:
        claimed, has = heapq.heappop(queue)
        gain = sum(weights[word] for word in has)
        if gain < -claimed:
            heapq.heappush(queue, (-gain, has))
            continue
        found[alike[has].pop()] = gain / best
        for word in has:
            weights[word] *= again[word]
        if alike[has]:
            heapq.heappush(queue, (-sum(weights[word] for word in has), has))
    return found


def _by_word(query: Query, texts: Sequence[str]) -> list[tuple[str, list[int]]]:
    """For each word or phrase that tells parts from each other: those that have it."""
    sought = dict.fromkeys(word.lower() for word in (*query.words, *query.phrases) if word)
    if not sought:
        return []
    joined = "\n".join(texts).lower()
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    if len(joined) + 1 != starts[-1]:
        # A few letters are two in lower case, and the places would not be those of the texts.
        joined = "\n".join(texts)
    most = max(3, int(COMMON_SHARE * len(texts)))
    found = ((word, _holding(joined, word, starts, most)) for word in sought)
    return [(word, places) for word, places in found if places]


def _holding(joined: str, word: str, starts: Sequence[int], most: int) -> list[int]:
    """The parts a word begins in; none if they are more than `most`."""
    places: list[int] = []
    at = joined.find(word)
    while at >= 0:
        part = bisect_right(starts, at) - 1
        if at == 0 or not (joined[at - 1].isalnum() and word[0].isalnum()):
            places.append(part)
            if len(places) > most:
                return []
            at = starts[part + 1] - 1
        at = joined.find(word, at + 1)
    return places
