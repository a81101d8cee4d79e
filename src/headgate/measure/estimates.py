"""Rules of thumb that some presets count by, kept exactly as their documents state them.

Measured, they are 20 to 40 % off; where nobody asks for them, `TokenMeter` is used instead.
"""

from __future__ import annotations

import math

from headgate.measure.lengths import chars_in
from headgate.types import Unit

CHARS_PER_TOKEN = 4
DENSE_CHARS_PER_TOKEN = 2
DENSE_EXTENSIONS = frozenset({"json", "jsonl", "jsonc"})
"""Full of one-character tokens: braces, quotes, colons."""

MEDIA_TOKENS = 2_000
"""An image or a document, whatever its base64 weighs."""

IMAGE_PIXELS_PER_TOKEN = 750
IMAGE_SIDE_PIXELS = 2_000
"""How one provider bills an image itself: by its area, after scaling it down to this side."""

MEDIAN_CHARS_PER_TOKEN = 3.5
LONG_WORD_CHARS = 8
LONG_WORD_STEP = 6
LONG_WORD_SCALE = 10
TOKENS_PER_LINE = 15
CODE_MULTIPLIER = 1.1
CODE_SIGNS = "(){}[]=+-/*;:,"
CODE_SHARE = 20
"""One sign in this many characters makes a text code."""


def rounded(chars: int, chars_per_token: int = CHARS_PER_TOKEN) -> int:
    """Characters over a fixed number, rounded half up."""
    return (2 * chars + chars_per_token) // (2 * chars_per_token)


def rounded_for_file(chars: int, extension: str) -> int:
    """The same, with half as many characters a token for JSON, known by its extension."""
    dense = extension.lower().lstrip(".") in DENSE_EXTENSIONS
    return rounded(chars, DENSE_CHARS_PER_TOKEN if dense else CHARS_PER_TOKEN)


def image_tokens(width: int, height: int) -> int:
    """What the API itself charges for an image, rounded half up; 5,333 at most."""
    longest = max(width, height, 1)
    # Whole numbers throughout: a float would round a large area differently on some machines.
    shrunk = min(longest, IMAGE_SIDE_PIXELS)
    area, unit = width * height * shrunk**2, IMAGE_PIXELS_PER_TOKEN * longest**2
    return (2 * area + unit) // (2 * unit)


def median_of_three(text: str) -> int:
    """The median of what characters, words and lines suggest, a tenth more for code."""
    if not text:
        return 0
    by_chars = math.ceil(len(text) / MEDIAN_CHARS_PER_TOKEN)
    median = sorted((by_chars, _by_words(text, by_chars), _by_lines(text)))[1]
    is_code = sum(map(text.count, CODE_SIGNS)) > len(text) // CODE_SHARE
    return max(math.ceil(median * CODE_MULTIPLIER) if is_code else median, 1)


def _by_words(text: str, by_chars: int) -> int:
    words = len(text.split())
    if not words:
        return by_chars
    extra = max(len(text) // words - LONG_WORD_CHARS, 0) // LONG_WORD_STEP
    return words + words * extra // LONG_WORD_SCALE


def _by_lines(text: str) -> int:
    lines = text.removesuffix("\n").split("\n")
    filled = sum(1 for line in lines if line.strip())
    return filled * TOKENS_PER_LINE + len(lines) - filled


class RoundedMeter:
    """Counts four characters as a token, or two, rounded half up."""

    unit: Unit = "tokens"

    def __init__(self, chars_per_token: int = CHARS_PER_TOKEN) -> None:
        self.chars_per_token = chars_per_token
        self.name = f"chars/{chars_per_token} rounded"

    def count(self, text: str) -> int:
        """The tokens by this rule."""
        return rounded(len(text), self.chars_per_token)

    def estimate(self, data: bytes) -> int:
        """The same, of UTF-8 `data`."""
        return rounded(chars_in(data), self.chars_per_token)


class MedianMeter:
    """Counts by the median of characters, words and lines."""

    unit: Unit = "tokens"
    name = "median of three"

    def count(self, text: str) -> int:
        """The tokens by this rule."""
        return median_of_three(text)

    def estimate(self, data: bytes) -> int:
        """The same, of UTF-8 `data`."""
        return median_of_three(data.decode("utf-8", "backslashreplace"))
