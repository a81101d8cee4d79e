"""The head of a body that came before: what goes on from it is read from there.

Each request of a conversation repeats the bytes of the one before it. Where a body begins with
bytes that were read already, only what follows is taken apart.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from headgate.dialects.history import History, Message
from headgate.dialects.spans import member_span
from headgate.slices import NotJson, following, offsets

ENDING_BYTES = 64


@dataclass(frozen=True, slots=True)
class Head:
    """The bytes of a body up to the end of one of its messages, and what they hold."""

    raw: bytes
    starts: tuple[int, ...]
    """Where each message begins."""
    messages: tuple[Message, ...]
    links: tuple[bytes, ...] = ()
    """Their chain: one link before each of them, and one behind the last."""
    ending: bytes = field(init=False)
    """Its last bytes: where these differ, nothing else need be compared."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ending", self.raw[-ENDING_BYTES:])

    def begins(self, body: bytes) -> bool:
        """Whether a body begins with these bytes."""
        at = len(self.raw) - len(self.ending)
        return body.startswith(self.ending, at) and body.startswith(self.raw)

    def shortened(self, body: bytes) -> tuple[bytes, bytes]:
        """The body with one text in the place of all these messages, JSON if the body is; and that
        text. It is the digest of all that follows, so nothing that follows can hold it: a second
        array under the same key, which would count instead, is not taken for the one that goes on.
        """
        rest = body[len(self.raw) :]
        sign = b'"%b"' % hashlib.sha256(rest).hexdigest().encode()
        return body[: self.starts[0]] + sign + rest, sign

    def starts_with(self, body: bytes, later: tuple[Message, ...]) -> tuple[int, ...]:
        """Where all messages of a body begin: those of this head, and those that follow."""
        found = following(body, len(self.raw), [message.raw for message in later])
        return (*self.starts, *found)


def head_of(history: History, count: int) -> Head | None:
    """The head that ends with one of the messages, the first being 1; None: it is not known."""
    if history.starts is None or not 0 < count <= len(history.starts):
        return None
    stop = history.starts[count - 1] + len(history.read_messages[count - 1].raw)
    messages, links = history.read_messages[:count], history.links[: count + 1]
    return Head(history.body[:stop], history.starts[:count], messages, links)


def located(history: History) -> History:
    """The history with where its messages begin, if that can be told."""
    raws = [message.raw for message in history.read_messages]
    if history.starts is not None or not raws:
        return history
    try:
        start, stop = 0, len(history.body)
        if history.form == "body":
            start, stop = member_span(history.body, history.key)
        starts = offsets(history.body[start:stop], raws)
    except NotJson:
        return history
    return replace(history, starts=tuple(start + at for at in starts))
