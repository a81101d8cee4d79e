"""What every dialect offers, and what its provider demands of calls and results, as data.

A dialect is a module with the names of `Dialect`. It knows the wire; what is done with a history is
decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from headgate.dialects.heads import Head
from headgate.dialects.history import NEW, History, Message, Part
from headgate.errors import HeadgateError
from headgate.types import ToolResult

MessageReader: TypeAlias = Callable[[bytes, int], Message]
"""Reads one element of the array, given its place."""

Placing = Literal["next", "directly", "anywhere"]
"""Where results stand: as parts of the next user message, as messages directly behind their calls,
or as items anywhere behind them."""


class CannotAnswer(HeadgateError):
    """A call whose result cannot be put in words, such as a screenshot."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a provider demands of calls and results."""

    placing: Placing
    results_first: bool = False
    """Whether nothing may stand before the results in their message."""
    in_call_order: bool = False
    needs_ids: bool = True
    unique_ids: bool = False
    """Whether an id may be used once in a whole request; else once in a step."""
    steps_are_runs: bool = True
    """Whether assistant messages in a row are one step of the model; else each is its own."""
    id_illegal: re.Pattern[str] | None = None
    """A character that no id may have."""
    id_chars: int | None = None
    """How long an id may be."""
    fills_messages: bool = False
    """Whether a message without parts is refused."""
    may_end_empty: bool = False
    """Whether the last message, if it is the assistant's, may be without parts all the same."""
    alternates: bool = False
    """Whether two messages of one role in a row are refused."""
    rewrites_held: bool = True
    """Whether a request may be changed whose beginning the provider remembers."""


class Dialect(Protocol):
    """One wire format."""

    @property
    def name(self) -> str:
        """As `--dialect` names it."""
        ...

    @property
    def rules(self) -> Rules:
        """What the provider demands."""
        ...

    @property
    def prefix_settings(self) -> tuple[str, ...]:
        """The settings that the model reads before the messages."""
        ...

    def read(
        self, body: bytes, reader: MessageReader | None = None, head: Head | None = None, /
    ) -> History:
        """Take a request body or a bare array apart; raises `HistoryError` with the place.

        `reader` stands in for `message`, where somebody remembers messages of earlier requests, and
        `head` is what the body begins with, where that was read before.
        """
        ...

    def write(self, history: History, /) -> bytes:
        """Put it together again; the very same bytes if nothing was changed."""
        ...

    def message(self, raw: bytes, at: int = NEW, /) -> Message:
        """Read one element of the array, which stood at this place."""
        ...

    def with_parts(self, message: Message, parts: Sequence[Part], /) -> Message:
        """The message with other parts, all its other bytes as they are."""
        ...

    def carrying(self, parts: Sequence[Part], /) -> list[Message]:
        """New messages for these results, or one of the user's for parts that are no results."""
        ...

    def result(self, call: Part, text: str, /, *, is_error: bool) -> Part:
        """A new result for a call; raises `CannotAnswer` where words are none."""
        ...

    def user_text(self, text: str, /) -> Part:
        """A new text of the user's."""
        ...

    def with_text(self, part: Part, text: str, /) -> Part:
        """A result that says something else; its other fields and its media stay."""
        ...

    def with_id(self, part: Part, call_id: str, /) -> Part:
        """A call or a result under another id."""
        ...

    def answering(self, result: Part, call: Part, /) -> Part:
        """The result with all that must match its call; the very same part if it does."""
        ...

    def tool_result(self, part: Part, call: Part | None, /) -> ToolResult:
        """A result as the gate takes it, with the arguments of its call."""
        ...
