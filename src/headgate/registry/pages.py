"""Pages of a result through the arguments of a call: from what is kept, without running it again.

Which original belongs to which call is journalled with the session, so that a restart does not run
a tool twice to show its second page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from headgate.errors import StoreError
from headgate.gate import Gate
from headgate.guards import call_digest
from headgate.journal import Guard, Journal
from headgate.policy import Policy
from headgate.registry.tool import Tool
from headgate.shape.pages import Page, asked_page
from headgate.types import Media, Ref, ToolResult

HELD_CHARS: Final = 4_000_000
HELD_RESULTS: Final = 256
"""Results that went in whole are not kept; the last of them can be paged all the same."""


class Paged(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A line of the journal: the last result of a call, told by its digest."""

    call: bytes
    ref: str


class Pages:
    """What can be paged in one session."""

    def __init__(self, policy: Policy, journal: Journal) -> None:
        self._names = policy.page_arguments
        self.ours = gates_own(policy)
        """Arguments that speak to the gate, not to the tool, unless the tool names them."""
        self._journal = journal
        self._guard = Guard()
        self._refs: dict[bytes, Ref] = {}
        self._held: deque[tuple[Tool, ToolResult]] = deque()
        self._held_chars = 0

    def asked(self, tool: Tool, arguments: Mapping[str, object]) -> Page | None:
        """The page a call asks for; None: none, or the tool pages by itself."""
        number, size = self._names
        if number in tool.signature.names or size in tool.signature.names:
            return None
        return asked_page(arguments.get(number), arguments.get(size))

    def find(self, tool: Tool, arguments: Mapping[str, object]) -> Ref | ToolResult | None:
        """The last result of the same call, whatever page was asked for: kept, or held here."""
        key = self._key(tool, arguments)
        with self._guard:
            self._catch_up()
            return self._held_for(key) or self._refs.get(key)

    def remember(self, tool: Tool, result: ToolResult, ref: Ref | None) -> None:
        """Note the result of a call, and where it is kept; one that is not kept is held a while."""
        with self._guard:
            if ref is None:
                self._hold(tool, result)
                return
            key = self._key(tool, result.arguments)
            if self._refs.get(key) != ref or self._held_for(key):
                self._write(Paged(key, ref))

    def _key(self, tool: Tool, arguments: Mapping[str, object]) -> bytes:
        names, ours = tool.signature.names, self.ours
        given = {
            name: value for name, value in arguments.items() if name in names or name not in ours
        }
        return call_digest(tool.name, given)

    def _hold(self, tool: Tool, result: ToolResult) -> None:
        # Most results are never paged: which call it was is worked out when somebody asks.
        self._held.append((tool, result))
        self._held_chars += _chars(result)
        while self._held_chars > HELD_CHARS or len(self._held) > HELD_RESULTS:
            self._held_chars -= _chars(self._held.popleft()[1])

    def _held_for(self, key: bytes) -> ToolResult | None:
        held = reversed(self._held)
        return next((r for tool, r in held if self._key(tool, r.arguments) == key), None)

    def _catch_up(self) -> None:
        with suppress(StoreError):
            self._read(self._journal.catch_up())

    def _write(self, paged: Paged) -> None:
        def after_others(new: list[bytes]) -> list[bytes]:
            self._read(new)
            return [msgspec.msgpack.encode(paged)]

        # Without a disk it is known in this process, as all that the gate decides.
        with suppress(StoreError):
            self._journal.append(after_others)
        self._refs[paged.call] = paged.ref

    def _read(self, records: Iterable[bytes]) -> None:
        for record in records:
            paged = msgspec.msgpack.decode(record, type=Paged)
            self._refs[paged.call] = paged.ref


def read_page(gate: Gate, ref: Ref, page: Page, tokens: int | None = None) -> str:
    """One page of a kept result, within a limit; beyond the last page it is the last."""
    return gate.read(ref, {"page": page.number, "page_size": page.size}, tokens=tokens)


def gates_own(policy: Policy) -> frozenset[str]:
    """Arguments of a call that speak to the gate, not to the tool, unless the tool names them."""
    return frozenset({*policy.page_arguments, *policy.asked_tokens, *policy.asked_lines})


def _chars(result: ToolResult) -> int:
    return sum(len(block.text) for block in result.blocks if not isinstance(block, Media))
