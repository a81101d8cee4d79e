"""What happens in a turn, as records, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from headgate.agent.ladder import Overflowed
from headgate.events import CallEnded, CallLeft, GuardTripped, Progress
from headgate.history.usage import Usage, usage_of
from headgate.model import Reply, Said, Wire
from headgate.types import Call, ShownResult

Reason = Literal["end", "halted", "length", "refusal", "cancelled"]

NO_USAGE = Usage()

Prompt: TypeAlias = str | Wire
"""What the user says: a text, or a whole message as the provider has it, with images say."""


@dataclass(frozen=True, slots=True)
class Called:
    """The model asks for tools."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the model sees for the calls of a batch, in their order."""

    results: tuple[ShownResult, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What became of a turn."""

    text: str = ""
    """What the model said last; why the turn was halted, if it was."""
    reason: Reason = "end"
    requests: int = 0
    calls: int = 0
    usage: Usage = NO_USAGE

    def after(self, reply: Reply) -> Turn:
        """The turn with one more reply."""
        used, more = self.usage, usage_of(reply.usage) or NO_USAGE
        usage = Usage(
            used.input_tokens + more.input_tokens,
            used.cache_creation_tokens + more.cache_creation_tokens,
            used.cache_read_tokens + more.cache_read_tokens,
            used.output_tokens + more.output_tokens,
        )
        calls = self.calls + len(reply.calls)
        return Turn(reply.text, self.reason, self.requests + 1, calls, usage)


AgentEvent: TypeAlias = (
    Said | Called | Progress | CallEnded | CallLeft | Answered | GuardTripped | Overflowed | Turn
)
Listener: TypeAlias = Callable[[AgentEvent], None]
