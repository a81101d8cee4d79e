"""Cuts inside a text: never in a code point, nor in a grapheme that fits the room."""

from __future__ import annotations

from collections.abc import Callable

from headgate.types import Meter

GRAPHEME_CHARS = 4_096
"""How far back a grapheme's start is looked for; nobody writes a longer one to be read."""

WORST_CHARS_PER_UNIT = 64
"""A run of spaces is one token; more characters than this per unit are never looked at."""

CLOSE_ENOUGH = 50
"""The search for a cut stops within a fiftieth of its length."""


def prefix(text: str, limit: int, meter: Meter) -> str:
    """The longest start of `text` that measures at most `limit`, to within two per cent."""
    window = text[: max(limit, 1) * WORST_CHARS_PER_UNIT]
    longest = _longest(len(window), lambda end: meter.count(window[:end]), limit)
    end = grapheme_before(text, longest)
    # A shorter text may be more tokens: what was moved to a boundary is measured again.
    while end and end != longest and meter.count(text[:end]) > limit:
        end = grapheme_before(text, end - 1)
    return text[:end]


def suffix(text: str, limit: int, meter: Meter) -> str:
    """The longest end of `text` that measures at most `limit`, to within two per cent."""
    window = text[-max(limit, 1) * WORST_CHARS_PER_UNIT :]
    longest = _longest(len(window), lambda size: meter.count(window[len(window) - size :]), limit)
    cut = len(text) - longest
    start = grapheme_after(text, cut)
    while start < len(text) and start != cut and meter.count(text[start:]) > limit:
        start = grapheme_after(text, start + 1)
    return text[start:]


def _longest(available: int, size_of: Callable[[int], int], limit: int) -> int:
    """The largest length up to `available` whose size is at most `limit`: a guess, then halving."""
    if limit <= 0 or available == 0:
        return 0
    if available <= limit * 8 and size_of(available) <= limit:
        return available
    fits, too_long = 0, available + 1
    guess = min(available, limit * 3)
    while too_long - fits > 1 + fits // CLOSE_ENOUGH:
        size = size_of(guess)
        if size <= limit:
            fits = guess
        else:
            too_long = guess
        # Sizes grow almost evenly with length: aim by proportion, but always inside the bracket.
        aimed = guess * limit // max(size, 1)
        guess = min(max(aimed, fits + 1), too_long - 1)
        if guess - fits < (too_long - fits) // 8 or too_long - guess < (too_long - fits) // 8:
            guess = (fits + too_long) // 2
    return fits


def grapheme_before(text: str, end: int) -> int:
    """The last grapheme boundary at or before `end`; `end` where the grapheme is endless."""
    if end <= 0 or end >= len(text) or _plain(text, end):
        return max(0, min(end, len(text)))
    return max((at for at in _boundaries(text, end) if at <= end), default=end)


def grapheme_after(text: str, start: int) -> int:
    """The first grapheme boundary at or after `start`."""
    if start <= 0 or start >= len(text) or _plain(text, start):
        return max(0, min(start, len(text)))
    return min((at for at in _boundaries(text, start) if at >= start), default=start)


def _plain(text: str, at: int) -> bool:
    """Whether a boundary is certain: between two ASCII characters that are no line end pair."""
    return text[at - 1].isascii() and text[at].isascii() and text[at - 1 : at + 1] != "\r\n"


def _boundaries(text: str, around: int) -> list[int]:
    """The grapheme boundaries near a place; none where a grapheme has no end in sight."""
    import regex  # lazily: most cuts fall between ASCII characters

    certain = range(around - 1, max(around - GRAPHEME_CHARS, 0), -1)
    start = next((at for at in certain if _plain(text, at)), max(around - GRAPHEME_CHARS, 0))
    # Where nothing is certain the first grapheme may have begun before, but its end is an end.
    boundaries = [start] if around - start < GRAPHEME_CHARS else []
    for match in regex.finditer(r"\X", text[start : around + GRAPHEME_CHARS]):
        boundaries.append(start + match.end())
        if boundaries[-1] >= around:
            break
    return boundaries
