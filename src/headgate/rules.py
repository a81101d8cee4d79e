"""Parts of a policy that only some policies fill: windows, counting, and words for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from headgate.errors import PolicyError
from headgate.types import Amount


@dataclass(frozen=True, slots=True)
class BatchByWindow:
    """The budget of a batch for a small and for a large window; `batch` for all between."""

    small_tokens: int
    """Up to this a window is small."""
    small: Amount
    large_tokens: int
    """From this on a window is large."""
    large: Amount

    def pick(self, window_tokens: int, between: Amount) -> Amount:
        """The budget for a window."""
        if window_tokens <= self.small_tokens:
            return self.small
        return self.large if window_tokens >= self.large_tokens else between


@dataclass(frozen=True, slots=True)
class CountRule:
    """How histories are counted."""

    vocab: str = ""
    """A vocabulary or a rule for every model; empty: as the table of models says, and learning."""
    unknown: str = ""
    """The rule for a model that the table does not know; empty: the table's own fallback."""
    dense_extensions: tuple[str, ...] = ()
    """Files whose results are counted by `dense_vocab`, by the path that their call asks for."""
    dense_vocab: str = ""
    recounts_fragments: bool = False
    """Whether later messages of the answered response are estimated though the report has them."""
    message_tokens: int | None = None
    """What the wire adds around a message; None: what is usual."""
    warn_at: tuple[float, ...] = (0.75, 0.85)
    """Shares of the window in use at which a warning is due."""

    def __post_init__(self) -> None:
        for share in self.warn_at:
            if not 0 <= share <= 1:
                raise PolicyError(f"counting.warn_at has {share}; it takes shares, from 0 to 1")
        if self.message_tokens is not None and self.message_tokens < 0:
            raise PolicyError(
                f"counting.message_tokens is {self.message_tokens}; it cannot be below 0"
            )


DEFAULT_COUNTING = CountRule()


class Told(NamedTuple):
    """What people may be told of a shortened result."""

    bytes: int = 0
    lines: int = 0
    missing_lines: int = 0
    half: float = 0
    """Of its limit."""
    where: str = ""
    missing_chars: int = 0
    """About: the words in their place are not counted apart."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What people are told of a shortened result, as templates; the model never reads it.

    Fields: `kilobytes`, `lines`, `missing_lines`, `missing` (lines, or characters where only parts
    of lines are missing), `half` (of its limit), `where` the whole is.
    """

    form: str = ""
    """Empty: people are told nothing."""
    form_where: str = ""
    """For a result so large that people are told where the whole is."""
    where_from_bytes: int = 0
    """Larger than this a result has to be for that."""

    def __post_init__(self) -> None:
        for form in (self.form, self.form_where):
            try:
                self.fill(form, Told())
            except (LookupError, ValueError, AttributeError, TypeError) as error:
                raise PolicyError(f"notice: {form!r} has {error} as a field") from error

    def fill(self, form: str, told: Told) -> str:
        """One of the forms with its fields."""
        small = told.half < 1_000
        half = f"{told.half:.0f}" if small else f"{round(told.half / 1_000, 1):g}k"
        lines, chars = f"{told.missing_lines} lines", f"about {told.missing_chars} chars"
        return form.format(
            kilobytes=told.bytes // 1_024,
            lines=told.lines,
            missing_lines=told.missing_lines,
            missing=lines if told.missing_lines else chars,
            half=half,
            where=told.where,
        )


DEFAULT_NOTICE = Notice()
