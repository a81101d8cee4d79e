"""What a repair did, fix by fix: loud, counted, and with whatever it took out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from headgate.dialects.dialect import Dialect
from headgate.dialects.history import History, Message, Part
from headgate.errors import HeadgateError
from headgate.policy import Twins

FixKind = Literal[
    "missing",  # a call without result is told to have been interrupted
    "restored",  # a call without result gets the real one, which was known
    "orphan",  # a result without call is taken out
    "duplicate",  # a call or a result that was there already is taken out
    "late",  # a result that came after the conversation had gone on is taken out
    "moved",  # a result or what parted it from its call is put where it belongs
    "renamed",  # an id is made legal or unique, on both sides
    "matched",  # a result is made to name its call
    "blank",  # text that shows nothing is taken out
    "empty",  # a message without content is taken out or filled
    "content",  # content of a type that is refused is rewritten
    "hoisted",  # media are moved out of a result that may only hold text
    "server",  # a half of a server tool's pair is taken out
    "reasoning",  # reasoning without what it produced is taken out
    "item",  # an item's own id is taken out
    "split",  # too many calls in one message become several messages
    "merged",  # messages of one role in a row become one
    "cache",  # cache marks over the limit are taken out
    "surrogate",  # halves of surrogate pairs become U+FFFD
    "signature",  # a call without signature is marked as one
    "thinking",  # thinking is switched off for this request
    "tail",  # a message of the user's is put at the end or the beginning
]


class Asked(NamedTuple):
    """A call and where it stands: ids come back, so an id alone says nothing."""

    call: Part
    """As it goes out."""
    links: frozenset[bytes]
    """The chain where its result may stand; empty: nobody knows it."""
    came_as: str = ""
    """The id it came with, if no call before it has that; else nothing."""


class Real(NamedTuple):
    """The real result of a call."""

    text: str
    is_error: bool = False


Known: TypeAlias = Callable[[Asked], Real | None]
"""What is known to be the real result of a call."""

Interrupted: TypeAlias = Callable[[Asked], bool]
"""Whether a call was once sent as interrupted."""

Spoken: TypeAlias = Callable[[Part, Part], bool]
"""Whether a call was once sent as interrupted, and another was not there yet."""


class Unrepairable(HeadgateError):
    """A history that could only be mended by changing what must stay as it is."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing that was mended."""

    kind: FixKind
    where: str
    """In the history as it came: `messages[7]`."""
    what: str
    """One sentence, for people."""
    call_id: str = ""
    removed: Part | None = None
    """A result that was taken out, so that it can be kept elsewhere."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what} ({self.kind})"


@dataclass(frozen=True, slots=True)
class Repaired:
    """A history that its provider accepts, and what was done for it."""

    history: History
    fixes: tuple[Fix, ...] = ()
    gave_up: str = ""
    """Why it goes out as it came; empty if it is repaired."""

    @property
    def counts(self) -> Mapping[FixKind, int]:
        """How many fixes of each kind."""
        return Counter(fix.kind for fix in self.fixes)


@dataclass(frozen=True, slots=True)
class Case:
    """What every step of a repair knows beside the history."""

    dialect: Dialect
    pending: bool = False
    known: Known | None = None
    interrupted: Interrupted | None = None
    twins: Twins = "alike"
    spoken: Spoken | None = None

    def edited(self, message: Message, parts: list[Part]) -> Message:
        """The message with these parts; itself if they are its own, never one with thinking."""
        if len(parts) == len(message.parts) and all(
            new is old for new, old in zip(parts, message.parts, strict=True)
        ):
            return message
        if message.role == "assistant" and message.has_thinking:
            raise Unrepairable("an assistant message with thinking would have to be changed")
        return self.dialect.with_parts(message, parts)
