"""Cuts inside JSON strings, in the form they are written in: never in an escape or a grapheme."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right

import msgspec

from headgate.measure.lengths import chars_in
from headgate.shape.cut import grapheme_after, grapheme_before

WINDOW_BYTES = 1_024
"""How much of a string on each side of a cut is read to find the boundary near it."""

LONGEST_ESCAPE_BYTES = 12
"""A pair of surrogates: `\\ud83d\\ude00`."""

BACKSLASH = ord("\\")

CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]|[^\\]",
    re.DOTALL,
)
"""One character of the string, however it is written."""

ESCAPED = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)", re.DOTALL)


def quoted(text: str) -> bytes:
    """`text` as a JSON string; half a pair of surrogates, as a key may have it, as its escape."""
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:
        return json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace")


def chars_written(content: bytes) -> int:
    """How many characters the inside of a JSON string stands for."""
    if b"\\" not in content:
        return chars_in(content)
    escapes = ESCAPED.findall(content)
    return chars_in(content) - sum(map(len, escapes)) + len(escapes)


def head_of(content: bytes, most_bytes: int) -> bytes:
    """The longest start of a string's inside that is at most `most_bytes` long."""
    if len(content) <= most_bytes:
        return content
    if most_bytes <= 0:
        return b""
    if _is_plain(content[max(most_bytes - LONGEST_ESCAPE_BYTES, 0) : most_bytes + 2]):
        return content[: _before_escape(content, most_bytes)]
    starts, characters = _around(content, most_bytes)
    last = bisect_right(starts, most_bytes) - 1
    return content[: starts[grapheme_before(characters, last)]]


def _is_plain(around: bytes) -> bool:
    """Whether between these bytes there can be no escape but a short one, and no grapheme of
    several but a line end."""
    return around.isascii() and b"\\u" not in around


def _before_escape(content: bytes, at: int) -> int:
    """The last place up to `at` that is not inside a short escape, nor in an escaped CR LF."""
    start = content[:at]
    # Of backslashes in a row every second one is a character.
    inside = (len(start) - len(start.rstrip(b"\\"))) % 2
    at -= inside
    after_cr = content[at - 2 : at] == b"\\r" and content[at : at + 2] == b"\\n"
    is_escape = (at - 1 - len(content[: at - 1].rstrip(b"\\"))) % 2
    return at - 2 if after_cr and is_escape else at


def tail_of(content: bytes, most_bytes: int) -> bytes:
    """The longest end of a string's inside that is at most `most_bytes` long."""
    if len(content) <= most_bytes:
        return content
    if most_bytes <= 0:
        return b""
    starts, characters = _around(content, len(content) - most_bytes)
    first = bisect_left(starts, len(content) - most_bytes)
    return content[starts[grapheme_after(characters, first)] :]


def _around(content: bytes, at: int) -> tuple[list[int], str]:
    """The characters around a place, and where each begins and the last one ends."""
    start = max(at - WINDOW_BYTES, 0)
    # Not after a backslash, which might be half of an escape, nor inside a code point.
    while start > 0 and (content[start - 1] == BACKSLASH or content[start] & 0xC0 == 0x80):
        start -= 1
    window = content[start : at + WINDOW_BYTES].decode(errors="ignore")
    starts, written = [start], CHARACTER.findall(window)
    for character in written:
        starts.append(starts[-1] + len(character.encode()))
    return starts, json.loads('"' + "".join(written) + '"', strict=False)
