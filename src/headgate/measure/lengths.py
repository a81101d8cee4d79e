"""How long a text is in characters, bytes and lines, found without turning one into the other."""

from __future__ import annotations

BLOCK = 1 << 20
"""Large texts are turned from text to bytes, or back, this much at a time."""

CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""

COUNTED_BYTES = 1024
"""In a text this short line ends are counted: anything else takes as long to begin."""

SAMPLE_BYTES = 256
DENSE = 16
"""Where line ends stand closer than this on average, counting them is faster than taking them out,
and slower where they do not."""


def chars_in(data: bytes) -> int:
    """The number of code points in UTF-8, found without decoding."""
    if data.isascii():
        return len(data)
    blocks = (data[at : at + BLOCK] for at in range(0, len(data), BLOCK))
    return sum(len(block.translate(None, CONTINUATION)) for block in blocks)


def bytes_in(text: str) -> int:
    """The length of a text in UTF-8, lone surrogates as their escapes."""
    if text.isascii():
        return len(text)
    blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))
    return sum(len(block.encode("utf-8", "backslashreplace")) for block in blocks)


def line_ends_in(data: bytes) -> int:
    """How many line ends a text has.

    `bytes.count` looks at byte after byte; taking them out goes from line end to line end in leaps,
    in a third of the time.
    """
    if len(data) > BLOCK:
        return sum(line_ends_in(data[at : at + BLOCK]) for at in range(0, len(data), BLOCK))
    is_dense = data.count(b"\n", 0, SAMPLE_BYTES) * DENSE > SAMPLE_BYTES
    if is_dense or len(data) <= COUNTED_BYTES:
        return data.count(b"\n")
    return len(data) - len(data.replace(b"\n", b""))
