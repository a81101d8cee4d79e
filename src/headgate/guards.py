"""Loop guards: when a model calls in circles, it is warned, refused, or stopped.

What is decided follows from the calls of the turn and the digests of their results, nothing else:
no clock, no history. So compaction cannot make a guard forget, and the same calls end the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from headgate.guard_rules import ACTIONS, Action, GuardRule, Guards, RuleName

ERROR_CHARS: Final = 2_000
"""How much of an error's text tells it from others: what comes later is mostly the same trace."""

SHORTEST_VALUE: Final = 3
"""An argument shorter than this is not looked for in an error: it would be found everywhere."""

VOLATILE: Final = re.compile(r"0[xX][0-9a-fA-F]+|\b[0-9a-fA-F]{8,}\b|\d+")
"""Numbers, addresses and ids differ between two tries that fail alike."""

QUOTED: Final = re.compile(r"\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|`[^`\n]{1,200}`")


class TurnBegan(msgspec.Struct, frozen=True, array_like=True, tag="turn", gc=False):
    """The user spoke: all counts begin again."""


class Asked(msgspec.Struct, frozen=True, array_like=True, tag="asked", gc=False):
    """A call, as far as a guard looks at it."""

    tool: str
    call: bytes
    """Digest of tool and canonical arguments."""
    ref: str = ""
    """The kept result that it reads."""
    refused: str = ""
    """The rule by which it was not run."""


class Answered(msgspec.Struct, frozen=True, array_like=True, tag="answered", gc=False):
    """What came back for a call that was run."""

    tool: str
    call: bytes
    result: bytes
    """Digest of the original."""
    error: bytes = b""
    """What tells its error from others; empty: it is none."""


Noted: TypeAlias = TurnBegan | Asked | Answered


ENDS: Final = "The turn ends here; the user is told."


@dataclass(frozen=True, slots=True)
class Trip:
    """A rule was tripped by a call."""

    rule: RuleName
    action: Action
    tool: str
    count: int
    most: int
    ref: str = ""
    is_behind: bool = False
    """Whether it was a call before this one in the batch."""

    @property
    def text(self) -> str:
        """What the model reads of it."""
        if self.is_behind:
            return f"Not run: a call before it in the batch went too far. {ENDS}"
        counts = {"count": self.count, "earlier": self.count - 1}
        what = WHAT[self.rule].format(tool=self.tool, ref=self.ref, **counts)
        if self.action == "warn":
            return f"[guard: {what}. {ADVICE[self.rule]}]"
        if self.action == "block":
            return f"Not run: {what}; {self.most} are allowed. {ADVICE[self.rule]}"
        return f"Not run: {what}; {self.most} are allowed. {ENDS}"


@dataclass(slots=True)
class Repeats:
    """One call and its repetitions in a turn."""

    count: int = 0
    unchanged: int = 0
    """How many since its result last changed, the call that showed the change included."""
    result: bytes = b""
    has_changed: bool = False


@dataclass(slots=True)
class Failures:
    """The failures of one tool, one after another."""

    error: bytes
    count: int = 1
    refused: bool = False
    """Whether the last call was refused for them: the next one is a try."""


@dataclass(slots=True)
class Tally:
    """What a turn has come to: made by counting all that was noted, in order."""

    calls: int = 0
    tools: dict[str, int] = field(default_factory=dict)
    repeats: dict[bytes, Repeats] = field(default_factory=dict)
    failures: dict[str, Failures] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    row_call: bytes = b""
    row: int = 0

    def ask(self, asked: Asked) -> None:
        """Count a call."""
        self.calls += 1
        if asked.ref:
            self.reads[asked.ref] = self.reads.get(asked.ref, 0) + 1
        else:
            self.tools[asked.tool] = self.tools.get(asked.tool, 0) + 1
        repeats = self.repeats.setdefault(asked.call, Repeats())
        repeats.count += 1
        repeats.unchanged += 1
        self.row = self.row + 1 if asked.call == self.row_call else 1
        self.row_call = asked.call
        failures = self.failures.get(asked.tool)
        if failures is not None:
            failures.refused = asked.refused == "same_error"

    def answer(self, answered: Answered) -> None:
        """Count what came back."""
        repeats = self.repeats.setdefault(answered.call, Repeats(count=1, unchanged=1))
        if repeats.result and repeats.result != answered.result:
            repeats.unchanged, repeats.has_changed = 1, True
            if self.row_call == answered.call:
                self.row = 1
        repeats.result = answered.result
        self._fail(answered)

    def _fail(self, answered: Answered) -> None:
        failures = self.failures.get(answered.tool)
        if not answered.error:
            self.failures.pop(answered.tool, None)
        elif failures is not None and failures.error == answered.error:
            failures.count += 1
        else:
            self.failures[answered.tool] = Failures(answered.error)


