"""Exact token counts in a named vocabulary, from ranks that come with the install.

`o200k` and `cl100k` are exact to the token. Counting costs time in proportion to the text, so a
large one is estimated from exact counts of small windows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from headgate.errors import PolicyError
from headgate.types import Unit

if TYPE_CHECKING:
    import splintr

PRETRAINED = MappingProxyType({"o200k": "o200k_base", "cl100k": "cl100k_base"})
"""Our name for a vocabulary, and the name its ranks are loaded by."""

PIECE_CHARS = 16 * 1024
"""A longer text is counted in pieces of about this size: memory stays small, counts are reused."""

CACHED_PIECES = 1024
"""How many counts are remembered, with their texts at most 16 million characters."""

CACHED_TEXT_CHARS = PIECE_CHARS * CACHED_PIECES // 16
"""A longer text is counted without the cache."""

EXACT_BYTES = 64 * 1024
"""Below this an estimate is a count: it costs a millisecond or two."""

WINDOWS = 96
WINDOW_BYTES = 384
"""96 windows of 384 bytes: measured 0.8 % off on average and 4 % at worst, at any size; more and
smaller ones are as good as 64 of 1 KB and take half the time."""

CUT_TOKENS = 1.35
"""What cutting a window out of its text, and the line end behind it, adds to its count."""

GOLDEN = 0.618033988749895
"""Steps of this fraction spread the windows inside their parts evenly and never fall into step
with text that repeats."""

# Where both vocabularies always begin a new pre-token, whatever stands around it: after a line end
# before a character that no rule joins to it (o200k joins `/`), and after a letter or digit before
# a space and a letter, or before punctuation (not `'`, which may begin `'s`).
_BORDER = re.compile(r"(?<=\n)(?=[!-.0-~])|(?<=[A-Za-z0-9])(?=[!-&(-/:-@\[-`{-~]| [A-Za-z])")


class TokenMeter:
    """Counts tokens of `o200k`, of `cl100k`, or of a `tokenizer.json` given by its path.

    Text that spells a special token (`<|endoftext|>`) is text. A lone surrogate counts as the
    escape that is shown for it, `\\ud800`.
    """

    unit: Unit = "tokens"

    def __init__(self, vocab: str) -> None:
        if vocab not in PRETRAINED and not vocab.endswith(".json"):
            raise PolicyError(f"vocab is {vocab!r}; there is {', '.join(PRETRAINED)}")
        self.name = vocab.replace("\\", "/").rpartition("/")[2]
        self._vocab = vocab
        if vocab not in PRETRAINED:
            _tokenizer(vocab)  # a path that leads nowhere is said now, not at the first result

    def count(self, text: str) -> int:
        """The exact number of tokens."""
        if len(text) <= PIECE_CHARS:
            return _count_cached(self._vocab, text)
        if self._vocab not in PRETRAINED:
            return _count(self._vocab, text)
        # One huge text would drive all others out of the cache.
        counted = _count_cached if len(text) <= CACHED_TEXT_CHARS else _count
        return sum(counted(self._vocab, piece) for piece in pieces(text))

    def estimate(self, data: bytes) -> int:
        """The number of tokens in UTF-8 `data`: exact below 64 KB, a pure function of it above."""
        if len(data) < EXACT_BYTES:
            return self.count(data.decode("utf-8", "backslashreplace"))
        sampled = list(windows(data))
        tokens = _count(self._vocab, b"\n".join(sampled).decode("utf-8", "backslashreplace"))
        rate = (tokens - CUT_TOKENS * len(sampled)) / sum(map(len, sampled))
        return max(round(rate * len(data)), 1)


def pieces(text: str) -> Iterator[str]:
    """Cut a text where both vocabularies begin a new pre-token, so that the counts add up.

    A text without such a place (a megabyte of spaces) stays whole.
    """
    at = 0
    while len(text) - at > PIECE_CHARS:
        border = _BORDER.search(text, at + PIECE_CHARS)
        if border is None:
            break
        yield text[at : border.start()]
        at = border.start()
    yield text[at:]


def windows(data: bytes) -> Iterator[bytes]:
    """One window in each of as many equal parts of a large text, cut between characters."""
    part = len(data) / WINDOWS
    for i in range(WINDOWS):
        slack = part - WINDOW_BYTES
        start = _character_start(data, int(i * part + slack * (i * GOLDEN % 1)))
        yield data[start : _character_start(data, start + WINDOW_BYTES)]


def _character_start(data: bytes, at: int) -> int:
    for _ in range(3):
        if at < len(data) and data[at] & 0xC0 == 0x80:
            at += 1
    return at


def _count(vocab: str, text: str) -> int:
    tokenizer = _tokenizer(vocab)
    try:
        # A buffer of four bytes a token takes half the time of a list, but knows special tokens.
        if vocab in PRETRAINED and "<|" not in text:
            return len(tokenizer.encode_flat(text)) // 4
        return len(tokenizer.encode_ordinary(text))
    except UnicodeEncodeError:
        return _count(vocab, text.encode("utf-8", "backslashreplace").decode())


_count_cached = functools.lru_cache(CACHED_PIECES)(_count)


# Without a lock: one held by another thread at a fork would never open in the child. Two threads
# that race at the first use load the same twice, and one result stays.
@functools.cache
def _tokenizer(vocab: str) -> splintr.Tokenizer | splintr.AnyTokenizer:
    import splintr

    if vocab in PRETRAINED:
        return splintr.Tokenizer.from_pretrained(PRETRAINED[vocab])
    try:
        return splintr.from_json(vocab)
    except (OSError, ValueError) as error:
        raise PolicyError(f"vocab {vocab!r} is no tokenizer.json: {error}") from error
