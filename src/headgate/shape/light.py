"""How far a line that stands out lights up what stands around it.

A failure is a block, not a line: what it says stands under its heading, what led to it above. So
each line that stands out shines on its neighbours, less from line to line, further into what is
indented below it and less far over a blank line; and a line that says that a command failed shines
far back over what the command printed last. What is brightest is shown first.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from headgate.shape.sketch import Found

LEAST = 1.2
"""Light below this shows nothing: a line this dark is as good as any other."""


@dataclass(frozen=True, slots=True)
class Fading:
    """What is left of the light on the next line, by what that line is."""

    plain: float
    indented: float
    blank: float
    another: float
    """A command, or a test that went well: it belongs to something else."""


Face = Literal["plain", "indented", "blank", "another", "missing"]

DOWN = Fading(plain=0.85, indented=0.95, blank=0.75, another=0.5)
UP = Fading(plain=0.77, indented=0.75, blank=0.65, another=0.1)

END_LIGHT = 3.0
END_FADING = 0.98
"""Of the light of a line that says that a command failed; it shines up, over nearly all alike."""
BESIDE = 0.3
WARNS = re.compile(r"\b(?:note|warning): |⚠")
QUOTED = re.compile(r" *\d* \|")
OPTION = re.compile(r"(?P<before>(?:[A-Za-z!:]+ )*\s{2,})-{1,2}[A-Za-z][\w|-]*(?:[ ,=<\[].*)?$")
"""What is left of it on warnings, with the code that a compiler quotes below them, and on the
options of a command that tells how it is used: neither is why it failed."""
FIRST_END = 2.0
"""The first command that failed is more often the cause than those after it."""
BEHIND_LAST_END = 0.8

BOTH = 0.25
"""What the weaker of the lights from above and below adds."""

LATE = 0.25
"""By how much the last line is worth more than the first: what went wrong stands near the end."""

AGAIN = 0.5
AGAIN_CHARS = 24
"""What a line keeps of its light that says again what a brighter one says, and how long it is."""

BLANK = 0.75
DETAIL = 0.25
LEVEL_CHARS = 80
"""What a line of details keeps of the light, and how early its level stands."""

USUAL_CHARS = 80
LONGEST_CHARS = 480
LENGTH = 0.25
"""How much a long line is worth less, since it takes the room of several; one that is longer still
is shown in part."""

LENGTHY = [(1 + chars / USUAL_CHARS) ** LENGTH for chars in range(LONGEST_CHARS + 1)]

DARK = int(math.log(LEAST / (END_LIGHT * FIRST_END)) / math.log(END_FADING)) + 1
"""So many lines before a line that says that a command failed, all is dark."""

ANOTHER = ("$ ", "> ", "+ ", "--- PASS", "=== RUN")
"""How lines begin that belong to something else: a command, a test that passed, the next one."""
WENT_WELL = frozenset("✓✔√")
WELL_STARTS = ("ok ", "[       OK ]", "[ RUN      ]", "[----------]")
WELL_ENDS = ("... ok", "...ok", " PASS", "[OK]")


def reach_of(anchor: Found) -> tuple[int, int]:
    """How many lines up and down a line that stands out can light, at most."""
    up = DARK if anchor.is_end else _reach(anchor.score, max(UP.plain, UP.indented))
    return up, _reach(anchor.score, max(DOWN.plain, DOWN.indented))


def _reach(light: float, fading: float) -> int:
    return 1 + int(math.log(LEAST / light) / math.log(fading)) if light > LEAST else 0


def lit(
    found: Iterable[Found], text_of: Callable[[int], str | None], total: int
) -> dict[int, float]:
    """How bright the lines are on which light falls; where no text is at hand, no light goes on."""
    anchors = sorted(found, key=lambda line: (-line.score, line.number))
    down: dict[int, float] = {}
    up: dict[int, float] = {}
    faces: dict[int, Face] = {0: "missing", total + 1: "missing"}
    for anchor in anchors:
        _shine(down, anchor, 1, DOWN, text_of, faces)
        _shine(up, anchor, -1, UP, text_of, faces)
    ends = sorted(line.number for line in anchors if line.is_end)
    back = _shine_back(ends, text_of)
    for number in _beside(sorted(back), text_of):
        back[number] *= BESIDE
    lights: dict[int, float] = {}
    last_end = ends[-1] if ends else total
    for number in down.keys() | up.keys() | back.keys():
        above, below = down.get(number, 0.0), up.get(number, 0.0)
        light = above + BOTH * below if above > below else below + BOTH * above
        light = (light + back.get(number, 0.0)) * (1 - LATE + LATE * number / total)
        if number > last_end:
            light *= BEHIND_LAST_END
        text = text_of(number) or ""
        if not text or text.isspace():
            light *= BLANK
        elif _is_detail(text):
            light *= DETAIL
        lights[number] = light / LENGTHY[min(len(text), LONGEST_CHARS)]
    if len({*map(text_of, lights)}) < len(lights):
        _dim_repeats(lights, text_of)
    return lights


def _dim_repeats(lights: dict[int, float], text_of: Callable[[int], str | None]) -> None:
    """Take light from lines that say what a brighter one says; of two alike the later one is."""
    said: defaultdict[str, list[int]] = defaultdict(list)
    for number in lights:
        said[(text_of(number) or "").strip()].append(number)
    for text, numbers in said.items():
        if len(text) >= AGAIN_CHARS:
            for number in sorted(numbers, key=lambda n: (lights[n], n))[:-1]:
                lights[number] *= AGAIN


def _shine(
    lights: dict[int, float],
    anchor: Found,
    step: int,
    fading: Fading,
    text_of: Callable[[int], str | None],
    faces: dict[int, Face],
) -> None:
    """Light up the anchor and what stands to one side of it, until it is dark or bright already.

    `faces` remembers what lines are: the light of many anchors comes by.
    """
    number, light = anchor.number, anchor.score
    if light <= lights.get(number, 0.0):
        return
    own = text_of(number) or ""
    indent = own[: len(own) - len(own.lstrip())]
    deeper = (indent + "  ", indent + "\t")
    while light > LEAST and light > lights.get(number, 0.0):
        lights[number] = light
        number += step
        face = faces.get(number)
        if face is None:
            faces[number] = face = _face(text_of(number))
        if face == "missing":
            return
        if face == "indented" and not (text_of(number) or "").startswith(deeper):
            face = "plain"
        light *= getattr(fading, face)


def _face(text: str | None) -> Face:
    """What a line is; one that begins with a space or a sign is indented, or plain after all."""
    if text is None:
        return "missing"
    if text[:1].isalnum():
        return "another" if _went_well(text) else "plain"
    if not text or text.isspace():
        return "blank"
    if text.startswith(ANOTHER) or text.lstrip()[0] in WENT_WELL or _went_well(text):
        return "another"
    return "indented"


def _went_well(text: str) -> bool:
    """Whether a line only says that a test passed."""
    return " PASSED" in text or text.endswith(WELL_ENDS) or text.startswith(WELL_STARTS)


def _is_detail(text: str) -> bool:
    """Whether a line tells of what went well, or what only who wrote the program reads."""
    start = text[:LEVEL_CHARS]
    return "DEBUG" in start or "TRACE" in start or "--- PASS" in start or _went_well(text)


def _beside(numbers: Sequence[int], text_of: Callable[[int], str | None]) -> Iterator[int]:
    """Lines of warnings and of options: beside the point where a command failed."""
    warned, options = False, ""
    for number in numbers:
        text = text_of(number) or ""
        warned = WARNS.search(text) is not None or (warned and QUOTED.match(text) is not None)
        option = OPTION.match(text)
        if option:
            options = option["before"]
        elif not (options and (text.startswith(options) or options.startswith(text))):
            options = ""
        if warned or options:
            yield number


def _shine_back(ends: list[int], text_of: Callable[[int], str | None]) -> dict[int, float]:
    """Light up what stands before each line that says that a command failed."""
    lights: dict[int, float] = {}
    for place, end in enumerate(ends):
        light = END_LIGHT * (FIRST_END if place == 0 else 1.0)
        number = end
        while number > 0 and light > LEAST and number not in lights:
            if number != end and text_of(number) is None:
                break
            lights[number] = light
            light *= END_FADING
            number -= 1
    return lights
