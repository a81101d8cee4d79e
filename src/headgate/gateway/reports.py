"""What the provider reports of an answer, read while it passes: usage, and nothing else.

The answer is never changed, held back or waited for. What cannot be read is not there.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headgate.gateway.inflate import CannotInflate, inflating
from headgate.gateway.sse import MOST_EVENT_BYTES, Framer

MOST_ANSWER_BYTES = MOST_EVENT_BYTES
"""Of an answer in one piece; in a longer one nothing is looked for."""


class _Told(msgspec.Struct, frozen=True, rename="camel"):
    """The places where the four dialects put their usage; everything else is skipped."""

    usage: object = None
    usage_metadata: object = None
    message: object = None
    response: object = None


_TOLD = msgspec.json.Decoder(_Told)


class Report:
    """Reads one answer on its way."""

    def __init__(self, content_type: str, encoding: str) -> None:
        kind = content_type.partition(";")[0].strip().lower()
        self._framer = Framer() if kind == "text/event-stream" else None
        self._is_json = kind == "application/json"
        self._held = bytearray()
        self._usage: dict[str, object] = {}
        try:
            self._undo = inflating(encoding)
            self._can_read = self._framer is not None or self._is_json
        except CannotInflate:
            self._can_read = False

    def feed(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        if not self._can_read:
            return
        try:
            for piece in self._undo.feed(chunk):
                self._take(piece)
        except CannotInflate:
            self._can_read = False

    def usage(self) -> Mapping[str, object] | None:
        """What was reported, when the answer has passed; None: nothing."""
        if self._can_read and self._held:
            # Gemini streams without events as one array, a part of the answer in each element.
            for part in _elements(bytes(self._held)):
                self._merge(part)
            self._held.clear()
        return self._usage or None

    def _take(self, piece: bytes) -> None:
        if self._framer is not None:
            for data in self._framer.feed(piece):
                if b'"usage' in data:
                    self._merge(data)
            return
        self._held += piece
        if len(self._held) > MOST_ANSWER_BYTES:
            self._can_read = False
            self._held.clear()

    def _merge(self, data: bytes) -> None:
        """Take in one report; a later one counts from the start, so its numbers stand."""
        try:
            told = _TOLD.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        for place in (_usage_in(told.message), _usage_in(told.response), told.usage):
            self._add(place)
        self._add(told.usage_metadata)

    def _add(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._usage.update({k: v for k, v in usage.items() if v is not None})


def _usage_in(holder: object) -> object:
    return holder.get("usage") if isinstance(holder, dict) else None


def _elements(body: bytes) -> list[bytes]:
    if body.lstrip()[:1] != b"[":
        return [body]
    try:
        return [bytes(part) for part in msgspec.json.decode(body, type=list[msgspec.Raw])]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
