"""What happened, as frozen records. A hook is a callable that takes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from headgate.types import Ref, Verdict

Audience = Literal["user", "internal"]
CallEnd = Literal["returned", "failed", "rate_limited", "timed_out", "cancelled", "refused"]
"""How a call came by its answer; `refused`: it was not run."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A batch went in; `over_budget` is what could not be shortened beyond the budget."""

    verdicts: tuple[Verdict, ...]
    budget: int | None
    spent: int
    over_budget: int


@dataclass(frozen=True, slots=True)
class Spilled:
    """An original was kept."""

    ref: Ref
    call_id: str
    length_bytes: int


@dataclass(frozen=True, slots=True)
class SpillCut:
    """Only the first bytes of an original were kept: the rest is more than retention allows."""

    ref: Ref
    call_id: str
    kept_bytes: int
    length_bytes: int


@dataclass(frozen=True, slots=True)
class Removed:
    """Retention removed originals; each left a tombstone that says why to its own session."""

    count: int
    size_bytes: int
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepFailed:
    """What is kept could not be put in order; nothing is lost by it, and it is tried again."""

    error: str


@dataclass(frozen=True, slots=True)
class SpillFailed:
    """The store could not keep an original; the turn went on without it."""

    ref: Ref
    call_id: str
    error: str


@dataclass(frozen=True, slots=True)
class LedgerFailed:
    """A verdict could not be recorded; it holds while this process lives."""

    error: str


@dataclass(frozen=True, slots=True)
class LedgerRepaired:
    """A torn or damaged journal was cut back to its longest valid prefix."""

    path: str
    lost_bytes: int
    kept_records: int


@dataclass(frozen=True, slots=True)
class OverrideIgnored:
    """An operator's override was no finite number above zero."""

    tool: str
    value: str


@dataclass(frozen=True, slots=True)
class Deprecated:
    """A call used an argument that will go away."""

    call_id: str
    argument: str
    instead: str


@dataclass(frozen=True, slots=True)
class HistoryRepaired:
    """A history was not as its provider wants it; `gave_up` says why it went out as it came."""

    fixes: tuple[str, ...]
    gave_up: str


@dataclass(frozen=True, slots=True)
class HistoryPrepared:
    """A history is ready to send."""

    results: int
    fresh: int
    epoch: str
    """Why old results were moved down now; empty: they were not."""
    tokens: int


@dataclass(frozen=True, slots=True)
class GuardTripped:
    """A call went beyond what a guard lets through."""

    rule: str
    action: str
    """`warn`: it ran. `block`: it did not. `halt`: it did not, and the turn ends."""
    tool: str
    call_id: str
    count: int
    most: int
    text: str
    """What the model reads of it."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A running tool says how far it is. It is no part of its result and costs nothing."""

    call_id: str
    tool: str
    message: str
    audience: Audience
    """Who it is for: shown to the user, or for logs alone."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call has its answer."""

    call_id: str
    tool: str
    end: CallEnd
    duration_ns: int
    """From its start; 0: it was never run."""
    error: str
    """What went wrong, in one line; empty: nothing."""


@dataclass(frozen=True, slots=True)
class CallLeft:
    """A tool was told to stop and goes on; its call is answered, and what it still does is lost."""

    call_id: str
    tool: str


Event: TypeAlias = (
    Admitted
    | Spilled
    | SpillCut
    | SpillFailed
    | Removed
    | SweepFailed
    | LedgerFailed
    | LedgerRepaired
    | OverrideIgnored
    | Deprecated
    | HistoryRepaired
    | HistoryPrepared
    | Progress
    | CallEnded
    | CallLeft
    | GuardTripped
)
Hook: TypeAlias = Callable[[Event], None]
