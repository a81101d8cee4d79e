"""Messages of earlier requests: taken apart once, hashed once, their results identified once.

Each request of a conversation begins with the messages of the one before it. What is remembered
was made from their bytes alone and is found by all of them, so nothing depends on remembering.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic, TypeAlias, TypeVar

import msgspec

from headgate.arrive import Identity, identify
from headgate.dialects.dialect import Dialect
from headgate.dialects.heads import located
from headgate.dialects.history import History, Message, Part
from headgate.history.chain import chain, digest_of
from headgate.history.heads import Heads

K = TypeVar("K")
V = TypeVar("V")

LEAST_BYTES = 8 * 1024 * 1024
"""Of messages in each of two generations. A larger request has itself remembered, no more."""

Told: TypeAlias = tuple[tuple[int, str], ...]
"""Texts by the places of the results that they stand in for."""


class Memo(Generic[K, V]):
    """The most recently used values, by what they were made from."""

    def __init__(self) -> None:
        self.most_bytes = LEAST_BYTES
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._young_bytes = 0

    def find(self, key: K, size_bytes: int) -> V | None:
        """What was remembered."""
        value = self._young.get(key)
        if value is None:
            value = self._old.get(key)
            if value is not None:
                self.keep(key, value, size_bytes)
        return value

    def keep(self, key: K, value: V, size_bytes: int) -> V:
        """Remember; what was not asked for since the last generation is forgotten."""
        if self._young_bytes + size_bytes > self.most_bytes:
            self._old, self._young, self._young_bytes = self._young, {}, 0
        self._young[key] = value
        self._young_bytes += size_bytes
        return value

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())


class Seen:
    """What one gate remembers of the messages of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._heads = Heads()
        self._messages: Memo[bytes, Message] = Memo()
        self._digests: Memo[bytes, bytes] = Memo()
        self._identities: Memo[tuple[bytes, int, bytes], Identity] = Memo()
        self._retold: Memo[tuple[bytes, Told], Message] = Memo()

    def read(self, body: bytes) -> History:
        """Take a request body apart; a message that came before is the very same object."""
        most_bytes = max(LEAST_BYTES, len(body))
        for memo in (self._messages, self._digests, self._identities, self._retold):
            memo.most_bytes = most_bytes
        head = self._heads.of(body)
        history = located(self.dialect.read(body, self._message, head))
        links = chain(history, self._digest, head.links if head is not None else ())
        history = replace(history, links=tuple(links))
        self._heads.keep(history, head, most_bytes)
        return history

    def chain(self, history: History) -> Sequence[bytes]:
        """One link before each message, and one behind the last."""
        if history.links and history.is_as_read:
            return history.links
        return chain(history, self._digest)

    def identity(self, message: Message, place: int, call: Part | None) -> Identity:
        """What tells the result at this place of a message from any other."""
        # Bytes keep their hash, so that of a message which came before costs nothing.
        key = (message.raw, place, call.raw if call else b"")
        size_bytes = len(message.parts[place].raw_view)
        known = self._identities.find(key, size_bytes)
        if known is not None:
            return known
        identity = identify(self.dialect.tool_result(message.parts[place], call))
        return self._identities.keep(key, identity, size_bytes)

    def with_texts(self, history: History, texts: Mapping[tuple[int, int], str]) -> History:
        """The history with other texts in the results at these places."""
        if not texts:
            return history
        told: dict[int, list[tuple[int, str]]] = {}
        for (number, place), text in texts.items():
            told.setdefault(number, []).append((place, text))
        messages = list(history.messages)
        for number, places in told.items():
            messages[number] = self._retelling(messages[number], places)
        return history.with_messages(tuple(messages))

    def _message(self, raw: bytes, at: int) -> Message:
        known = self._messages.find(raw, len(raw))
        if known is None:
            return self._messages.keep(raw, self.dialect.message(raw, at), len(raw))
        return known if known.at == at else msgspec.structs.replace(known, at=at)

    def _digest(self, raw: bytes) -> bytes:
        known = self._digests.find(raw, len(raw))
        return known or self._digests.keep(raw, digest_of(raw), len(raw))

    def _retelling(self, message: Message, places: Sequence[tuple[int, str]]) -> Message:
        key = (message.raw, tuple(places))
        known = self._retold.find(key, len(message.raw))
        if known is None:
            parts = list(message.parts)
            for place, text in places:
                parts[place] = self.dialect.with_text(parts[place], text)
            known = self.dialect.with_parts(message, parts)
            self._retold.keep(key, known, len(message.raw))
        return known if known.at == message.at else msgspec.structs.replace(known, at=message.at)
