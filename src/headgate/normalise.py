"""Make a result readable, once, at birth: any bytes in, valid UTF-8 without raw controls out.

Clean text is recognised in one scan and comes back as the same object. The original is kept by
others; the number of line ends never changes, so that its line numbers hold. Normalising again
changes nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from headgate.terminal import Terminal
from headgate.visible import DIRTY, Visible, show_bytes

BLOCK_BYTES = 256 * 1024
"""Dirty text is worked on in blocks of this size at most; clean blocks between them pass as is."""

HEAD_BYTES = 64 * 1024
"""What a text is shows in its first bytes, and in these at the latest."""

TEXT_BYTES = bytes(set(range(0x20, 0x100)) - {0x7F} | set(b"\t\n\r\f\b\a\x1b"))

UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

_SURROGATE = re.compile("\udced([\udca0-\udcbf])([\udc80-\udcbf])")
_SURROGATE_BEGUN = re.compile("\udced[\udca0-\udcbf]?\\Z")


def normalise(data: bytes) -> bytes:
    """What a reader sees of `data`; the same object if that is all of it."""
    if is_clean(data):
        return data
    normaliser = Normaliser()
    shown = normaliser.feed(data) + normaliser.close()
    return data if shown == data else shown


def only_unicode(data: bytes) -> bytes:
    """Make `data` valid UTF-8 and change nothing else: its reader will edit by the exact text."""
    if is_utf8(data):
        return data
    validator = Validator()
    return validator.feed(data) + validator.close()


def is_clean(data: bytes) -> bool:
    """Whether normalising has nothing to do."""
    return DIRTY.first(data) is None and is_utf8(data)


def is_utf8(data: bytes) -> bool:
    """Whether all of `data` is UTF-8, found without a copy of the whole."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in _blocks(data):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def is_binary(data: bytes) -> bool:
    """Whether these bytes are no text in any encoding: too many controls at their start."""
    head = data[:HEAD_BYTES]
    if head[:2] in UTF_16:
        return False
    controls = len(head.translate(None, TEXT_BYTES))
    zeros = head.count(b"\0")
    # Names separated by NUL are text; one in ten is more than any name is short.
    return (controls - zeros) * 50 > len(head) or zeros * 10 > len(head)


class Normaliser:
    """Normalises a result that arrives in chunks, in bounded memory even if a line never ends.

    The bytes that come out do not depend on how the input was cut.
    """

    def __init__(self) -> None:
        self._arrival = _Arrival()
        self._line: list[bytes] = []
        """A line that has not ended, not looked at so far."""
        self._line_bytes = 0
        self._reader: _Reader | None = None
        """Set while a line longer than a block is under way."""

    def feed(self, chunk: bytes) -> bytes:
        """What is settled with this chunk; the last line may wait for its end."""
        return self._take(self._arrival.feed(chunk))

    def close(self) -> bytes:
        """What was waiting."""
        settled = self._take(self._arrival.close())
        line = b"".join(self._line)
        if self._reader is None and is_clean(line):
            return settled + line
        reader = self._reader or _Reader()
        return settled + reader.feed(line) + reader.close()

    def _take(self, data: bytes) -> bytes:
        self._line.append(data)
        self._line_bytes += len(data)
        if b"\n" not in data and self._line_bytes < BLOCK_BYTES:
            return b""
        waiting = b"".join(self._line)
        settled: list[bytes] = []
        at = 0
        while (cut := _block_end(waiting, at)) > at:
            settled.append(self._settle(waiting[at:cut]))
            at = cut
        self._line, self._line_bytes = [waiting[at:]], len(waiting) - at
        return b"".join(settled)

    def _settle(self, block: bytes) -> bytes:
        ends = block.endswith(b"\n")
        if ends and self._reader is None and is_clean(block):
            return block
        reader = self._reader or _Reader()
        self._reader = None if ends else reader
        return reader.feed(block)


