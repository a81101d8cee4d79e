"""What a person is shown of a result: limits of its own, which the model never meets."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.errors import PolicyError
from headgate.types import Kind


@dataclass(frozen=True, slots=True)
class View:
    """A policy's word on what is shown to people, on a terminal or a page."""

    line_chars: int = 150
    """Of one line."""
    lines: int = 30
    """Of a result that stands inline, among others."""
    code_lines: int = 500
    diff_lines: int = 500

    def __post_init__(self) -> None:
        for name in ("line_chars", "lines", "code_lines", "diff_lines"):
            if getattr(self, name) < 1:
                raise PolicyError(f"view.{name} is {getattr(self, name)}; it is at least 1")

    def most_lines(self, kind: Kind | None) -> int:
        """How many lines of such a text are shown."""
        if kind == "diff":
            return self.diff_lines
        return self.code_lines if kind == "code" else self.lines
