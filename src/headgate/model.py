"""What an agent needs of a model, in words of no provider."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

from headgate.errors import HeadgateError
from headgate.tool import Dialect
from headgate.types import NOTHING, Call, Media, ToolResult

Wire: TypeAlias = dict[str, object]
"""A message, an item, a tool or a whole body, as the provider's dialect has it."""

Stop = Literal["end", "calls", "length", "refusal", "pause"]
"""Why the model stopped; `pause`: it wants to go on where it is."""

NAME_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")
NAME_CHARS: Final = 64
"""The least that any provider takes."""


class ModelError(HeadgateError):
    """The model's answer broke off, or says that it failed; the history is as it was before."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class WindowExceeded(HeadgateError):
    """The history does not fit the model's window, whatever was shortened."""


@dataclass(frozen=True, slots=True)
class Said:
    """The model says something: a piece of its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """All that the model answered."""

    messages: tuple[Wire, ...]
    """What the history goes on with, as it came."""
    text: str
    calls: tuple[Call, ...]
    stop: Stop
    usage: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    """As the provider reports it."""


class Model(Protocol):
    """One model behind one API."""

    @property
    def dialect(self) -> Dialect:
        """The wire format of its histories."""
        ...

    @property
    def name(self) -> str:
        """As the provider calls it."""
        ...

    def body(self, messages: Sequence[Wire], tools: Sequence[Wire]) -> Wire:
        """The request for a history."""
        ...

    def user(self, text: str) -> Wire:
        """A message of the user's."""
        ...

    def answers(self, results: Sequence[ToolResult]) -> list[Wire]:
        """The messages that carry the results of one batch."""
        ...

    def send(self, body: Wire) -> AsyncIterator[Said | Reply]:
        """Ask the model: pieces of its text as they come, then the reply."""
        ...


def object_in(carrier: Mapping[str, object], name: str) -> Wire:
    """An object inside of another; empty where there is none."""
    found = carrier.get(name)
    return found if isinstance(found, dict) else {}


def text_in(carrier: Mapping[str, object], name: str) -> str:
    """A text inside of an object; empty where there is none."""
    found = carrier.get(name)
    return found if isinstance(found, str) else ""


def legal_name(name: str) -> str:
    """The name of a tool as every provider takes it back; a model makes up others now and then."""
    return NAME_ILLEGAL.sub("_", name)[:NAME_CHARS] or "unnamed"


def with_settings(body: Wire, settings: Mapping[str, object]) -> Wire:
    """A request with further fields; None takes one out, and tools come behind those there are."""
    tools = [*_list(body.get("tools")), *_list(settings.get("tools"))]
    merged = {**body, **settings, "tools": tools or None}
    return {name: value for name, value in merged.items() if value is not None}


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def content_of(result: ToolResult, text_type: str = "text") -> object:
    """What a result says: a text, or a list of parts where images or documents are among it."""
    if not any(isinstance(block, Media) for block in result.blocks):
        return result.text
    return [
        block.value if isinstance(block, Media) else {"type": text_type, "text": block.text}
        for block in result.blocks
    ]
