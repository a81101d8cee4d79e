"""A bounded summary of a text of any size: its ends, and the lines between that stand out.

Built piece by piece, so a result of gigabytes and one of kilobytes are read by the same code, and
memory depends on the room, not on the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headgate.scan import Hit
from headgate.shape.signs import ENDINGS, SCANNER, weight
from headgate.types import Query

PIECE_BYTES = 1 << 20
"""A pass over a piece of this size is fast, and what it leaves behind is small."""

HITS_PER_PIECE = 4_000
"""A text that is all errors shows them in any part of it; more hits cost time and add nothing."""

FOUND_LINES = 1_500
"""Lines that stand out, kept for choosing: more than any room can show."""

CLIP_BYTES = 600
"""What is kept of one line that stands out, around the place that made it stand out."""

RARE_BYTES = 4 << 20
"""Up to this size lines are compared with each other, and one unlike all others stands out."""

BEFORE_BYTES = 800
AFTER_BYTES = 2_400
"""What is kept of the text around a line that stands out: what led to it, what belongs to it."""

BEFORE_END_BYTES = 8_000
"""What is kept before a line that says that a command failed: the last it printed."""

SHORTEST_LINE_BYTES = 6
"""Where lines are shorter than this on average, none says anything by itself."""

FEW = 8
PARTS = 8
"""In how many parts lines are looked at for forms that occur once."""

ENOUGH = 8
"""Lines of one form that are kept for choosing."""

FAMILY_BYTES = 9
FAMILY = 0.25
"""How lines are alike that begin with the same letters, and how fast they then lose weight: the
fiftieth `FAILED tests/…` says less than the first reason."""

OUTPUT_BELOW = re.compile(rb"\blines of output\b|\boutput \(\d+ lines\)")
NEXT_BYTES = 200
"""Where this stands so shortly after a bad end, what the command printed comes after it."""

RARE_SCORE = 2.0
QUERY_SCORE = 5.5

OF_ANY_RUN = frozenset(
    {
        *("break", "broken", "build", "cause", "command", "error", "errors", "fail", "failed"),
        *("failing", "fails", "failure", "failures", "happened", "issue", "issues", "log", "logs"),
        *("outcome", "output", "problem", "problems", "reason", "result", "results", "run", "runs"),
        *("stop", "stopped", "test", "tests", "wrong"),
    }
)
"""What is said in a question about any run: the signs know better which lines answer it."""

DIGITS = b"0123456789"
CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class Found:
    """A line that stands out, and what stands around it."""

    number: int
    data: bytes
    hidden_bytes: int
    """What of the line is not in `data`, where it was too long to keep."""
    score: float
    is_end: bool = False
    """Whether it says that a command ended badly."""
    before: bytes = b""
    after: bytes = b""
    skipped_bytes: int = 0
    """How much of what is hidden of the line stands before `data`."""
    place: int = 0
    """Where in `data` ends what made it stand out."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """All that shaping needs to know of a text."""

    head: bytes
    tail: bytes
    """Empty where `head` is the whole text."""
    lines: int
    chars: int
    open_chars: int
    """What the line that `head` ends in has beyond it."""
    found: dict[int, Found]


class Sketcher:
    """Reads a text in pieces that end at line ends (a longer line comes in parts)."""

    def __init__(self, end_bytes: int, query: Query) -> None:
        self.end_bytes = end_bytes
        words = {word.lower(): None for word in query.words if word}
        self.words = tuple(word.encode() for word in words if word not in OF_ANY_RUN)
        self.head = bytearray()
        self.tail = bytearray()
        self.length_bytes = 0
        self.line = 1
        self.chars = 0
        self.open_chars = 0
        self.open_ended = False
        self.found: dict[int, Found] = {}
        self.forms: Counter[bytes] = Counter()
        self.families: Counter[bytes] = Counter()
        self.asked: Counter[bytes] = Counter()

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        lines = self._note_signs(piece)
        if self.words:
            self._note_words(piece)
        room = self.end_bytes - len(self.head)
        if room > 0:
            self.head += piece[:room]
        rest = piece[room:] if room > 0 else piece
        self._measure_open_line(rest)
        if len(rest) >= self.end_bytes > 0:
            self.tail = bytearray(rest[-self.end_bytes :])
        else:
            self.tail += rest
        if len(self.tail) > 2 * self.end_bytes + PIECE_BYTES:
            del self.tail[: -self.end_bytes]
        self.length_bytes += len(piece)
        self.chars += char_count(piece)
        self.line += lines

    def close(self) -> Sketch:
        """The summary of everything fed."""
        whole = self.length_bytes <= 2 * self.end_bytes
        last = self.tail or self.head
        return Sketch(
            head=bytes(self.head + self.tail) if whole else bytes(self.head),
            tail=b"" if whole else bytes(self.tail[-self.end_bytes :]),
            lines=self.line - (not last or last.endswith(b"\n")),
            chars=self.chars,
            open_chars=self.open_chars,
            found=self.found,
        )

    def _measure_open_line(self, rest: bytes) -> None:
        if self.open_ended or not rest:
            return
        stop = rest.find(b"\n")
        self.open_chars += char_count(rest if stop < 0 else rest[:stop])
        self.open_ended = stop >= 0

    def _note_signs(self, piece: bytes) -> int:
        """Note the lines that hold a sign; gives how many lines end in the piece."""
        hits = SCANNER.hits(piece, HITS_PER_PIECE)
        number, counted, i = self.line, 0, 0
        while i < len(hits):
            at = hits[i][1]
            start = piece.rfind(b"\n", 0, at) + 1
            stop = piece.find(b"\n", at)
            stop = len(piece) if stop < 0 else stop
            number += piece.count(b"\n", counted, start)
            counted = start
            first = i
            while i < len(hits) and hits[i][1] <= stop:
                i += 1
            self._note_sign(piece, number, start, stop, hits[first:i])
        return number - self.line + piece.count(b"\n", counted)

    def _note_sign(
        self, piece: bytes, number: int, start: int, stop: int, hits: Sequence[Hit]
    ) -> None:
        at = hits[0][1]
        line = _around(piece, start, stop, at)
        times = _times(line, self.forms)
        if times <= ENOUGH or number in self.found:
            score = weight(piece, hits, line) / (times * self._family(line) ** FAMILY)
            is_end = not ENDINGS.isdisjoint(sign for sign, _ in hits)
            is_end = is_end and not OUTPUT_BELOW.search(piece, stop, stop + NEXT_BYTES)
            self._note(piece, number, start, stop, at, score, is_end)

    def _note_words(self, piece: bytes) -> None:
        lowered = piece.lower()
        lines = lowered.count(b"\n") + 2
        for word in self.words:
            hits = list(_ends_of(lowered, word, HITS_PER_PIECE))
            rarity = math.log(lines / min(max(len(hits), 1), lines)) / math.log(lines)
            score = QUERY_SCORE * rarity * rarity
            number, counted, stop = self.line, 0, -1
            for at in hits:
                if at <= stop:
                    continue
                start = lowered.rfind(b"\n", 0, at) + 1
                stop = lowered.find(b"\n", at)
                stop = len(lowered) if stop < 0 else stop
                number += lowered.count(b"\n", counted, start)
                counted = start
                line = _around(piece, start, stop, at)
                times = _times(line, self.asked)
                if times <= ENOUGH or number in self.found:
                    self._note(piece, number, start, stop, at, score / times)

    def _family(self, line: bytes) -> int:
        """How many lines that begin alike stood out so far, itself included."""
        if len(self.families) > 4 * FOUND_LINES:
            self.families.clear()
        family = line.strip().translate(None, DIGITS)[:FAMILY_BYTES]
        self.families[family] = count = self.families[family] + 1
        return count

    def _note(
        self,
        piece: bytes,
        number: int,
        start: int,
        stop: int,
        at: int,
        score: float,
        is_end: bool = False,
    ) -> None:
        known = self.found.get(number)
        if known is not None:
            self.found[number] = replace(known, score=known.score + score)
            return
        before = BEFORE_END_BYTES if is_end else BEFORE_BYTES
        line = _around(piece, start, stop, at)
        begin = _begin(start, stop, at)
        self.found[number] = Found(
            number,
            line,
            stop - start - len(line),
            score,
            is_end,
            piece[max(start - before, 0) : start],
            piece[stop + 1 : stop + 1 + AFTER_BYTES],
            begin - start,
            at - begin,
        )
        if len(self.found) >= 2 * FOUND_LINES:
            ranked = sorted(self.found.values(), key=lambda line: (-line.score, line.number))
            self.found = {line.number: line for line in ranked[:FOUND_LINES]}


def _times(line: bytes, forms: Counter[bytes]) -> int:
    """How often a line of this form was found so far, itself included."""
    if len(forms) > 4 * FOUND_LINES:
        forms.clear()
    form = line.translate(None, DIGITS)
    forms[form] = times = forms[form] + 1
    return times


def char_count(data: bytes) -> int:
    """How many code points valid UTF-8 holds."""
    return len(data) if data.isascii() else len(data.translate(None, CONTINUATION))


def sketch_of(data: bytes, end_bytes: int, query: Query) -> Sketch:
    """The summary of a text that is in memory."""
    sketcher = Sketcher(end_bytes, query)
    for piece in pieces(data):
        sketcher.feed(piece)
    sketch = sketcher.close()
    if len(data) <= RARE_BYTES:
        _add_rare(data, sketch.found)
    return sketch


def ends_of(data: bytes, end_bytes: int) -> Sketch:
    """The summary of a text of which only the ends matter."""
    lines = data.count(b"\n") + (not data.endswith(b"\n")) if data else 0
    chars = char_count(data)
    if len(data) <= 2 * end_bytes:
        return Sketch(data, b"", lines, chars, 0, {})
    stop = data.find(b"\n", end_bytes)
    open_chars = char_count(data[end_bytes : stop if stop >= 0 else len(data)])
    return Sketch(data[:end_bytes], data[-end_bytes:], lines, chars, open_chars, {})


def pieces(data: bytes) -> Iterator[bytes]:
    """Cut a text at line ends into pieces of about `PIECE_BYTES`."""
    start = 0
    while len(data) - start > PIECE_BYTES:
        stop = data.rfind(b"\n", start, start + PIECE_BYTES) + 1 or start + PIECE_BYTES
        yield data[start:stop]
        start = stop
    yield data[start:] if start else data


def _add_rare(data: bytes, found: dict[int, Found]) -> None:
    """Note the lines of a repetitive text whose form occurs once."""
    forms = data.translate(None, DIGITS).split(b"\n")
    if len(forms) * SHORTEST_LINE_BYTES > len(data):
        return
    indexes = _once(forms)[: 2 * FOUND_LINES - len(found)]
    for index, line in zip(indexes, _lines_at(indexes, data, len(forms)), strict=True):
        kept = line[:CLIP_BYTES]
        rare = Found(index + 1, kept, len(line) - len(kept), RARE_SCORE)
        found.setdefault(index + 1, rare)


def _once(forms: list[bytes]) -> list[int]:
    """Where forms stand that occur once, if most occur often.

    Sets are built faster than counts, so lines are counted only where a form is in one part alone.
    """
    size = len(forms) // PARTS + 1
    parts = [forms[start : start + size] for start in range(0, len(forms), size)]
    seen: set[bytes] = set()
    again: set[bytes] = set()
    for part in parts:
        own = set(part)
        again |= own & seen
        seen |= own
    if len(seen) > len(forms) // 3:
        return []
    found: list[int] = []
    for number, part in enumerate(parts):
        alone = seen.difference(again).intersection(part)
        counts = Counter(form for form in part if form in alone) if alone else Counter[bytes]()
        once = [form for form, count in counts.items() if count == 1 and form.strip()]
        found += sorted(number * size + part.index(form) for form in once)
    return found


def _lines_at(indexes: Sequence[int], data: bytes, total: int) -> list[bytes]:
    """The lines at these places; of many all are split, of a few those up to the nearer end."""
    if len(indexes) > FEW:
        lines = data.split(b"\n")
        return [lines[index] for index in indexes]
    return [_line_at(index, data, total) for index in indexes]


def _line_at(index: int, data: bytes, total: int) -> bytes:
    if 2 * index < total:
        return data.split(b"\n", index + 1)[index]
    return data.rsplit(b"\n", total - index)[index - total]


def _around(piece: bytes, start: int, stop: int, at: int) -> bytes:
    """The line from `start` to `stop`, or the part of it around `at` where it is long."""
    begin = _begin(start, stop, at)
    return piece[begin : min(begin + CLIP_BYTES, stop)]


def _begin(start: int, stop: int, at: int) -> int:
    """From where on a line is kept."""
    return max(start, min(at - CLIP_BYTES // 2, stop - CLIP_BYTES))


def _ends_of(data: bytes, word: bytes, most: int) -> Iterator[int]:
    at = data.find(word)
    while at >= 0 and most > 0:
        yield at + len(word)
        at = data.find(word, at + len(word))
        most -= 1
