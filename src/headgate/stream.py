"""A result that comes in pieces: gigabytes pass, memory stays bounded by the room.

A small one is held and judged like any other. Once it grows over `HOLD_BYTES` it goes to the store
as it comes, and only a sketch of it is kept for shaping.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from headgate.arrive import Arrived, Identity, digest_of, is_exact, nothing_from, query_of
from headgate.errors import StoreError
from headgate.judge import Desk, shortened
from headgate.limits import Limit
from headgate.marker import Kept, Marker, without_signs
from headgate.normalise import HEAD_BYTES, Normaliser, Validator
from headgate.policy import FORMS, Keep, Policy
from headgate.refs import ref_of
from headgate.shape.binary import describe
from headgate.shape.kinds import recognise
from headgate.shape.lines import Leaning, shape_sketch
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.sketch import PIECE_BYTES, Sketch, Sketcher
from headgate.shape.text import ERROR, end_bytes, leaning_of
from headgate.types import Kind, Meter, Ref, Size, ToolResult, Verdict, Writer

SAMPLE_BYTES = 1_024
SAMPLES = 256
"""Windows whose exact count gives the estimate of the whole; their distance doubles as it grows."""


HEAD_SHARE: Mapping[Keep, float] = MappingProxyType({"head": 1.0, "tail": 0.0, "head_tail": 0.5})
"""What the start gets of the room where a policy keeps nothing but the ends."""


class Sampler:
    """Estimates the size of a text that passes by, from windows at even distances."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.every = 1
        self.pieces = 0
        self.windows: list[tuple[int, int]] = []
        self.length_bytes = 0

    def feed(self, piece: bytes) -> None:
        """Take the next piece of at most `PIECE_BYTES`."""
        if self.pieces % self.every == 0:
            for start in range(0, len(piece), PIECE_BYTES // 8):
                window = piece[start : start + SAMPLE_BYTES]
                self.windows.append((len(window), self.meter.estimate(window)))
        self.pieces += 1
        self.length_bytes += len(piece)
        if len(self.windows) >= SAMPLES:
            self.windows = self.windows[::2]
            self.every *= 2

    def estimate(self) -> int:
        """The size of everything fed, in the meter's unit."""
        seen = sum(length for length, _ in self.windows)
        return self.length_bytes * sum(size for _, size in self.windows) // max(seen, 1)


class Passing:
    """What is learnt of a text too big to hold, while it goes to the store."""

    def __init__(
        self, result: ToolResult, desk: Desk, room: Room, begin: Callable[[], Writer] | None
    ) -> None:
        self.result = result
        self.desk = desk
        self.sha256 = hashlib.sha256()
        self.head = b""
        self.kind: Kind | None = None
        self.length = 0
        self.is_blank = True
        self.exact = is_exact(result.tool, desk.policy)
        self.reader = Validator() if self.exact else Normaliser()
        query = query_of(result, desk.policy, desk.question)
        self.sketcher = Sketcher(_end_bytes(result, desk.policy, room), query)
        self.sampler = Sampler(desk.meter)
        self.pending: list[bytes] = []
        self.pending_bytes = 0
        self.writer: Writer | None = None
        self.failure: str | None = None
        self.kept_bytes = 0
        """How much of it the store has, once it is there."""
        if begin is not None:
            self._try(lambda: self._open(begin))

    def _open(self, begin: Callable[[], Writer]) -> None:
        self.writer = begin()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.sha256.update(chunk)
        self.length += len(chunk)
        if len(self.head) < HEAD_BYTES:
            self.head += chunk[: HEAD_BYTES - len(self.head)]
        writer = self.writer
        if writer is not None and self.failure is None:
            self._try(lambda: writer.write(chunk))
        if not self._is_binary():
            self._look(self.reader.feed(chunk))

    def _is_binary(self) -> bool:
        """Whether this is not text: then its first bytes and its length are all that is shown."""
        if self.kind is None and len(self.head) >= HEAD_BYTES:
            self.kind = self.result.kind or recognise(self.head, tool=self.result.tool)
        return self.kind == "binary"

    def _look(self, text: bytes) -> None:
        self.pending.append(text)
        self.pending_bytes += len(text)
        if self.pending_bytes <= PIECE_BYTES:
            return
        data, start = b"".join(self.pending), 0
        while len(data) - start > PIECE_BYTES:
            stop = data.rfind(b"\n", start, start + PIECE_BYTES) + 1 or start + PIECE_BYTES
            self._piece(data[start:stop])
            start = stop
        self.pending = [data[start:]]
        self.pending_bytes = len(data) - start

    def _piece(self, piece: bytes) -> None:
        if not self.exact:
            piece = without_signs(piece, self.desk.policy.marker)
        self.is_blank = self.is_blank and (not piece or piece.isspace())
        self.sketcher.feed(piece)
        self.sampler.feed(piece)

    def end(self) -> Sketch:
        """Look at what is left."""
        self._look(self.reader.close())
        self._piece(b"".join(self.pending))
        return self.sketcher.close()

    def commit(self, ref: Ref) -> Kept:
        """Make the original readable; says where it is."""
        writer = self.writer
        if writer is not None and self.failure is None:
            self._try(lambda: self._commit(writer, ref))
        if writer is not None:
            writer.abort()
        if writer is None or self.failure:
            return "nowhere"
        return "stored" if self.kept_bytes == self.length else "partly"

    def _commit(self, writer: Writer, ref: Ref) -> None:
        self.kept_bytes = writer.commit(ref, self.sha256.hexdigest()).length

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except StoreError as error:
            self.failure = str(error)


def _end_bytes(result: ToolResult, policy: Policy, room: Room) -> int:
    """How much of each end is kept: what the room can show, and what a cap leaves before it."""
    if policy.keep != "excerpt":
        return end_bytes(room)
    from headgate.shape.forms import cap_of  # not for a policy that looks

    cap = cap_of(result, policy)
    return end_bytes(replace(room, limit=max(room.limit, cap.count if cap else 0)))


def judge_passing(
    passing: Passing, result: ToolResult, limit: Limit, room: Room
) -> tuple[Arrived, Verdict, Kept]:
    """Decide on a result that went by: it is always too big for its room."""
    desk = passing.desk
    sketch = passing.end()
    sha256 = passing.sha256
    ref = ref_of(desk.key, desk.session, sha256.hexdigest())
    kept = passing.commit(ref)
    if kept != "stored":
        desk = replace(desk, failed={ref: kept}, partly={ref: passing.kept_bytes})
    kind = passing.kind or result.kind or recognise(passing.head, tool=result.tool)
    size = _size(passing, sketch, desk.meter)
    digest = digest_of(result, sha256.digest())
    arrived = Arrived(Identity(result, b"", sha256.hexdigest(), digest, 0), b"", size)
    marker = desk.marker(arrived.sha256, result.call_id, size)
    source = Source(b"", kind, size.of(desk.policy.unit), sketch.lines)
    nothing = nothing_from(result.tool, desk.policy).decode()
    if kind != "binary" and passing.is_blank and room.fits(nothing):
        shaped = Shaped(nothing, "nothing but blanks")
    elif desk.policy.keep in FORMS and kind != "binary":
        from headgate.shape.forms import passed_in_form  # not for a policy that looks

        shaped = passed_in_form(sketch, size, room, marker, desk.policy, result)
    else:
        shaped = _shaped(passing, sketch, source, room, marker, is_error=result.is_error)
    return arrived, shortened(arrived, limit, None, kind, shaped, desk), kept


def _shaped(
    passing: Passing, sketch: Sketch, source: Source, room: Room, marker: Marker, *, is_error: bool
) -> Shaped:
    if source.kind == "binary":
        return describe(passing.head, passing.length, room, marker)
    share = HEAD_SHARE.get(passing.desk.policy.keep)
    if share is not None:
        only_ends = replace(sketch, found={})
        return shape_sketch(only_ends, room, marker, Leaning(share, 0.0), source.size)
    leaning = ERROR if is_error else leaning_of(source.kind, sketch.tail or sketch.head)
    return shape_sketch(sketch, room, marker, leaning, source.size)


def _size(passing: Passing, sketch: Sketch, meter: Meter) -> Size:
    if passing.kind == "binary":
        return Size(passing.length, passing.length, passing.length, 1, exact=False)
    length = passing.sampler.length_bytes
    estimated = passing.sampler.estimate()
    return Size(
        tokens=estimated if meter.unit == "tokens" else length // 4,
        chars=sketch.chars,
        bytes=length,
        lines=sketch.lines,
        exact=False,
    )
