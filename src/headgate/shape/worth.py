"""What makes one part of a text worth more than another: that the query points at it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from headgate.types import Query

Pointed: TypeAlias = Mapping[int, float]
"""Parts that the query points at, by number, and how strongly: 1 where it has all of its words."""

COMMON_SHARE = 0.25
"""A word in more than this share of the parts points at none of them."""

WORD_END = re.compile(r"\w")


def pointed_by(query: Query, texts: Sequence[str]) -> Pointed:
    """Which parts hold words of the query; rare words say more, several words together most."""
    lowered = [text.lower() for text in texts]
    scores: dict[int, float] = {}
    total = 0.0
    for word in query.words:
        word = word.lower()
        holding = [i for i, text in enumerate(lowered) if word in text and stands_in(text, word)]
        if not holding or len(holding) > max(3, COMMON_SHARE * len(texts)):
            continue
        rarity = math.log(1 + len(texts) / len(holding))
        total += rarity
        for i in holding:
            scores[i] = scores.get(i, 0.0) + rarity
    return {i: score / total for i, score in scores.items()}


def stands_in(text: str, word: str) -> bool:
    """Whether a word begins somewhere in the text, and does not only end another there."""
    at = text.find(word)
    while at >= 0:
        if at == 0 or not (text[at - 1].isalnum() and word[0].isalnum()):
            return True
        at = text.find(word, at + 1)
    return False
