"""Which of many patterns a text holds, told in one pass over it, in linear time.

Patterns are RE2's. Where they match is not told; `headgate.scan` does that, for longer texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re2

MEMORY_BYTES = 32 << 20
"""What a matcher may remember of texts it has seen; with less it forgets, and is slower."""


class Matcher:
    """Patterns of our own; compiled at first use, safe in threads."""

    def __init__(self, patterns: Iterable[str], flags: str) -> None:
        self._patterns = [f"(?{flags}){pattern}" for pattern in patterns]
        self._set: re2.Set | None = None

    def found(self, text: bytes) -> Sequence[int]:
        """The places of the patterns that match anywhere, in no order."""
        # Without a lock, as in `headgate.scan`.
        if self._set is None:
            self._set = self._compiled()
        return self._set.Match(text) or ()

    def _compiled(self) -> re2.Set:
        import re2

        options = re2.Options()
        options.max_mem = MEMORY_BYTES
        compiled = re2.Set.SearchSet(options)
        for pattern in self._patterns:
            compiled.Add(pattern)
        compiled.Compile()
        return compiled
