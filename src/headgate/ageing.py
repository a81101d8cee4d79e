"""When old results shrink, and by how much: decided from sizes and ages alone.

Ageing changes bytes that were sent before, so it happens in rare epochs, each of which goes far
enough that the next is a long way off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headgate.economy import Prices, pays
from headgate.errors import PolicyError
from headgate.types import Amount, ToolClass, tokens

Step = Literal[1, 2]
"""Head and tail; one line."""


@dataclass(frozen=True, slots=True)
class Ageing:
    """A policy's word on old results."""

    high: float | None = 0.75
    """The share of the window in use at which an epoch opens; None: pressure does not count."""
    low: float = 0.5
    """How far down an epoch goes."""
    turns: tuple[int, int] | None = None
    """Turns after which a result keeps its ends, then one line; None: turns do not count."""
    pays_from_tokens: int | None = None
    """From this size of a history on an epoch opens as soon as what it takes away pays for the
    rewrite of the rest; None: it never does by itself."""
    idle: bool = False
    """Whether an epoch may open when the provider's cache has gone cold."""
    least: Amount = tokens(500)
    """A smaller result does not age."""
    keep_last: int = 4
    """The newest results, which do not age."""
    spared: tuple[ToolClass, ...] = ("write", "exec", "pinned")
    head: Amount = tokens(400)
    tail: Amount = tokens(100)
    """What the first step keeps."""
    weigh: bool = True
    """Whether an epoch that nothing forces must pay for the rewrite of what was cached."""
    under_thinking: bool = False
    """Whether results before a bound thinking block may age."""

    def __post_init__(self) -> None:
        for name in ("high", "low"):
            share = getattr(self, name)
            if share is not None and not 0 <= share <= 1:
                raise PolicyError(f"ageing.{name} is {share}; it is a share, from 0 to 1")
        if self.turns is not None and not (
            len(self.turns) == 2 and 1 <= self.turns[0] <= self.turns[1]
        ):
            raise PolicyError(f"ageing.turns is {self.turns}; it takes two, as in [2, 4]")
        for name in ("keep_last", "pays_from_tokens"):
            count = getattr(self, name)
            if count is not None and count < 0:
                raise PolicyError(f"ageing.{name} is {count}; it cannot be below 0")


@dataclass(frozen=True, slots=True)
class Old:
    """A result as it stands in a history now."""

    message: int
    turns: int
    """How many turns ago it came."""
    tool_class: ToolClass | None
    size: int
    step: Literal[0, 1, 2]
    """How far it has aged."""
    is_bound: bool
    """Whether a bound thinking block stands behind it."""


@dataclass(frozen=True, slots=True)
class Use:
    """How full the window is, and what the cache stands to lose."""

    used: int
    window: int | None
    sizes: Sequence[int]
    """Of each message, in order."""
    requests: int
    """How many the conversation has made."""
    is_cold: bool
    prices: Prices
    per_token: float = 1.0
    """What a token of the results is in the unit of their sizes."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What ages now, and why; `moves` are places in the list of results and the step each takes."""

    moves: tuple[tuple[int, Step], ...]
    why: str


NO_EPOCH = Epoch((), "")
LINE_SIZE = 60
"""What the one line of the second step measures, about."""


def pressing(ageing: Ageing, used: int, window: int | None, *, is_cold: bool) -> str:
    """Why an epoch opens before results are old; empty: nothing presses."""
    if not window:
        return ""
    if ageing.high is not None and used >= ageing.high * window:
        return "the window is filling up"
    if ageing.idle and is_cold and used > ageing.low * window:
        return "the cache is cold"
    return ""


def epoch(results: Sequence[Old], use: Use, ageing: Ageing) -> Epoch:
    """Decide whether an epoch opens, and what ages in it."""
    able = [i for i, old in enumerate(results) if _may_age(i, old, len(results), ageing)]
    why = pressing(ageing, use.used, use.window, is_cold=use.is_cold)
    if why and use.window:
        target = int((use.used - ageing.low * use.window) * use.per_token)
        return Epoch(_until(able, results, target, ageing), why)
    if ageing.turns is not None:
        moves = _by_turns(able, results, ageing.turns)
        if moves and (not ageing.weigh or use.is_cold or _worth_it(moves, results, use, ageing)):
            return Epoch(moves, "results are old")
    if ageing.pays_from_tokens is not None and use.used >= ageing.pays_from_tokens:
        moves = tuple((i, 2) for i in able if _saving(results[i], 2, ageing) > 0)
        if moves and (use.is_cold or _worth_it(moves, results, use, ageing)):
            return Epoch(moves, "it pays")
    return NO_EPOCH


def size_after(step: int, size: int, ageing: Ageing) -> int:
    """What a result measures after a step, at most."""
    kept = ageing.head.count + ageing.tail.count if step == 1 else LINE_SIZE
    return min(size, kept)


def _may_age(place: int, old: Old, count: int, ageing: Ageing) -> bool:
    newest = place >= count - ageing.keep_last
    spared = old.tool_class in ageing.spared
    bound = old.is_bound and not ageing.under_thinking
    # One that has aged was large enough when it did.
    is_large = old.step == 1 or old.size >= ageing.least.count
    return is_large and not newest and not spared and not bound and old.step < 2


def _until(
    able: Sequence[int], results: Sequence[Old], target: int, ageing: Ageing
) -> tuple[tuple[int, Step], ...]:
    """Age the oldest first, gently as long as that is enough, until `target` is freed."""
    gentle = _freed(able, results, 1, target, ageing)
    if sum(_saving(results[i], 1, ageing) for i, _ in gentle) >= target:
        return gentle
    return _freed(able, results, 2, target, ageing)


def _freed(
    able: Sequence[int], results: Sequence[Old], step: Step, target: int, ageing: Ageing
) -> tuple[tuple[int, Step], ...]:
    moves: list[tuple[int, Step]] = []
    for i in able:
        if target <= 0:
            break
        saving = _saving(results[i], step, ageing)
        if results[i].step < step and saving > 0:
            moves.append((i, step))
            target -= saving
    return tuple(moves)


def _by_turns(
    able: Sequence[int], results: Sequence[Old], turns: tuple[int, int]
) -> tuple[tuple[int, Step], ...]:
    moves: list[tuple[int, Step]] = []
    for i in able:
        old = results[i]
        if old.turns >= turns[1]:
            moves.append((i, 2))
        elif old.turns >= turns[0] and old.step < 1:
            moves.append((i, 1))
    return tuple(moves)


def _worth_it(
    moves: Sequence[tuple[int, Step]], results: Sequence[Old], use: Use, ageing: Ageing
) -> bool:
    removed = sum(_saving(results[i], step, ageing) for i, step in moves)
    first = min(results[i].message for i, _ in moves)
    behind = int(sum(use.sizes[first:]) * use.per_token)
    return pays(removed, behind - removed, use.requests, use.prices)


def _saving(old: Old, step: Step, ageing: Ageing) -> int:
    return old.size - size_after(step, old.size, ageing)
