"""What a policy says of calls in circles: rules as data, light enough for every command to load."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final, Literal, get_args

from headgate.errors import PolicyError

Action = Literal["warn", "block", "halt"]
RuleName = Literal["calls", "same_tool", "in_a_row", "identical", "polling", "same_error", "reads"]
ACTIONS: tuple[Action, ...] = get_args(Action)
RULES: tuple[RuleName, ...] = get_args(RuleName)


@dataclass(frozen=True, slots=True)
class GuardRule:
    """How many are let through before something is done; None: it is never done.

    The call after the number trips: `halt=20` lets twenty through and stops at the next one.
    """

    warn: int | None = None
    """From here on the model is told; again each time as many have come again."""
    block: int | None = None
    """From here on a call is not run, and its result says why."""
    halt: int | None = None
    """From here on the turn ends."""

    def __post_init__(self) -> None:
        steps = [(action, getattr(self, action)) for action in ACTIONS]
        given = [(action, most) for action, most in steps if most is not None]
        for action, most in given:
            if not isinstance(most, int) or isinstance(most, bool) or most < 1:
                raise PolicyError(f"{action} is {most!r}; it takes a whole number from 1 on")
        for (first, fewer), (then, more) in pairwise(given):
            if fewer >= more:
                raise PolicyError(
                    f"{first} is {fewer} and {then} is {more}; each comes later than the one before"
                )

    def action(self, count: int) -> Action | None:
        """What the call is met with that makes it `count`."""
        if self.halt is not None and count > self.halt:
            return "halt"
        if self.block is not None and count > self.block:
            return "block"
        if self.warn is not None and count > self.warn and (count - 1) % self.warn == 0:
            return "warn"
        return None


@dataclass(frozen=True, slots=True)
class Guards:
    """A policy's word on calls in circles. All numbers are for one turn."""

    calls: GuardRule = GuardRule(warn=100)
    """Calls in all."""
    same_tool: GuardRule = GuardRule(warn=50)
    """Calls of one tool, whatever the arguments."""
    in_a_row: GuardRule = GuardRule(warn=3)
    """Identical calls with nothing in between and the same result."""
    identical: GuardRule = GuardRule(warn=5)
    """Identical calls with the same result, whatever came in between."""
    polling: GuardRule = GuardRule(warn=30)
    """Identical calls whose result changes: somebody waits for something."""
    same_error: GuardRule = GuardRule(warn=3)
    """Calls of one tool that fail alike one after another, whatever the arguments."""
    reads: GuardRule = GuardRule(warn=20)
    """Reads of one kept result."""


NO_GUARDS: Final = Guards(*(GuardRule() for _ in fields(Guards)))
