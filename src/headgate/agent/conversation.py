"""The messages of one conversation, each written down before the model sees it.

A conversation that is kept goes on after a restart, or a kill, where it was: calls that were under
way are then told to have been interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
from xxhash import xxh3_128_digest

from headgate.errors import HeadgateError
from headgate.gate import Gate
from headgate.model import Wire
from headgate.notebook import Notebook


class WentOnElsewhere(HeadgateError):
    """Somebody else went on with the conversation; who opens it again goes on from there."""


class Conversation:
    """Messages in the dialect of their model, oldest first; `kept` opens one that is on disk."""

    def __init__(self, messages: Sequence[Wire] = (), notebook: Notebook | None = None) -> None:
        self._messages = list(messages)
        self._notebook = notebook
        self._known: set[bytes] = set()
        """Digests of all that was read or written here; a journal may be read from its start."""
        self._is_elsewhere = False

    @staticmethod
    def kept(gate: Gate, name: str = "conversation") -> Conversation:
        """The conversation that the gate's session keeps; empty where there was none.

        One at a time goes on with it; another that tries meets `WentOnElsewhere`.
        """
        notebook = Notebook(gate, name)
        conversation = Conversation((), notebook)
        for record in notebook.read():
            start, new = json.loads(record)
            conversation._messages[start:] = new
            conversation._known.add(xxh3_128_digest(record))
        return conversation

    @property
    def messages(self) -> list[Wire]:
        """What was said so far, as the provider has it."""
        return list(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, messages: Sequence[Wire]) -> None:
        """Go on with these."""
        if messages:
            self._change(len(self._messages), messages)

    def mend(self, gate: Gate, dialect: str) -> None:
        """Answer calls that were under way when the last process ended."""
        if not self._messages:
            return
        mended, fixes = gate.repair(encoded(self._messages), dialect=dialect)
        # A history that ends with what the model said is whole: it waits for the user.
        if any(fix.kind in ("missing", "restored") for fix in fixes):
            messages = json.loads(mended)
            start = _first_difference(self._messages, messages)
            self._change(start, messages[start:])

    def _change(self, start: int, messages: Sequence[Wire]) -> None:
        record = encoded([start, list(messages)])
        if self._notebook is not None:
            self._write(self._notebook, record)
        # As they were written: what the caller does to his own later does not change what was said.
        self._messages[start:] = json.loads(record)[1]

    def _write(self, notebook: Notebook, record: bytes) -> None:
        """Write a record, unless somebody else wrote since: it would undo what he said."""

        def after(others: list[bytes]) -> list[bytes]:
            digests = map(xxh3_128_digest, others)
            self._is_elsewhere |= any(digest not in self._known for digest in digests)
            if self._is_elsewhere:
                raise WentOnElsewhere(
                    f"{notebook.path}: somebody else went on with this conversation since it was "
                    "opened; open it again with Conversation.kept"
                )
            self._known.add(xxh3_128_digest(record))
            return [record]

        notebook.write(after)


def encoded(value: object) -> bytes:
    """JSON; half a surrogate pair, which is no UTF-8, is escaped."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _first_difference(one: Sequence[Wire], other: Sequence[Wire]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
