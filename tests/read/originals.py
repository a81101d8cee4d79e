"""Originals for tests, and a reader that does what the last line of each answer says."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping

from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.measure.meters import meter_for
from headgate.read.answer import answer
from headgate.read.original import Original, original_of
from headgate.read.request import request_of
from headgate.shape.shaper import Room
from headgate.sql.run import run_query
from headgate.types import About, Meter

O200K = meter_for("o200k", "tokens")
CHARS = meter_for("o200k", "chars")
BYTES = meter_for("o200k", "bytes")

MARKER = Marker("k7q2", "r_1f3a9c7be20d")

LEAST = {"tokens": 112, "chars": 448, "bytes": 448}
"""The smallest limit with the largest block overhead taken off."""

ODD = (
    *(
        b"\n",
        b"\r\n",
        b"\r",
        b"\b",
        b"\0",
        b"\x1b",
        b"\x1b[31m",
        b"\x1b]8;;http://x\x1b\\",
        b"\xff",
    ),
    *(
        b"\xc3",
        b"\xed\xa0\x80",
        b"a",
        b" ",
        b"word ",
        b"x" * 50,
        b"9" * 300,
        b"#k7q2]",
        b"[a #k7q2]",
    ),
    *(
        part.encode()
        for part in ("é", "日本", "👩‍👧‍👦", "e\u0301\u0302", "\u202e", "\ufeff", "\ufe0f")
    ),
)
runs = st.lists(st.tuples(st.sampled_from(ODD), st.integers(1, 40)), max_size=20).map(
    lambda parts: b"".join(part * count for part, count in parts)
)
odd_bytes = (runs | st.binary(max_size=3_000)).filter(
    # UTF-16 counts its line ends otherwise, and has a test of its own.
    lambda data: data[:2] not in (b"\xff\xfe", b"\xfe\xff")
)

meters = st.sampled_from([O200K, CHARS, BYTES])


def original(data: bytes, *, exact: bool = False, chunk_bytes: int = 64) -> Original:
    chunks = [data[at : at + chunk_bytes] for at in range(0, len(data), chunk_bytes)]
    about = About(
        ref="r_1f3a9c7be20d",
        sha256=hashlib.sha256(data).hexdigest(),
        length=len(data),
        lines=data.count(b"\n") + (data[-1:] not in (b"", b"\n")),
        call_id="c",
        tool="bash",
        time_ns=0,
        chunk_bytes=chunk_bytes,
        chunk_lines=tuple(chunk.count(b"\n") for chunk in chunks),
    )
    return original_of(about, lambda start, stop: data[start:stop], exact=exact)


def ask(
    kept: Original,
    arguments: Mapping[str, object],
    *,
    limit: int = 1_000,
    meter: Meter = O200K,
    marker: Marker = MARKER,
    clock: Callable[[], int] = lambda: 0,
) -> str:
    """The answer, which never exceeds its limit."""
    text = answer(
        request_of(arguments),
        kept,
        Room(limit, meter),
        marker,
        clock=clock,
        run_query=run_query,
    )
    assert meter.count(text) <= limit
    return text


def parts(text: str) -> tuple[str, str]:
    """What an answer shows, and its last line."""
    body, _, end = text.rpartition("\n")
    assert end.startswith("["), end
    assert end.endswith(f"#{MARKER.tag}]"), end
    return body, end


def next_arguments(end: str, before: Mapping[str, object]) -> dict[str, object] | None:
    """What a last line says to ask for next; None: nothing more."""
    if "shows more" not in end:
        return None
    given = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\d+)', end.partition("; ")[2])
    told = {name: json.loads(value) for name, value in given if name != "ref"}
    if "the same search" in end:
        told["search"] = before["search"]
    return told


def answers(
    kept: Original, arguments: Mapping[str, object], **options: object
) -> Iterator[tuple[str, str]]:
    """Every answer from the first on, as its last line says how to go on."""
    asked: Mapping[str, object] | None = arguments
    seen: list[Mapping[str, object]] = []
    while asked is not None:
        assert asked not in seen, f"asked twice: {asked}"
        seen.append(asked)
        body, end = parts("\n" + ask(kept, asked, **options))  # type: ignore[arg-type]
        yield body.removeprefix("\n"), end
        asked = next_arguments(end, asked)


def read_on(kept: Original, **options: object) -> str:
    """The whole, read from the start as each answer says."""
    pieces: list[str] = []
    for body, end in answers(kept, {}, **options):
        goes_on_inside = 'bytes="' in end or "no line end after it" in end
        pieces.append(body if goes_on_inside or "is empty" in end else f"{body}\n")
    return "".join(pieces)
