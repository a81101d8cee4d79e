"""How long a text is in characters and bytes, found without turning one into the other."""

from __future__ import annotations

BLOCK = 1 << 20
"""Large texts are turned from text to bytes, or back, this much at a time."""

CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""


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
