"""What each message of a history consists of, by component, looked at once and remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from xxhash import xxh3_128_digest

from headgate.dialects.dialect import Dialect
from headgate.dialects.history import History, Message, Part
from headgate.dialects.spans import fields_of, text_of
from headgate.history.makeup import Makeup, fixed, makeup_of, total
from headgate.measure.estimates import MEDIA_TOKENS
from headgate.slices import NotJson
from headgate.types import Media, Meter
from headgate.values import value_of

Component = Literal[
    "system",
    "tools",
    "user",
    "assistant",
    "thinking",
    "calls",
    "results",
    "images",
    "documents",
    "other",
]

MESSAGE_TOKENS = 4
"""What the wire adds around one message: its role, its beginning and its end."""

SEALED_BYTES_PER_TOKEN = 16 / 3
"""Thinking that the provider sealed: base64 of about four bytes a token."""

CACHED_MESSAGES = 8_192
"""Of each of two generations; a tally is a few hundred bytes. A longer history is held whole."""

_DOCUMENT = re.compile(r"document|file", re.IGNORECASE)
_SEALED = ("data", "encrypted_content", "signature", "thoughtSignature", "thought_signature")
_SAID = ("thinking", "text")

ROLES: Mapping[str, Component] = MappingProxyType(
    {"system": "system", "user": "user", "assistant": "assistant"}
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One component's piece of a message."""

    component: Component
    makeup: Makeup
    call_id: str = ""
    """Of a result: the tool that made it is known by its call, which stands in another message."""
    tool: str = ""


class Tally(NamedTuple):
    """All pieces of a message, or of what stands before them, and what they are made of."""

    entries: tuple[Entry, ...]
    makeup: Makeup


def tally_of(entries: Iterable[Entry]) -> Tally:
    """Put pieces together."""
    held = tuple(entries)
    return Tally(held, total(entry.makeup for entry in held))


class CountCache:
    """Tallies by the bytes of their messages, the most recently used of them.

    A history that grew by two messages has two messages counted.
    """

    def __init__(self, messages: int = CACHED_MESSAGES) -> None:
        self._least = self._most = messages
        self._young: dict[bytes, Tally] = {}
        self._old: dict[bytes, Tally] = {}

    def hold(self, messages: int) -> None:
        """Make room for all messages of one history, or it would drive itself out."""
        self._most = max(self._least, messages)

    def find(self, key: bytes) -> Tally | None:
        """What was remembered."""
        known = self._young.get(key)
        if known is not None:
            return known
        known = self._old.get(key)
        if known is not None:
            self.keep(key, known)
        return known

    def keep(self, key: bytes, tally: Tally) -> None:
        """Remember; what was not asked for since the last generation is forgotten."""
        if len(self._young) >= self._most:
            self._old, self._young = self._young, {}
        self._young[key] = tally

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())


