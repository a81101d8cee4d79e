"""The heads of recent requests: where the next one of each conversation goes on."""

from __future__ import annotations

from headgate.dialects.heads import Head, head_of
from headgate.dialects.history import History

MOST_HEADS = 64
"""As many conversations at once go on where they were; another one is read from its start."""

NEAR_THE_END = 8
"""Messages in which a client moves its cache marks from one request to the next."""


class Heads:
    """The newest first. A head makes way for the longer one of the request that went on from it."""

    def __init__(self) -> None:
        self._held: list[Head] = []

    def of(self, body: bytes) -> Head | None:
        """A head that the body begins with."""
        return next((head for head in self._held if head.begins(body)), None)

    def keep(self, history: History, before: Head | None, most_bytes: int) -> None:
        """Remember the head of a request, which went on from the one `before`."""
        head = head_of(history, _lasting(history))
        if head is None:
            return
        others = [held for held in self._held if held is not before][: MOST_HEADS - 1]
        left_bytes = most_bytes - len(head.raw)
        self._held = [head]
        for held in others:
            left_bytes -= len(held.raw)
            if left_bytes < 0:
                break
            self._held.append(held)

    def __len__(self) -> int:
        return len(self._held)


def _lasting(history: History) -> int:
    """How many messages will come again as they are: those before the marks near the end."""
    messages = history.read_messages
    near = range(max(len(messages) - NEAR_THE_END, 0), len(messages))
    marked = (n for n in near if any(part.is_marked for part in messages[n].parts))
    return next(marked, len(messages))
