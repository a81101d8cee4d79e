"""A bounded summary of a text of any size: its ends, and the lines between that stand out.

Built piece by piece, so a result of gigabytes and one of kilobytes are read by the same code, and
memory depends on the room, not on the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headgate.measure.lengths import chars_in, line_ends_in
from headgate.measure.size import lines_in
from headgate.scan import Hit
from headgate.shape.signs import ENDING, SCANNER, weight
from headgate.shape.worth import SHORT_WORD
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
FIRST_WORDS = 2
STARTS = 0.12
"""How lines are alike that begin with the same letters, or words, and how fast they lose weight for
it: the fiftieth `FAILED tests/…` says less than the first reason."""

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


class Found(NamedTuple):
    """A line that stands out, and what stands around it."""

    number: int
    data: bytes
    hidden_chars: int
    """What of the line is not in `data`, where it was too long to keep."""
    score: float
    is_end: bool = False
    """Whether it says that a command ended badly."""
    before: bytes = b""
    after: bytes = b""
    skipped_chars: int = 0
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
    close_chars: int
    """What the line that `tail` begins in has before it."""
    found: dict[int, Found]


class _Line(NamedTuple):
    """Where a line stands in a piece that holds a sign, and what is kept of it."""

    start: int
    stop: int
    at: int
    """Where the sign ends."""
    begin: int
    data: bytes
    """From `begin` on: all of the line, or of a long one what is around the sign."""


def _line_with(piece: bytes, at: int) -> _Line:
    start = piece.rfind(b"\n", 0, at) + 1
    stop = piece.find(b"\n", at)
    stop = len(piece) if stop < 0 else stop
    if stop - start <= CLIP_BYTES:
        return _Line(start, stop, at, start, piece[start:stop])
    begin = max(start, min(at - CLIP_BYTES // 2, stop - CLIP_BYTES))
    return _Line(start, stop, at, begin, piece[begin : begin + CLIP_BYTES])


class Sketcher:
    """Reads a text in pieces that end at line ends (a longer line comes in parts)."""

    def __init__(self, end_bytes: int, query: Query) -> None:
        self.end_bytes = end_bytes
        words = {word.lower(): None for word in query.words if word}
        self.words = tuple(
            word.encode() for word in words if len(word) > SHORT_WORD and word not in OF_ANY_RUN
        )
        self.head = bytearray()
        self.tail = bytearray()
        self.length_bytes = 0
        self.line = 1
        self.chars = 0
        self.open_chars = 0
        self.open_ended = False
        self.close_chars = 0
        self.found: dict[int, Found] = {}
        self.forms: dict[bytes, int] = {}
        self.families: dict[bytes, int] = {}
        self.starts: dict[bytes, int] = {}
        self.asked: dict[bytes, int] = {}

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        lines = self._note_signs(piece)
        if self.words:
            self._note_words(piece)
        room = self.end_bytes - len(self.head)
        if room > 0:
            self.head += piece[:room]
            self._pass(piece, min(room, len(piece)))
        rest = piece[room:] if room > 0 else piece
        self._measure_open_line(rest)
        if len(rest) >= self.end_bytes > 0:
            self._pass(self.tail, len(self.tail))
            self._pass(rest, len(rest) - self.end_bytes)
            self.tail = bytearray(rest[-self.end_bytes :])
        else:
            self.tail += rest
        if len(self.tail) > 2 * self.end_bytes + PIECE_BYTES:
            self._shorten_tail()
        self.length_bytes += len(piece)
        self.chars += chars_in(piece)
        self.line += lines

    def close(self) -> Sketch:
        """The summary of everything fed."""
        whole = self.length_bytes <= 2 * self.end_bytes
        last = self.tail or self.head
        if not whole:
            self._shorten_tail()
        return Sketch(
            head=bytes(self.head + self.tail) if whole else bytes(self.head),
            tail=b"" if whole else bytes(self.tail),
            lines=self.line - (not last or last.endswith(b"\n")),
            chars=self.chars,
            open_chars=self.open_chars,
            close_chars=self.close_chars,
            found=self.found,
        )

    def _measure_open_line(self, rest: bytes) -> None:
        if self.open_ended or not rest:
            return
        stop = rest.find(b"\n")
        self.open_chars += chars_in(rest if stop < 0 else rest[:stop])
        self.open_ended = stop >= 0

    def _shorten_tail(self) -> None:
        stop = len(self.tail) - self.end_bytes
        self._pass(self.tail, stop)
        del self.tail[:stop]

    def _pass(self, data: bytes | bytearray, stop: int) -> None:
        """Note that the text up to `stop` is not of the tail."""
        start = data.rfind(b"\n", 0, stop) + 1
        self.close_chars = (0 if start else self.close_chars) + chars_in(bytes(data[start:stop]))

    def _note_signs(self, piece: bytes) -> int:
        """Note the lines that hold a sign; gives how many lines end in the piece."""
        hits = SCANNER.hits(piece, HITS_PER_PIECE)
        number, counted, i = self.line, 0, 0
        while i < len(hits):
            line = _line_with(piece, hits[i][1])
            first = i
            while i < len(hits) and hits[i][1] <= line.stop:
                i += 1
            times = _times(line.data, self.forms)
            if times <= ENOUGH:
                number += line_ends_in(piece[counted : line.start])
                counted = line.start
                own = hits[first:i]
                score = weight(piece, own, line.data) / (times * self._others(line.data))
                is_end = _is_end(piece, line.stop, own)
                self._note(piece, number, line, score, is_end=is_end)
        return number - self.line + line_ends_in(piece[counted:])

    def _note_words(self, piece: bytes) -> None:
        lowered = piece.lower()
        lines = line_ends_in(lowered) + 2
        for word in self.words:
            hits = list(_ends_of(lowered, word, HITS_PER_PIECE))
            rarity = math.log(lines / min(max(len(hits), 1), lines)) / math.log(lines)
            score = QUERY_SCORE * rarity * rarity
            number, counted, stop = self.line, 0, -1
            for at in hits:
                if at <= stop:
                    continue
                line = _line_with(piece, at)
                stop = line.stop
                number += line_ends_in(piece[counted : line.start])
                counted = line.start
                times = _times(line.data, self.asked)
                if times <= ENOUGH or number in self.found:
                    self._note(piece, number, line, score / times, is_end=False)

    def _others(self, line: bytes) -> float:
        """By how much a line counts less because others that begin alike stood out before."""
        family = line.strip().translate(None, DIGITS)[:FAMILY_BYTES]
        words = b" ".join(line.split(None, FIRST_WORDS)[:FIRST_WORDS])
        alike = float(_counted(family, self.families)), float(_counted(words, self.starts))
        return math.pow(alike[0], FAMILY) * math.pow(alike[1], STARTS)

    def _note(self, piece: bytes, number: int, line: _Line, score: float, *, is_end: bool) -> None:
        known = self.found.get(number)
        if known is not None:
            self.found[number] = known._replace(score=known.score + score)
            return
        before = BEFORE_END_BYTES if is_end else BEFORE_BYTES
        self.found[number] = Found(
            number,
            line.data,
            _hidden(piece[line.start : line.stop], line.data),
            score,
            is_end,
            piece[max(line.start - before, 0) : line.start],
            piece[line.stop + 1 : line.stop + 1 + AFTER_BYTES],
            chars_in(piece[line.start : line.begin]),
            line.at - line.begin,
        )
        if len(self.found) >= 2 * FOUND_LINES:
            ranked = sorted(self.found.values(), key=lambda line: (-line.score, line.number))
            self.found = {line.number: line for line in ranked[:FOUND_LINES]}


def _hidden(line: bytes, kept: bytes) -> int:
    """How many characters of a line are not in what is kept of it, cut ones included."""
    if len(kept) == len(line):
        return 0
    return chars_in(line) - len(kept.decode(errors="ignore"))


def _is_end(piece: bytes, stop: int, hits: Sequence[Hit]) -> bool:
    """Whether a line says that a command ended badly, and not that its output comes now."""
    if ENDING.isdisjoint([sign for sign, _ in hits]):
        return False
    return not OUTPUT_BELOW.search(piece, stop, stop + NEXT_BYTES)


def _times(line: bytes, forms: dict[bytes, int]) -> int:
    """How often a line of this form was found so far, itself included."""
    return _counted(line.translate(None, DIGITS), forms)


def _counted(what: bytes, counts: dict[bytes, int]) -> int:
    """How often this was met so far, this time included; what is too much to know is forgotten."""
    if len(counts) > 4 * FOUND_LINES:
        counts.clear()
    counts[what] = times = counts.get(what, 0) + 1
    return times


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
    lines, chars = lines_in(data), chars_in(data)
    if len(data) <= 2 * end_bytes:
        return Sketch(data, b"", lines, chars, 0, 0, {})
    stop = data.find(b"\n", end_bytes)
    open_chars = chars_in(data[end_bytes : stop if stop >= 0 else len(data)])
    start = data.rfind(b"\n", 0, len(data) - end_bytes) + 1
    close_chars = chars_in(data[start:-end_bytes])
    return Sketch(data[:end_bytes], data[-end_bytes:], lines, chars, open_chars, close_chars, {})


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
        rare = Found(index + 1, kept, _hidden(line, kept), RARE_SCORE)
        found.setdefault(index + 1, rare)


def _once(forms: list[bytes]) -> list[int]:
    """Where forms stand that occur once, if most occur often.

    Sets are built faster than counts, so lines are counted only where a form is in one part alone.
    """
    size = len(forms) // PARTS + 1
    parts = [forms[start : start + size] for start in range(0, len(forms), size)]
    sets = [set(part) for part in parts]
    seen: set[bytes] = set()
    again: set[bytes] = set()
    for own in sets:
        again |= own & seen
        seen |= own
    if len(seen) > len(forms) // 3:
        return []
    in_one_part = seen - again
    found: list[int] = []
    for number, part in enumerate(parts):
        alone = sets[number] & in_one_part
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


def _ends_of(data: bytes, word: bytes, most: int) -> Iterator[int]:
    at = data.find(word)
    while at >= 0 and most > 0:
        yield at + len(word)
        at = data.find(word, at + len(word))
        most -= 1