def counted(tally: Tally, noted: Noted) -> Tally:
    """The tally after one more thing; a turn begins with nothing counted."""
    if isinstance(noted, TurnBegan):
        return Tally()
    if isinstance(noted, Asked):
        tally.ask(noted)
    else:
        tally.answer(noted)
    return tally


def tripped(tally: Tally, asked: Asked, guards: Guards) -> Trip | None:
    """What a call would be met with after all that was counted: the worst of all rules."""
    worst: Trip | None = None
    for name, count in _counts(tally, asked).items():
        rule: GuardRule = getattr(guards, name)
        action = rule.action(count)
        if action is not None and (worst is None or _worse(action, worst.action)):
            most = getattr(rule, action)
            worst = Trip(name, action, asked.tool, count, most, asked.ref)
    return worst


def _counts(tally: Tally, asked: Asked) -> dict[RuleName, int]:
    """What each rule would count with this call; a rule that does not apply is left out."""
    repeats = tally.repeats.get(asked.call, NONE_YET)
    counts: dict[RuleName, int] = {"calls": tally.calls + 1, "identical": repeats.unchanged + 1}
    if asked.call == tally.row_call:
        counts["in_a_row"] = tally.row + 1
    if repeats.has_changed:
        counts["polling"] = repeats.count + 1
    if asked.ref:
        counts["reads"] = tally.reads.get(asked.ref, 0) + 1
    else:
        counts["same_tool"] = tally.tools.get(asked.tool, 0) + 1
    failures = tally.failures.get(asked.tool)
    if failures is not None and not failures.refused:
        counts["same_error"] = failures.count + 1
    return counts


NONE_YET: Final = Repeats()


def _worse(action: Action, than: Action) -> bool:
    return ACTIONS.index(action) > ACTIONS.index(than)


def call_digest(tool: str, arguments: Mapping[str, object]) -> bytes:
    """What two identical calls share: the order of keys, nulls and 1.0 for 1 do not matter."""
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        canonical = json.dumps(_plain(given), sort_keys=True, default=repr)
    except RecursionError:
        canonical = "nested too deep to be told from others"
    return _digest(f"{tool}\0{canonical}")


def error_digest(tool: str, text: str, arguments: Mapping[str, object]) -> bytes:
    """What two failures of a tool share although their arguments differ."""
    told = text[:ERROR_CHARS]
    values = {str(value) for value in arguments.values() if isinstance(value, str | int | float)}
    for value in sorted(values, key=lambda value: (-len(value), value)):
        if len(value) >= SHORTEST_VALUE:
            told = told.replace(value, "…")
    told = VOLATILE.sub("#", QUOTED.sub("…", told))
    return _digest(f"{tool}\0{' '.join(told.split())}")


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


WHAT: Final[Mapping[RuleName, str]] = MappingProxyType(
    {
        "calls": "this is call {count} of the turn",
        "same_tool": "this is call {count} of {tool} in the turn",
        "in_a_row": "this is call {count} of {tool} in a row with the same arguments, "
        "and its result has not changed",
        "identical": "this is call {count} of {tool} with the same arguments, "
        "and its result has not changed",
        "polling": "this is call {count} of {tool} with the same arguments in the turn",
        "same_error": "the last {earlier} calls of {tool} failed with the same error",
        "reads": "this is read {count} of result {ref} in the turn",
    }
)

ADVICE: Final[Mapping[RuleName, str]] = MappingProxyType(
    {
        "calls": "If this is not getting closer to an answer, stop and say what is missing.",
        "same_tool": "If this is not getting closer to an answer, try another way or stop.",
        "in_a_row": "The earlier result still holds: use it, change the arguments, or stop.",
        "identical": "The earlier result still holds: use it, change the arguments, or stop.",
        "polling": "If it is not done soon, say what is being waited for and stop.",
        "same_error": "Other arguments do not help: find the cause first, or say what is missing.",
        "reads": "Search it for what is needed instead of reading all of it.",
    }
)