@dataclass(frozen=True, slots=True)
class Teller:
    """Looks at messages of one dialect with one meter."""

    dialect: Dialect
    meter: Meter
    media_tokens: int = MEDIA_TOKENS
    message_tokens: int = MESSAGE_TOKENS
    cache: CountCache | None = None
    dense: frozenset[str] = frozenset()
    """The calls whose results are counted with another meter."""
    dense_meter: Meter | None = None
    costs: bytes = field(init=False)
    """All that a tally depends on beside its message."""

    def __post_init__(self) -> None:
        costs = f"{self.media_tokens} {self.message_tokens}"
        key = f"{self.dialect.name} {self.meter.name} {costs} ".encode()
        object.__setattr__(self, "costs", key)

    def settings(self, history: History) -> Tally:
        """What the model reads before the messages, or in their place."""
        entries = [
            self._remembered(raw, "tools" if name == "tools" else "system")
            for name in self.dialect.prefix_settings
            if (raw := history.settings.get(name, b"null")) != b"null"
        ]
        if history.key in history.settings:
            entries.append(Entry("user", Makeup(tokens=self.message_tokens)))
            entries.append(Entry("user", self._of_text(_said(history.settings[history.key]))))
        return tally_of(entries)

    def message(self, message: Message) -> Tally:
        """The pieces of one message."""
        if self.cache is None:
            return tally_of(self._entries(message))
        key = self.costs + xxh3_128_digest(message.raw)
        if self.dense:
            key += b"".join(b"%d" % (part.call_id in self.dense) for part in message.parts)
        known = self.cache.find(key)
        if known is None:
            known = tally_of(self._entries(message))
            self.cache.keep(key, known)
        return known

    def _remembered(self, raw: bytes, component: Component) -> Entry:
        key = self.costs + xxh3_128_digest(raw) + component.encode()
        if self.cache is not None and (known := self.cache.find(key)):
            return known.entries[0]
        text = _said(raw) if component == "tools" else _system_text(raw)
        entry = Entry(component, self._of_text(text))
        if self.cache is not None:
            self.cache.keep(key, tally_of([entry]))
        return entry

    def _of_text(self, text: str, call_id: str = "") -> Makeup:
        is_dense = bool(call_id) and call_id in self.dense
        return makeup_of(text, self.dense_meter if is_dense and self.dense_meter else self.meter)

    def _entries(self, message: Message) -> Iterator[Entry]:
        # A message that is a result has its wrapping counted with the result.
        if message.role != "tool":
            yield Entry(ROLES.get(message.role, "other"), Makeup(tokens=self.message_tokens))
        for part in message.parts:
            yield from self._part(part, message.role)

    def _part(self, part: Part, role: str) -> Iterator[Entry]:
        if part.kind == "text":
            yield Entry(ROLES.get(role, "other"), self._of_text(_said(part.value)))
        elif part.kind == "call":
            makeup = self._of_text(f"{part.name}\n{_said(part.value)}")
            yield Entry("calls", makeup, part.call_id, part.name)
        elif part.kind == "result":
            yield from self._result(part)
        elif part.kind == "thinking":
            yield Entry("thinking", self._thinking(part.raw))
        elif part.kind == "media":
            yield Entry(_medium(part.wire), fixed(self.media_tokens))
        else:
            yield Entry("other", self._opaque(part.raw))

    def _result(self, part: Part) -> Iterator[Entry]:
        made = [Makeup(results=1)]
        for block in self.dialect.tool_result(part, None).blocks:
            if not isinstance(block, Media):
                made.append(self._of_text(block.text, part.call_id))
            elif block.kind == "opaque":
                made.append(fixed(self.media_tokens))
            else:
                component: Component = "images" if block.kind == "image" else "documents"
                yield Entry(component, fixed(self.media_tokens))
        yield Entry("results", total(made), part.call_id, part.name)

    def _thinking(self, raw: bytes) -> Makeup:
        """What was thought, where it can be read; else what the length of its seal suggests."""
        try:
            fields = fields_of(raw)
        except NotJson:
            return self._opaque(raw)
        said = "\n".join(_said(fields[name]) for name in _SAID if fields.get(name, b"")[:1] == b'"')
        if "summary" in fields and "encrypted_content" not in fields:
            said += _said(fields["summary"])
        if said.strip():
            return self._of_text(said)
        sealed = sum(len(fields.get(name, b"")) for name in _SEALED)
        return Makeup(tokens=round(sealed / SEALED_BYTES_PER_TOKEN))

    def _opaque(self, raw: bytes) -> Makeup:
        """A block we do not know: its text if that is short, the fixed cost if not."""
        if len(raw) > self.media_tokens * 8:
            return fixed(self.media_tokens)
        makeup = self._of_text(raw.decode("utf-8", "backslashreplace"))
        return makeup if makeup.tokens < self.media_tokens else fixed(self.media_tokens)


def _said(raw: bytes) -> str:
    """A JSON string's text, or any other value as it is written."""
    return text_of(raw) if raw[:1] == b'"' else raw.decode("utf-8", "backslashreplace")


def _system_text(raw: bytes) -> str:
    """What a system prompt says: a string, a list of blocks, or an object with parts."""
    try:
        value = value_of(raw)
    except NotJson:
        return _said(raw)
    blocks = value.get("parts") if isinstance(value, dict) else value
    if not isinstance(blocks, list):
        return _said(raw)
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _medium(wire: str) -> Component:
    return "documents" if _DOCUMENT.search(wire) else "images"
