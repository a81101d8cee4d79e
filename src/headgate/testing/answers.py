"""What goes back over the wire: a status and a body, or a stream of events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from headgate.testing.bindings import Bindings
from headgate.testing.mint import Mint, Sealer
from headgate.testing.prompt_cache import BreakpointCache, PrefixCache
from headgate.testing.prompts import Count, Segment
from headgate.testing.refused import Refused
from headgate.testing.replies import Fault, Reply, Request, Usage
from headgate.types import NOTHING

Json: TypeAlias = dict[str, object]

HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, whole; the server sends it, as far as the fault lets it."""

    status: int
    body: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    events: tuple[bytes, ...] | None = None
    """None: the client gets the body. The last event is the one that ends the reply."""
    headers: Mapping[str, str] = field(default_factory=dict)
    usage: Usage | None = None
    fault: Fault | None = None
    error: str = ""
    broken_off: bytes = b""
    """The event that tells of a failure in the middle of a stream."""


@dataclass(slots=True)
class State:
    """All that a stand-in remembers from one request to the next."""

    mint: Mint
    sealer: Sealer
    bindings: Bindings
    clock: Callable[[], float]
    breakpoints: BreakpointCache
    prefixes: PrefixCache
    count_for: Callable[[str], Count]
    """The meter of a model, by its name."""
    delta_chars: int
    stored: dict[str, Json] = field(default_factory=dict)
    """Responses by id, with the items they stand for under `_items`."""


class Api(Protocol):
    """One provider's side of the conversation."""

    @property
    def dialect(self) -> str:
        """Which rules it has."""
        ...

    def admit(self, request: Request) -> None:
        """Refuse what the provider refuses."""
        ...

    def segments(self, request: Request) -> list[Segment]:
        """The prompt as it is billed."""
        ...

    def bill(self, request: Request, segments: Sequence[Segment]) -> Usage:
        """Look the prompt up in the cache."""
        ...

    def render(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        """The reply in the provider's words."""
        ...

    def counted(self, tokens: int) -> Json:
        """The answer of the counting endpoint."""
        ...

    def overflow(self, tokens: int, window_tokens: int) -> Refused:
        """The refusal of a prompt that does not fit."""
        ...

    def error(self, refused: Refused) -> Json:
        """The body of an error."""
        ...

    def break_off(self, refused: Refused, number: int) -> bytes:
        """The event of an error in the middle of a stream, the `number`th from 0."""
        ...


def event(data: Mapping[str, object], name: str = "") -> bytes:
    """One server-sent event; its name where the provider gives it one."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {dumps(data)}\n\n".encode()


def typed_event(data: Mapping[str, object]) -> bytes:
    """One server-sent event that is named by its own type."""
    return event(data, str(data["type"]))


def dumps(value: object) -> str:
    """JSON as the providers write it; half a surrogate pair is escaped, as a model may say one."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def deltas(text: str, chars: int) -> Iterator[str]:
    """A text in the pieces a stream brings it in."""
    for start in range(0, len(text), chars):
        yield text[start : start + chars]


def arguments_of(arguments: Mapping[str, object]) -> str:
    """The arguments of a call as a model writes them."""
    return dumps(dict(arguments))


def objects(value: object) -> list[Json]:
    """The objects of an array; none where it is no array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
