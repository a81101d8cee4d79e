"""What the stand-in is told to answer: pieces of a reply, and ways for it to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from headgate.types import NOTHING

Stop = Literal["end", "calls", "length", "refusal", "pause"]
"""Why the model stopped, in words of no provider."""


@dataclass(frozen=True, slots=True)
class Say:
    """The model says something."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool; several in one reply are parallel calls."""

    tool: str
    arguments: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    id: str = ""
    """Empty: one is made, the same for the same request of the same script."""


@dataclass(frozen=True, slots=True)
class Think:
    """The model reasons; the client sees of it what the provider would show, signed or sealed."""

    text: str
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """A block in the words of the dialect itself, sent as it is: server tools, unknown blocks."""

    block: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Failure:
    """The provider answers with an error; after some events, it breaks off the stream with it."""

    status: int
    message: str = ""
    """Empty: what the provider says for this status."""
    retry_after_s: float | None = None
    after_events: int = 0


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing more comes, and the connection stays open until the client or the stand-in leaves."""

    after_events: int = 0


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset."""

    after_events: int = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """The stream ends early but in good order: the transfer is complete, the reply is not."""

    after_events: int = 0


Piece: TypeAlias = Say | Call | Think | Wire
Fault: TypeAlias = Failure | Stall | Reset | Cut


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model."""

    pieces: tuple[Piece, ...]
    stop: Stop | None = None
    """None: `calls` where there are calls, else `end`."""
    fault: Fault | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls in it, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Call))

    @property
    def text(self) -> str:
        """Everything said aloud."""
        return "".join(piece.text for piece in self.pieces if isinstance(piece, Say))

    @property
    def reason(self) -> Stop:
        """Why the model stopped."""
        return self.stop or ("calls" if self.calls else "end")


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one exchange, as the provider would bill them."""

    input_tokens: int
    """The whole prompt, what was read from the cache included."""
    output_tokens: int = 0
    thinking_tokens: int = 0
    """Of the output."""
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0

    @property
    def cache_write_tokens(self) -> int:
        """What was written to the cache, for whatever time."""
        return self.cache_write_5m_tokens + self.cache_write_1h_tokens

    @property
    def fresh_tokens(self) -> int:
        """What was neither read from the cache nor written to it."""
        return self.input_tokens - self.cache_read_tokens - self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came over the wire, and how it was answered."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    json: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """The parsed body; empty where it is no JSON object. What is in it is the test's to know."""
    dialect: str = ""
    """Empty: a path that no dialect has."""
    model: str = ""
    status: int = 0
    """0: not answered yet."""
    usage: Usage | None = None
    """None: refused, or nothing was counted."""
    error: str = ""
    """The message of the refusal."""

    @property
    def streams(self) -> bool:
        """Whether the client asked for events."""
        return self.json.get("stream") is True or self.path.endswith(":streamGenerateContent")


Scripted: TypeAlias = str | Piece | Sequence[Piece] | Fault | Reply
"""An entry of a script: a text, a piece, the pieces of one reply, a fault, or a whole reply."""

Answering: TypeAlias = Callable[[Request], Scripted]
"""Decides the reply when the request is there."""


def as_reply(item: Scripted) -> Reply:
    """Read one entry of a script."""
    if isinstance(item, Reply):
        return item
    if isinstance(item, str):
        return Reply((Say(item),))
    if isinstance(item, Failure | Stall | Reset | Cut):
        return Reply((Say("This is not the whole answer."),), fault=item)
    if isinstance(item, Say | Call | Think | Wire):
        return Reply((item,))
    return Reply(tuple(item))
