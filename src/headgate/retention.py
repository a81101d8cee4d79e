"""How long originals are kept, and which go first when there are too many: decided from values.

What a live history refers to goes last. A history is live for as long as it is sent now and then; a
result that no history has been seen with yet counts as live while it is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from headgate.errors import PolicyError
from headgate.types import Ref

DAY_S = 86_400.0
GIB = 1 << 30

Why = Literal["age", "session", "total", "space", "damaged", "missing"]

SLACK = 16
"""Whoever makes room makes a sixteenth of the limit more: it is not made anew for every write."""

FLOOR_SHARE = 0.05
"""The floor of free space is never more than this share of the disk: a small one stays usable."""


@dataclass(frozen=True, slots=True)
class Retention:
    """A policy's word on what is kept; None: without bound."""

    age_s: float | None = 7 * DAY_S
    """Since an original was last kept, read, or referred to by a history that was sent."""
    live_s: float = DAY_S
    """How long a history that is not sent again is live, and a result that is new."""
    result_bytes: int | None = 4 * GIB
    """What is kept of one result; of a larger one its first bytes."""
    session_bytes: int | None = 16 * GIB
    session_count: int | None = 100_000
    total_bytes: int | None = 32 * GIB
    total_count: int | None = 500_000
    free_bytes: int | None = GIB
    """What stays free on the disk, or a twentieth of it if that is less."""

    def __post_init__(self) -> None:
        for name in ("result_bytes", "session_bytes", "session_count", "total_bytes"):
            self._check(name, least=1)
        for name in ("total_count", "age_s", "live_s", "free_bytes"):
            self._check(name, least=1 if name == "total_count" else 0)

    @property
    def most_bytes(self) -> int | None:
        """What is kept of one result: no more than any of the limits."""
        limits = (self.result_bytes, self.session_bytes, self.total_bytes)
        return min((limit for limit in limits if limit is not None), default=None)

    def floor_bytes(self, disk_bytes: int) -> int:
        """What stays free on a disk of this size."""
        return min(self.free_bytes or 0, int(disk_bytes * FLOOR_SHARE))

    def _check(self, name: str, *, least: int) -> None:
        value = getattr(self, name)
        if value is not None and not value >= least:
            raise PolicyError(f"retention.{name} is {value}; it is at least {least}, or none")


EVERYTHING = Retention(
    age_s=None,
    result_bytes=None,
    session_bytes=None,
    session_count=None,
    total_bytes=None,
    total_count=None,
    free_bytes=None,
)
"""Keeps all there is."""


@dataclass(frozen=True, slots=True)
class Held:
    """An original on disk, as retention sees it."""

    session: str
    """The name of its session's folder."""
    ref: Ref
    size_bytes: int
    used_ns: int
    """When it was last kept, read, or referred to."""
    live: bool


@dataclass(frozen=True, slots=True)
class Need:
    """Room that a session wants for what it is about to write."""

    session: str
    bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Room:
    """How much there may be, and how much there is beside what could be removed."""

    most_bytes: int | None
    most_count: int | None
    fixed_bytes: int
    need_bytes: int
    need_count: int


NOTHING_NEEDED = Need("", 0, 0)


def victims(
    held: Sequence[Held],
    retention: Retention,
    *,
    now_ns: int,
    need: Need = NOTHING_NEEDED,
    fixed: Mapping[str, int],
    short_bytes: int = 0,
) -> dict[Held, Why]:
    """What has to go, and why: too old first, then over a session's limits, then over all.

    `fixed` is what each session has on disk beside originals. `short_bytes` is missing to the floor
    of free space; for that alone, nothing live goes.
    """
    first_to_go = sorted(held, key=lambda one: (one.live, one.used_ns, one.ref))
    going: dict[Held, Why] = {one: "age" for one in first_to_go if _is_old(one, retention, now_ns)}
    by_session: dict[str, list[Held]] = {need.session: []}
    for one in first_to_go:
        if one not in going:
            by_session.setdefault(one.session, []).append(one)
    for session, mine in by_session.items():
        wants = need if need.session == session else NOTHING_NEEDED
        room = Room(
            retention.session_bytes,
            retention.session_count,
            fixed.get(session, 0),
            wants.bytes,
            wants.count,
        )
        going |= dict.fromkeys(_over(mine, room), "session")
    left = [one for one in first_to_go if one not in going]
    total = Room(
        retention.total_bytes, retention.total_count, sum(fixed.values()), need.bytes, need.count
    )
    going |= dict.fromkeys(_over(left, total), "total")
    short_bytes -= sum(one.size_bytes for one in going)
    spare = [one for one in first_to_go if one not in going and not one.live]
    going |= dict.fromkeys(_first(spare, short_bytes, 0), "space")
    return going


def _is_old(one: Held, retention: Retention, now_ns: int) -> bool:
    if retention.age_s is None or one.live:
        return False
    return now_ns - one.used_ns > retention.age_s * 1e9


def _over(held: Sequence[Held], room: Room) -> list[Held]:
    """The first of these that must go so that what is left and what is wanted have room."""
    used = room.fixed_bytes + room.need_bytes + sum(one.size_bytes for one in held)
    over_bytes = _excess(used, room.most_bytes)
    over_count = _excess(room.need_count + len(held), room.most_count)
    return _first(held, over_bytes, over_count)


def _excess(used: int, most: int | None) -> int:
    """How much has to go so that `used` is under its limit, and some more."""
    if most is None or used <= most:
        return 0
    return used - most + most // SLACK


def _first(held: Iterable[Held], over_bytes: int, over_count: int) -> list[Held]:
    going: list[Held] = []
    for one in held:
        if over_bytes <= 0 and over_count <= 0:
            break
        going.append(one)
        over_bytes -= one.size_bytes
        over_count -= 1
    return going


WORDS: Mapping[Why, str] = {
    "age": "it was not used for longer than results are kept",
    "session": "its session had more than is kept of one session",
    "total": "there was more than is kept in all",
    "space": "the disk was nearly full",
    "damaged": "its file was damaged",
    "missing": "its file was deleted by somebody else",
}
"""Why an original is gone, for its reader."""
