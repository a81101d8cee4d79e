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
LIVE_SLACK = 64
"""Whoever makes room makes this part of the limit more, or it would be made anew for every write;
less where what is live has to go for it."""

FLOOR_SHARE = 0.05
"""The floor of free space is never more than this share of the disk: a small one stays usable."""


MOST_S = 10**12
"""Seconds: so many millennia still are a whole number of nanoseconds."""


@dataclass(frozen=True, slots=True)
class Retention:
    """A policy's word on what is kept; None: without bound."""

    age_s: float | None = 7 * DAY_S
    """Since an original was last kept, read, or referred to by a history that was sent."""
    live_s: float = DAY_S
    """How long a history that is not sent again is live; and how long a result that was in none
    yet goes after those that were."""
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
        for name in ("age_s", "live_s"):
            value = getattr(self, name)
            if value is not None and value > MOST_S:
                raise PolicyError(f"retention.{name} is {value}; it is at most {MOST_S:,}")

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
    """Whether a live history refers to it, or one is about to."""
    new: bool = False
    """Whether it is so new that a history may refer to it of which nobody told us."""

    @property
    def wanted(self) -> bool:
        """Whether somebody may still ask for it."""
        return self.live or self.new


@dataclass(frozen=True, slots=True)
class Need:
    """Room that a session wants for what it is about to write."""

    session: str
    bytes: int
    count: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Room that is not to be had: by what stays on disk, or by what is wanted.

    What others are just writing stays, too: it must not be taken for free.
    """

    bytes: int = 0
    count: int = 0

    def __add__(self, other: Taken) -> Taken:
        return Taken(self.bytes + other.bytes, self.count + other.count)


@dataclass(frozen=True, slots=True)
class Room:
    """How much there may be, and how much of that is taken whatever goes."""

    most_bytes: int | None
    most_count: int | None
    taken: Taken


NOTHING_NEEDED = Need("", 0, 0)
NOTHING_TAKEN = Taken()


def victims(
    held: Sequence[Held],
    retention: Retention,
    *,
    now_ns: int,
    need: Need = NOTHING_NEEDED,
    fixed: Mapping[str, Taken],
    short_bytes: int = 0,
) -> dict[Held, Why]:
    """What has to go, and why: too old first, then over a session's limits, then over all.

    `fixed` is by session what stays whatever goes. `short_bytes` is missing to the floor
    of free space; for that alone, nothing goes that somebody may ask for.
    """
    first_to_go = sorted(held, key=lambda one: (one.live, one.new, one.used_ns, one.ref))
    going: dict[Held, Why] = {one: "age" for one in first_to_go if _is_old(one, retention, now_ns)}
    wanted = Taken(need.bytes, need.count)
    by_session: dict[str, list[Held]] = {need.session: []}
    for one in first_to_go:
        if one not in going:
            by_session.setdefault(one.session, []).append(one)
    for session, mine in by_session.items():
        taken = fixed.get(session, NOTHING_TAKEN)
        if need.session == session:
            taken += wanted
        room = Room(retention.session_bytes, retention.session_count, taken)
        going |= dict.fromkeys(_over(mine, room), "session")
    left = [one for one in first_to_go if one not in going]
    total = Room(retention.total_bytes, retention.total_count, sum(fixed.values(), start=wanted))
    going |= dict.fromkeys(_over(left, total), "total")
    short_bytes -= sum(one.size_bytes for one in going)
    spare = [one for one in first_to_go if one not in going and not one.wanted]
    going |= dict.fromkeys(_first(spare, short_bytes), "space")
    return going


def _is_old(one: Held, retention: Retention, now_ns: int) -> bool:
    if retention.age_s is None or one.wanted:
        return False
    return now_ns - one.used_ns > retention.age_s * 1e9


def _over(held: Iterable[Held], room: Room) -> list[Held]:
    """The first of these that must go so that what is left and what is wanted have room."""
    listed = list(held)
    used = room.taken.bytes + sum(one.size_bytes for one in listed)
    over_bytes = used - room.most_bytes if room.most_bytes is not None else 0
    count = room.taken.count + len(listed)
    over_count = count - room.most_count if room.most_count is not None else 0
    going: list[Held] = []
    freed = 0
    for one in listed:
        share = LIVE_SLACK if one.wanted else SLACK
        more_bytes = (room.most_bytes or 0) // share if over_bytes > 0 else 0
        more_count = (room.most_count or 0) // share if over_count > 0 else 0
        if freed >= over_bytes + more_bytes and len(going) >= over_count + more_count:
            break
        going.append(one)
        freed += one.size_bytes
    return going


def _first(held: Iterable[Held], over_bytes: int) -> list[Held]:
    going: list[Held] = []
    for one in held:
        if over_bytes <= 0:
            break
        going.append(one)
        over_bytes -= one.size_bytes
    return going


WORDS: Mapping[Why, str] = {
    "age": "it was not used for longer than results are kept",
    "session": "its session had more than is kept of one session",
    "total": "there was more than is kept in all",
    "space": "the disk was nearly full",
    "damaged": "its file was damaged",
    "missing": "its file is no longer there",
}
"""Why an original is gone, for its reader."""
