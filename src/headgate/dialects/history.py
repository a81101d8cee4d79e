"""A history as values: messages and their parts, each with the very bytes it came as.

The roles are the same words in every dialect: `assistant`, `user`, `tool`, `system`. The bytes keep
the dialect's own.

Parts and messages are structs and no dataclasses: a request makes thousands of them, and a frozen
dataclass takes many times as long to make. Parts are views into the bytes of their message: copies
of all that the tools said would cost more than reading it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import msgspec

PartKind = Literal[
    "text", "call", "result", "thinking", "media", "server_call", "server_result", "other"
]
Form = Literal["body", "array"]
Slice: TypeAlias = bytes | msgspec.Raw
"""JSON as it stands in a message, not copied; `bytes(slice)` copies."""

NEW = -1
"""The place of what did not stand in the history that was read."""


class Part(msgspec.Struct, frozen=True, gc=False):
    """One piece of a message: what it is, and its bytes."""

    kind: PartKind
    raw_view: Slice
    wire: str = ""
    """Its type in the dialect's words; empty for content that is a plain string."""
    call_id: str = ""
    """Of a call and its result. Empty: the history gives none."""
    name: str = ""
    """The tool, where the part names it."""
    value_view: Slice = b""
    """Of what counts: a text, a call's arguments, what a result says. Empty: not there."""
    is_error: bool = False
    is_marked: bool = False
    """Whether it carries a cache mark; what it holds may carry others."""
    at: int = NEW
    """Its place in the list it stands in."""

    @property
    def raw(self) -> bytes:
        """The bytes it came as."""
        return bytes(self.raw_view)

    @property
    def value(self) -> bytes:
        """The bytes of what counts."""
        return bytes(self.value_view)

    @property
    def opening(self) -> bytes:
        """The first byte of what counts, which says what type it is."""
        return bytes(memoryview(self.value_view)[:1])

    def elsewhere(self) -> Part:
        """The same part, to be put into another message."""
        return msgspec.structs.replace(self, at=NEW)


class Message(msgspec.Struct, frozen=True, gc=False):
    """One element of the history's array."""

    role: str
    raw: bytes
    parts: tuple[Part, ...]
    message_id: str = ""
    """Shared by the fragments of one response, where the client keeps it."""
    item_id: str = ""
    """The provider's own id of the element, in dialects whose elements have one."""
    is_odd: bool = False
    """Whether strict JSON refuses it: half a surrogate pair, NaN, thousands of levels."""
    at: int = NEW
    """Its place in the array that was read."""

    @property
    def has_thinking(self) -> bool:
        """Whether the provider may compare it with what it once said."""
        return any(part.kind == "thinking" for part in self.parts)

    def of_kind(self, *kinds: PartKind) -> list[Part]:
        """Its parts of these kinds, in order."""
        return [part for part in self.parts if part.kind in kinds]


@dataclass(frozen=True, slots=True)
class History:
    """The messages of the next request, in the dialect they are sent in."""

    dialect: str
    key: str
    """What the array is called: `messages`, `input`, `contents`."""
    body: bytes
    """As it was read, whatever was changed since."""
    form: Form
    messages: tuple[Message, ...]
    settings: Mapping[str, bytes]
    """What stands beside the messages and matters to them: model, system, tools, thinking."""
    read_messages: tuple[Message, ...]
    read_settings: Mapping[str, bytes]
    model: str = ""
    server_held: bool = False
    """Whether the provider remembers earlier messages that are not in here."""
    starts: tuple[int, ...] | None = field(default=None, compare=False, repr=False)
    """Where each message that was read begins in the body, where somebody looked."""
    links: tuple[bytes, ...] = field(default=(), compare=False, repr=False)
    """The chain of the messages that were read, where somebody made it."""

    @property
    def is_as_read(self) -> bool:
        """Whether nobody put anything else into it."""
        return self.messages is self.read_messages and self.settings is self.read_settings

    @property
    def is_unchanged(self) -> bool:
        """Whether it is what was read."""
        same = self.messages is self.read_messages or (
            len(self.messages) == len(self.read_messages)
            and all(
                now is then for now, then in zip(self.messages, self.read_messages, strict=True)
            )
        )
        return same and self.settings == self.read_settings

    def with_messages(self, messages: tuple[Message, ...]) -> History:
        """The same request with other messages."""
        return replace(self, messages=messages)

    def with_setting(self, name: str, value: bytes) -> History:
        """The same request with another setting."""
        return replace(self, settings={**self.settings, name: value})

    def where(self, message: Message) -> str:
        """The place of a message, as an error names it: `messages[7]`."""
        return self.key if message.at == NEW else f"{self.key}[{message.at}]"
