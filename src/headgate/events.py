"""What happened, as frozen records. A hook is a callable that takes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from headgate.types import Ref, Verdict


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


Event: TypeAlias = (
    Admitted
    | Spilled
    | SpillFailed
    | LedgerFailed
    | LedgerRepaired
    | OverrideIgnored
    | Deprecated
    | HistoryRepaired
    | HistoryPrepared
)
Hook: TypeAlias = Callable[[Event], None]