class Validator:
    """Makes valid what arrives in chunks, as `only_unicode` does; a mark of UTF-8 stays."""

    def __init__(self) -> None:
        self._head: bytes | None = b""
        self._utf16: _Arrival | None = None
        self._utf8 = _Utf8()

    def feed(self, chunk: bytes) -> bytes:
        """What is settled with this chunk."""
        if self._head is not None:
            chunk = self._head + chunk
            self._head = chunk if len(chunk) < 2 else None
            if self._head is not None:
                return b""
            self._utf16 = _Arrival() if chunk[:2] in UTF_16 else None
        data = self._utf16.feed(chunk) if self._utf16 else chunk
        return b"".join([show_bytes(self._utf8.feed(block)).encode() for block in _blocks(data)])

    def close(self) -> bytes:
        """What was waiting."""
        waiting = self._utf16.close() if self._utf16 else self._head or b""
        return show_bytes(self._utf8.feed(waiting) + self._utf8.close()).encode()


class _Reader:
    """Reads dirty text: bytes to characters, to what a terminal leaves, to what is visible."""

    def __init__(self) -> None:
        self._utf8 = _Utf8()
        self._terminal = Terminal()
        self._visible = Visible()

    def feed(self, data: bytes) -> bytes:
        return self._visible.feed(self._terminal.feed(self._utf8.feed(data)))

    def close(self) -> bytes:
        last = self._terminal.feed(self._utf8.close()) + self._terminal.close()
        return self._visible.feed(last)


class _Utf8:
    """Decodes; a byte that is no UTF-8 comes as U+DC80 and up, a surrogate as its escape."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._begun = ""

    def feed(self, data: bytes) -> str:
        text = self._begun + self._decoder.decode(data)
        begun = _SURROGATE_BEGUN.search(text, max(len(text) - 2, 0))
        self._begun = begun[0] if begun else ""
        return _surrogates_shown(text[: len(text) - len(self._begun)])

    def close(self) -> str:
        text = self._begun + self._decoder.decode(b"", final=True)
        self._begun = ""
        return _surrogates_shown(text)


class _Arrival:
    """Takes the byte order mark off, and turns UTF-16 that has one into UTF-8."""

    def __init__(self) -> None:
        self._head: bytes | None = b""
        self._utf16: codecs.IncrementalDecoder | None = None
        self._odd = b""

    def feed(self, chunk: bytes) -> bytes:
        if self._head is None:
            return self._decode(chunk)
        self._head += chunk
        return self._begin(self._head) if len(self._head) >= len(codecs.BOM_UTF8) else b""

    def close(self) -> bytes:
        begun = self._begin(self._head) if self._head else b""
        if self._utf16 is None:
            return begun
        last = self._utf16.decode(b"", final=True).encode("utf-8", "surrogatepass")
        return begun + last + b"".join(b"\\x%02x" % byte for byte in self._odd)

    def _begin(self, head: bytes) -> bytes:
        self._head = None
        if head[:2] not in UTF_16:
            return head.removeprefix(codecs.BOM_UTF8)
        self._utf16 = codecs.getincrementaldecoder(UTF_16[head[:2]])("surrogatepass")
        return self._decode(head[2:])

    def _decode(self, data: bytes) -> bytes:
        if self._utf16 is None:
            return data
        data = self._odd + data
        even = len(data) // 2 * 2
        self._odd = data[even:]
        return self._utf16.decode(data[:even]).encode("utf-8", "surrogatepass")


def _surrogates_shown(text: str) -> str:
    if "\udced" not in text:
        return text
    return _SURROGATE.sub(
        lambda found: f"\\ud{ord(found[1]) - 0xDC80 << 6 | ord(found[2]) - 0xDC80:03x}", text
    )


def _blocks(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), BLOCK_BYTES):
        yield data[at : at + BLOCK_BYTES]


def _block_end(data: bytes, at: int) -> int:
    # At a line end, or inside a line that is too long for a block; where it began: not complete.
    line_end = data.rfind(b"\n", at, at + BLOCK_BYTES) + 1
    if line_end:
        return line_end
    return at + BLOCK_BYTES if len(data) - at >= BLOCK_BYTES else at
