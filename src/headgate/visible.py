"""Characters a reader cannot see, shown as escapes; and text that imitates a marker, defused.

Text comes in pieces and may hold surrogates U+DC80..U+DCFF for bytes that are no UTF-8; they become
`\\xNN`. What may stand in JSON becomes an escape of JSON, so JSON stays JSON. What comes out does
not depend on how it was cut.
"""

from __future__ import annotations

import re
import unicodedata

from headgate.scan import Scanner

HASHES = "#\uff03\ufe5f\u266f\u2317\u22d5"
"""The sign that opens a tag, and what looks like it."""

CLOSERS = (
    "]\uff3d\u3011\u3015\u3017\u3019\u301b\u2046\u2309\u230b\u23a4\u23a5\u23a6\u2773\u27e7"
    "\u298c\u298e\u2990\ufe48\ufe5e"
)
"""The bracket that closes a marker, and what looks like it."""

LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u043a"
    "\u03b1\u03bf\u03bd\u03b9\u03ba\u03c1\u03c5\u03c7\u0131\u0251\u0261",
    "aeopcyxijsdhqwk" + "aovikpuxiag",
)
"""Cyrillic, Greek and Latin letters that look like one of a tag's and do not decompose to it."""

UNSEEN = frozenset(["Mn", "Me", "Mc", "Cf", "Zs"])
"""Categories that leave a tag looking like a tag: marks, joiners, odd spaces."""

SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""One may choose a glyph for the character before it; more in a row can only carry hidden bytes."""

_SELECTOR_RUN = re.compile(f"([{SELECTORS}])([{SELECTORS}]+)")
_LAST_SELECTOR = re.compile(f"[{SELECTORS}]\\Z")
_TAG_PART = f"[^\x00-18-`{{-\x7f{HASHES}{re.escape(CLOSERS)}]"
_CLOSING_TAG = re.compile(f"[{HASHES}]({_TAG_PART}+)([{re.escape(CLOSERS)}])")
_CLOSING_ASCII_TAG = re.compile("(#[a-z2-7]{4})]")
_OPEN_TAG = re.compile(f"[{HASHES}]({_TAG_PART}*)\\Z")


BYTES = (0xDC80, 0xDCFF)
"""Surrogates that stand for bytes which are no UTF-8."""


class Escapes:
    """Shows every character of some ranges as an escape: `\\x07`, `\\u202e`, `\\udb40\\udc41`."""

    def __init__(self, *ranges: tuple[int, int]) -> None:
        codes = [code for first, last in ranges for code in range(first, last + 1)]
        self._table = {code: escape(chr(code)) for code in codes}
        self._run = re.compile("[{}]+".format("".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)))

    def __call__(self, text: str) -> str:
        """The text with its escapes; where runs are dense a table is faster than a search."""
        if len(self._run.findall(text, 0, 2048)) > 256:
            return text.translate(self._table)
        return self._run.sub(lambda found: found[0].translate(self._table), text)


def escape(char: str) -> str:
    """The escape for a character; for a surrogate that stands for a byte, the byte's."""
    code = ord(char)
    if code < 0x20:
        return char.encode("unicode_escape").decode()
    if BYTES[0] <= code <= BYTES[1]:
        return f"\\x{code & 0xFF:02x}"
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


show_bytes = Escapes(BYTES)
show_hidden = Escapes(
    *[(0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F)],  # controls but for tab and line end
    *[(0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E)],  # direction of writing
    # No width; but not the joiners U+200C and U+200D, which scripts and emoji need.
    *[(0x180E, 0x180E), (0x200B, 0x200B), (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)],
    (0xE0000, 0xE007F),  # tags: ASCII in disguise
    BYTES,
)

_HASH_BYTES = b"(?:" + "|".join(HASHES[1:]).encode() + b")"
_CLOSER_BYTES = b"(?:" + "|".join(CLOSERS[1:]).encode() + b")"
_PART_BYTES = rb"[a-z2-7\x80-\xff]"

DIRTY = Scanner(
    [
        rb"[\x00-\x08\x0b-\x1f\x7f]",
        rb"\xc2[\x80-\x9f]",
        rb"\xd8\x9c",
        rb"\xe1\xa0\x8e",
        rb"\xe2\x80[\x8b\x8e\x8f\xaa-\xae]",
        rb"\xe2\x81[\xa0-\xaf]",
        rb"\xed[\xa0-\xbf]",
        rb"\xef\xbb\xbf",
        rb"\xef\xbf[\xb9-\xbb]",
        rb"\xf3\xa0[\x80\x81]",
        rb"(?:\xef\xb8[\x80-\x8f]|\xf3\xa0[\x84-\x87][\x80-\xbf]){2}",
        rb"#[a-z2-7]{4}\]",
        rb"#[a-z2-7]{0,4}[\x80-\xff]%b*\]" % _PART_BYTES,
        rb"#%b+%b" % (_PART_BYTES, _CLOSER_BYTES),
        rb"%b%b+(?:\]|%b)" % (_HASH_BYTES, _PART_BYTES, _CLOSER_BYTES),
    ]
)
"""In bytes, all that may have to change here; a hit too many costs time only."""


class Visible:
    """Takes text piece by piece, and gives the UTF-8 of what a reader can see."""

    def __init__(self) -> None:
        self._before = ""
        """What the next piece must be seen with: an open tag, a selector."""

    def feed(self, text: str) -> bytes:
        """The piece with everything hidden shown and every imitation defused."""
        data = text.encode("utf-8", "surrogatepass")
        if not self._before and DIRTY.first(data) is None:
            self._before = _context(text, text)
            return data
        whole = self._before + text
        shown = defused(without_selector_runs(show_hidden(whole)))
        seen = len(self._before)
        self._before = _context(whole, shown)
        return shown[seen:].encode()


def without_selector_runs(text: str) -> str:
    """Show all but the first of variation selectors in a row."""
    if text.isascii():
        return text
    return _SELECTOR_RUN.sub(lambda found: found[1] + "".join(map(escape, found[2])), text)


def defused(text: str) -> str:
    """Show each bracket that closes with a tag as its escape, so that it is no marker."""
    if text.isascii():
        return _CLOSING_ASCII_TAG.sub(r"\1\\u005d", text)
    return _CLOSING_TAG.sub(_defused, text)


def _defused(found: re.Match[str]) -> str:
    if not _is_tag(folded(found[1])):
        return found[0]
    return found[0][:-1] + escape(found[2])


def folded(text: str) -> str:
    """The plain letters that a reader takes these characters for."""
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFKD", text).lower().translate(LOOKALIKES)
    return "".join(char for char in letters if unicodedata.category(char) not in UNSEEN)


def _is_tag(letters: str) -> bool:
    return re.fullmatch("[a-z2-7]{4}", letters) is not None


def _context(text: str, shown: str) -> str:
    if text[-1:] in ("", "\n"):
        return ""
    selector = _LAST_SELECTOR.search(text, len(text) - 1)
    tag = _OPEN_TAG.search(shown, max(*map(shown.rfind, HASHES), 0))
    letters = folded(tag[1]) if tag else "-"
    open_tag = f"#{letters}" if re.fullmatch("[a-z2-7]{0,4}", letters) else ""
    return open_tag + (selector[0] if selector else "")
