"""Read an HTML page as blocks of text, in one pass, and tell its main text from what surrounds it.

Not a browser's parser: tags that are not closed or nested as they should be cost quality, never
time. Every part of the page is looked at once.
"""

from __future__ import annotations

import html
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from headgate.shape.elements import (
    AROUND,
    AROUND_NAME,
    CELLS,
    ENDED_BY,
    HEADINGS,
    HIDDEN,
    INLINE,
    MAIN_NAME,
    PREFIXES,
    RAW,
    RAW_ENDS,
    VOID,
)

NAMED = re.compile(rb"(?i)\s(?:class|id|role)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
HREF = re.compile(rb"(?i)\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
UNSEEN = re.compile(
    rb"(?i)\s(?:hidden\b|aria-hidden\s*=\s*[\"']?true|style\s*=\s*[\"'][^\"']*display:\s*none)"
)
SPACES = re.compile(r"[ \t\r\f\n\xa0\u200b]+")

SEARCHED_BACK = 24
"""How many open elements an end tag may close at once; a page that needs more is broken."""

ATTRIBUTE_BYTES = 600
"""How much of a tag is read for its names: they stand early."""

MOST_PARTS = 4_500
LOOKED_AT = 256
"""A page of so many tags is longer than most; from then on it is asked from time to time whether
enough of it was read."""

TOO_MANY_PARTS = 2 * MOST_PARTS
"""With so many tags and hardly any text it is not read on, either."""

BLOCK_CHARS = 8
"""What a block counts beside its text: the shortest ones take more room than they are long."""

PROSE_WORDS = 12
"""A block of so many words is a sentence, not a label."""

LINKED_SHARE = 0.5
"""A block of which more is links than this is a way to somewhere else."""

LARGEST_AROUND = 0.3
"""What holds more of the sentences than this is no mere surrounding, whatever its name."""

MOST_OF_IT = 0.75
MOST_OF_ALL = 0.7
"""An element is looked into that holds this share of the sentences of the one around it, and this
share of all: else a step from element to element could leave half of an article behind."""


@dataclass(frozen=True, slots=True)
class Link:
    """Where a text leads."""

    text: str
    address: str


@dataclass(slots=True)
class Block:
    """A paragraph, a heading, an item, a row: what a reader sees as one piece."""

    text: str
    first: int
    last: int
    """Where its source stands: the places of its first and last byte."""
    linked: float
    """The share of its text that is links."""
    heading: bool
    links: list[Link] = field(default_factory=list)
    main: bool = True

    @property
    def sentence_chars(self) -> int:
        """How long it is, if it is text in sentences and not a label or a list of links."""
        text = self.text
        if self.linked >= LINKED_SHARE or len(text) < PROSE_WORDS:
            return 0
        # Some scripts write no spaces; three of their characters are about a word.
        others = 0 if text.isascii() else (len(text.encode()) - len(text)) // 6
        return len(text) if text.count(" ") + others >= PROSE_WORDS else 0


class _Element(NamedTuple):
    """An open element, and how many blocks stood before it."""

    name: bytes
    around: bool
    hidden: bool
    first: int


class _Reader:
    """Takes tags and texts in order, gives blocks."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.open: list[_Element] = []
        self.spans: list[tuple[int, int, bool]] = []
        """Elements that were closed: first block, block after the last, whether it is around."""
        self.counts: defaultdict[bytes, int] = defaultdict(int)
        self.title = ""
        self.texts: list[str] = []
        self.linked_chars = 0
        self.links: list[Link] = []
        self.link: tuple[str, int] | None = None
        self.prefix = ""
        self.heading = False
        self.pre = 0
        self.first = 0
        self.hidden = 0
        self.told: dict[bytes, tuple[bool, bool]] = {}
        """What attributes say that were met before: pages write the same ones many times."""
        self.at_title = False
        self.is_filled = False
        """Whether there is more than space since the last block."""
        self.chars = 0
        """About what all blocks would take."""

    def text(self, raw: bytes, at: int) -> None:
        """Take the text between two tags."""
        if self.hidden or not raw:
            return
        text = raw.decode(errors="replace")
        if "&" in text:
            text = html.unescape(text)
        if self.at_title:
            self.title += text
            return
        if not self.pre:
            if not (text.isascii() and text.isprintable()) or "  " in text:
                text = SPACES.sub(" ", text)
            if text == " " and (not self.texts or self.texts[-1].endswith((" ", "\n"))):
                return
        elif "\n\n" in text:
            # What is set as it was written has paragraphs, too.
            for paragraph in raw.split(b"\n\n")[:-1]:
                self._take(html.unescape(paragraph.decode(errors="replace")), at)
                at += len(paragraph) + 2
                self.end_block(at)
            text = html.unescape(raw.rpartition(b"\n\n")[2].decode(errors="replace"))
        self._take(text, at)

    def _take(self, text: str, at: int) -> None:
        if not self.texts:
            self.first = at
        self.texts.append(text)
        self.chars += len(text)
        self.is_filled = self.is_filled or not text.isspace()
        if self.link is not None:
            self.linked_chars += len(text.strip())

    def start(self, name: bytes, attributes: bytes, at: int) -> None:
        """Take a start tag."""
        if name == b"title" and not self.blocks:
            self.at_title = True
            return
        if name in INLINE:
            if name == b"a":
                self._begin_link(attributes)
            elif name == b"br":
                self.texts.append("\n")
            return
        if name == b"option":
            return
        if name not in CELLS:
            self.end_block(at)
        elif self.is_filled:
            self.texts.append(" | ")
        if name in PREFIXES:
            self.prefix, self.heading = PREFIXES[name], name in HEADINGS
        while self.open and self.open[-1].name in ENDED_BY.get(name, ()):
            self._leave()
        if name not in VOID:
            self._enter(name, attributes)

    def _begin_link(self, attributes: bytes) -> None:
        found = HREF.search(attributes)
        address = next(filter(None, found.groups()), b"") if found else b""
        self.link = (html.unescape(address.decode(errors="replace")), len(self.texts))

    def _enter(self, name: bytes, attributes: bytes) -> None:
        told = self.told.get(attributes)
        if told is None:
            told = self.told[attributes] = _told(attributes)
        around = name in AROUND or told[0]
        hidden = name in HIDDEN or told[1]
        self.open.append(_Element(name, around, hidden, len(self.blocks)))
        self.counts[name] += 1
        self.hidden += hidden
        self.pre += name == b"pre"

    def end(self, name: bytes, at: int) -> None:
        """Take an end tag."""
        if name == b"title":
            self.at_title = False
            return
        if name in INLINE:
            if name == b"a":
                self._end_link()
            return
        if name not in CELLS:
            self.end_block(at)
        if not self.counts[name]:
            return
        for back in range(1, min(SEARCHED_BACK, len(self.open)) + 1):
            if self.open[-back].name == name:
                for _ in range(back):
                    self._leave()
                return

    def _end_link(self) -> None:
        if self.link is None:
            return
        address, start = self.link
        self.link = None
        text = SPACES.sub(" ", "".join(self.texts[start:])).strip()
        if text and address and not address.startswith(("#", "javascript:", "data:")):
            self.links.append(Link(text, address))

    def _leave(self) -> None:
        left = self.open.pop()
        self.counts[left.name] -= 1
        self.hidden -= left.hidden
        self.pre -= left.name == b"pre"
        if left.first < len(self.blocks):
            self.spans.append((left.first, len(self.blocks), left.around))

    def end_block(self, at: int) -> None:
        """What was read since the last block is one."""
        if not self.texts:
            self.prefix, self.heading = "", False
            return
        text = "".join(self.texts)
        text = text.strip("\n") if self.pre else _lines(text)
        if text.strip(" |\n"):
            linked = min(self.linked_chars / len(text), 1.0)
            first, last = self.first, max(at - 1, self.first)
            block = Block(self.prefix + text, first, last, linked, self.heading, self.links)
            self.blocks.append(block)
            self.chars += BLOCK_CHARS
        self.texts, self.links, self.linked_chars = [], [], 0
        self.prefix, self.heading, self.is_filled = "", False, False

    def close(self, at: int) -> None:
        """The page ends."""
        self.end_block(at)
        while self.open:
            self._leave()
        _mark_main(self.blocks, self.spans)


def _told(attributes: bytes) -> tuple[bool, bool]:
    """Whether attributes say that an element stands around the text, and that it is not seen."""
    if b"=" not in attributes and b"hidden" not in attributes:
        return False, False
    found = b" ".join(b"".join(names) for names in NAMED.findall(attributes)).lower()
    found = found.replace(b"_", b"-")
    around = AROUND_NAME.search(found) is not None and MAIN_NAME.search(found) is None
    return around, UNSEEN.search(attributes) is not None


def _mark_main(blocks: list[Block], spans: list[tuple[int, int, bool]]) -> None:
    """Leave out what stands around, then go into the element that holds most of the rest."""
    chars = [block.sentence_chars for block in blocks]
    sums = [0, *accumulate(chars)]
    depths = [0] * (len(blocks) + 1)
    for first, after, around in spans:
        # Some pages wrap all they have in a form, or in what is called a menu.
        if around and sums[after] - sums[first] < LARGEST_AROUND * sums[-1]:
            depths[first] += 1
            depths[after] -= 1
    for i, depth in enumerate(accumulate(depths[:-1])):
        if depth:
            blocks[i].main, chars[i] = False, 0
    sums = [0, *accumulate(chars)]
    start, stop = 0, len(blocks)
    for first, after, _ in sorted(spans, key=lambda span: span[0] - span[1]):
        if start <= first and after <= stop and after - first < stop - start:
            inside = sums[after] - sums[first]
            most = max(MOST_OF_IT * (sums[stop] - sums[start]), MOST_OF_ALL * sums[-1])
            if inside >= most and inside > 0:
                start, stop = first, after
    for block in (*blocks[:start], *blocks[stop:]):
        block.main = False


def _lines(text: str) -> str:
    """Text between block tags: `br` ends a line, other space is one space."""
    if "\n" not in text:
        return text.strip()
    return "\n".join(filter(None, (line.strip() for line in text.split("\n"))))


@dataclass(frozen=True, slots=True)
class Webpage:
    """The blocks of a page in order."""

    title: str
    blocks: list[Block]
    stop: int
    """How far it was read, in bytes."""


def read_page(data: bytes, enough_chars: int | None = None) -> Webpage:
    """Read a page; linear in its size, whatever it holds.

    A page of very many tags is read only until `enough_chars` of text are found, if they are given.
    """
    reader = _Reader()
    names: dict[bytes, bytes] = {}
    parts = data.split(b"<")
    reader.text(parts[0], 0)
    at, i = len(parts[0]), 1
    while i < len(parts):
        part, start = parts[i], at
        at += 1 + len(part)
        i += 1
        if i % LOOKED_AT == 0 and _is_enough(reader.chars, i, enough_chars):
            at = start
            break
        tag, closed, text = part.partition(b">")
        name = names.get(tag) if closed else None
        if name is None:
            if part.startswith(b"!--"):
                text, i, at = _past(data, i, at, data.find(b"-->", start))
                reader.text(text, at - len(text))
                continue
            if not closed or not (tag[:1].isalpha() or tag[:1] in b"/!?"):
                reader.text(b"<" + part, start)
                continue
            while tag.count(b'"') % 2 and b">" in text:
                # A quoted value may hold the sign that ends a tag.
                more, _, text = text.partition(b">")
                tag += b">" + more
            name = _name(tag)
            if not tag.count(b'"') % 2:
                names[tag] = name
        if tag[:1] == b"/":
            reader.end(name, start)
        elif name in RAW:
            if not tag.endswith(b"/"):
                ended = RAW_ENDS[name].search(data, at)
                text, i, at = _past(data, i, at, ended.start() if ended else -1)
        elif name:
            reader.start(name, tag[len(name) : ATTRIBUTE_BYTES], start)
        if text:
            reader.text(text, at - len(text))
    reader.close(at)
    return Webpage(SPACES.sub(" ", reader.title).strip(), reader.blocks, at)


def _is_enough(chars: int, parts: int, enough_chars: int | None) -> bool:
    if enough_chars is None or parts <= MOST_PARTS:
        return False
    return chars >= enough_chars or parts > TOO_MANY_PARTS


def _name(tag: bytes) -> bytes:
    words = tag[:32].lstrip(b"/").split(None, 1)
    return words[0].rstrip(b"/").lower() if words and words[0][:1].isalpha() else b""


def _past(data: bytes, i: int, at: int, end: int) -> tuple[bytes, int, int]:
    """The text after the tag or comment that ends from `end` on, the next part, and its place.

    Part `i` begins at `at`; what never ends goes up to the end of the page.
    """
    stop = data.find(b">", end) if end >= 0 else -1
    if stop < 0:
        return b"", sys.maxsize, len(data)
    following = data.find(b"<", stop)
    following = len(data) if following < 0 else following
    return data[stop + 1 : following], i + data.count(b"<", at, following), following
