"""Shape what is not text: say what it is, and show its first bytes."""

from __future__ import annotations

from headgate.marker import Ask, Marker
from headgate.shape.shaper import Room, Shaped, Source
from headgate.types import Query

MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "XZ data"),
    (b"\x7fELF", "ELF program"),
    (b"MZ", "Windows program"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"RIFF", "RIFF media"),
    (b"OggS", "Ogg media"),
    (b"\x00asm", "WebAssembly module"),
)

ROW_BYTES = 16
ROWS = 8
NEXT_BYTES = 4_096
"""What the marker proposes to read next."""


def shape_binary(source: Source, room: Room, query: Query, marker: Marker) -> Shaped:
    """Name the format and show a few rows of bytes, as many as fit."""
    return describe(source.data, len(source.data), room, marker)


def describe(head: bytes, length: int, room: Room, marker: Marker) -> Shaped:
    """Describe `length` bytes that begin with `head`."""
    what = next((name for magic, name in MAGIC if head.startswith(magic)), "unknown format")
    for rows in range(ROWS, -1, -1):
        text = _described(head[: rows * ROW_BYTES], length, what, marker)
        if room.fits(text):
            return Shaped(text, f"binary, {what}, its first {rows * ROW_BYTES} bytes")
    return Shaped(marker.short(length, length, "bytes"), f"binary, {what}")


def _described(shown: bytes, length: int, what: str, marker: Marker) -> str:
    left = length - len(shown)
    ask = Ask("bytes", f"{len(shown)}-{min(length, len(shown) + NEXT_BYTES)}")
    lines = [f"Binary data, {length:,} bytes, {what}."]
    if left:
        lines.append(marker.long(left, length, "bytes", left, ask))
    lines += [_row(shown, at) for at in range(0, len(shown), ROW_BYTES)]
    return "\n".join(lines)


def _row(data: bytes, at: int) -> str:
    row = data[at : at + ROW_BYTES]
    letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
    return f"{at:08x}  {row.hex(' '):<{ROW_BYTES * 3}} {letters}"
