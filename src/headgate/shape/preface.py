"""What stands above the output of a command or of a server: shown as it is, and no part of it.

`Exit code 1`, a few lines such as `Wall time: 0.3 seconds` up to one that says `Output:`, or what
`curl -i` shows of an answer above its body. What follows has a kind of its own and is shaped by it;
its lines keep the numbers they have in the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from headgate.marker import Marker
from headgate.measure.size import SEAM_TOKENS
from headgate.shape.shaper import Room, Shaped, Source

LONGEST_BYTES = 4_000
"""Whoever says more before the output says something."""

LARGEST_PART = 4
"""A preface may take this part of the room, else it is shaped as the rest is."""

PREFACE = re.compile(
    rb"(?:[^\n]{1,160}\n){0,8}?(?:outputs?|observations?|results?|stdout|response):[ \t]*\r?\n"
    rb"|(?:<returncode>-?\d+</returncode>\s{0,4})?<(?:output|stdout)>[ \t]*\r?\n"
    rb"|(?:process )?(?:exit(?:ed)?)(?: with)? code:? -?\d+\r?\n"
    rb"|(?:HTTP/[\d.]+ \d{3}|Content-type:)[^\n]*\n(?:[\w-]+:[^\n]*\n){0,60}\r?\n",
    re.IGNORECASE,
)


def preface_of(data: bytes) -> int:
    """How many bytes of a text stand before its output; 0: all of it is."""
    found = PREFACE.match(data, 0, LONGEST_BYTES)
    return found.end() if found and data[found.end() :].strip() else 0


def shape_after(
    preface: int,
    source: Source,
    room: Room,
    marker: Marker,
    way: Callable[[Source, Room, Marker], Shaped],
) -> Shaped | None:
    """The preface as it is, and below it the output in its own `way`; None: no room for both."""
    before = source.data[:preface].decode(errors="replace")
    size = room.size(before)
    if size * LARGEST_PART > room.limit:
        return None
    lines = before.count("\n")
    rest = replace(
        source,
        data=source.data[preface:],
        size=max(source.size - size, 1),
        lines=source.lines - lines,
    )
    below = Room(room.limit - size - SEAM_TOKENS, room.meter)
    shaped = way(rest, below, replace(marker, lines_before=lines, bytes_before=preface))
    text = before + shaped.text
    return Shaped(text, shaped.how) if room.fits(text) else None
