"""Lines that name things: files, addresses, identifiers, numbers of tickets and commits.

Of a text that was written to be read, this is what a reader goes on to work with; the rest can be
guessed from it, or asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

WORD = re.compile(r"[\w./@:\\~-]{4,}")
NAME = re.compile(
    r"\w[/\\]\w|\w\.\w|[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|\d{4}"  # a/b, a.b, a_b, aB, 1234
    r"|^(?=[a-f]*\d)[0-9a-f]{7,40}$"
)
"""What is inside a word that is a name rather than a word of a language."""

AROUND = ".:-/\\@~"
"""Signs that stand around a name without being part of it."""

LINE_CHARS = 40
"""What a line costs beside its own length: the note about what is missing around it."""


def naming(lines: Sequence[str], places: Iterable[int]) -> list[int]:
    """Of the lines at these places those that name most for their length, the most telling first.

    A name that stands in many lines says little in each; one that was shown already says nothing.
    """
    words = {place: set(WORD.findall(lines[place])) for place in places}
    names = {word: word.strip(AROUND) for found in words.values() for word in found}
    names = {word: name for word, name in names.items() if NAME.search(name)}
    of_line = {
        place: {names[word] for word in found if word in names} for place, found in words.items()
    }
    counts = Counter(name for found in of_line.values() for name in found)
    worth = {
        place: sum(counts[name] ** -0.5 for name in found) / (len(lines[place]) + LINE_CHARS)
        for place, found in of_line.items()
        if found
    }
    seen: set[str] = set()
    first: list[int] = []
    again: list[int] = []
    for place in sorted(worth, key=lambda one: (-worth[one], one)):
        found = of_line[place]
        if 2 * len(found - seen) >= len(found):
            first.append(place)
            seen |= found
        else:
            again.append(place)
    return first + again
