"""A pattern that a model wrote, compiled so that it can do no harm: RE2, linear in the text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.errors import RequestError

if TYPE_CHECKING:
    import re2

MEMORY_BYTES = 8 * 1024 * 1024
"""What RE2 may use for one pattern, its caches included."""

MOST_INSTRUCTIONS = 16_000
"""A larger program could take milliseconds for each byte; `.{0,1000}` is about 10,000."""

NO_LITERAL = re.compile(
    r"\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|[0-9A-Fa-f]{2})|\\.|\(\?P?<[^>]*>", re.DOTALL
)
"""What stands for something else: upper case in it says nothing about the case that is meant."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern and how it is meant: a pattern without upper case finds both."""

    text: str
    ignores_case: bool
    compiled: re2._Regexp

    @property
    def instructions(self) -> int:
        """How large its program is: in the worst case, steps for each byte of text."""
        return int(self.compiled.programsize)

    def search(self, data: bytes, start: int, stop: int) -> tuple[int, int] | None:
        """Where the first match between two offsets begins and ends."""
        found = self.compiled.search(data, start, stop)
        return found.span() if found else None


def pattern_of(text: str) -> Pattern:
    """Compile a pattern; `RequestError` says in words what is wrong with it."""
    ignores_case = not any(char.isupper() for char in NO_LITERAL.sub("", text))
    _compile(text, ignores_case)
    pattern = Pattern(text, ignores_case, _compile(f"(?m){text}", ignores_case))
    if pattern.instructions > MOST_INSTRUCTIONS:
        raise RequestError(f"search is {_seen(text)}, too large a pattern; repeat less in it")
    return pattern


def _compile(text: str, ignores_case: bool) -> re2._Regexp:
    import re2  # lazily: not everybody searches

    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.log_errors = False
    options.never_nl = True
    options.never_capture = True
    options.case_sensitive = not ignores_case
    try:
        return re2.compile(text.encode(), options)
    except UnicodeEncodeError:
        reason = "it is no valid Unicode"
    except re2.error as error:
        reason = _in_words(error)
    finally:
        # The module keeps up to 128 patterns, each with its own caches: that adds up to a gigabyte.
        re2.purge()
    raise RequestError(
        f"search is {_seen(text)}, which cannot be used: {reason}; "
        "it takes an RE2 pattern, without look-around and back-references"
    )


def _in_words(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return "".join(char if char.isprintable() else "?" for char in text[:200])


def _seen(text: str) -> str:
    seen = json.dumps(text)
    return seen if len(seen) <= 80 else f"{seen[:80]}…"
