"""Pages of a result through the arguments of a call: from what is kept, without running it again.

Which original belongs to which call is journalled with the session, so that a restart does not run
a tool twice to show its second page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, Protocol
from weakref import proxy

import msgspec

from headgate.gate import Gate
from headgate.guards import call_digest
from headgate.locks import Guard
from headgate.notebook import Notebook
from headgate.policy import Policy
from headgate.shape.pages import Page, asked_page
from headgate.types import Media, Ref, ToolResult

HELD_CHARS: Final = 4_000_000
HELD_RESULTS: Final = 256
"""Results that went in whole are not kept; the last of them can be paged all the same."""


class Taken(Protocol):
    """The arguments that a tool declares."""

    @property
    def names(self) -> Collection[str]:
        """Their names."""
        ...


class Pageable(Protocol):
    """A tool whose results can be paged: of a registry, or of a server."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def signature(self) -> Taken:
        """What it takes."""
        ...


class Paged(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A line of the journal: the last result of a call, told by its digest."""

    call: bytes
    ref: str


PAGED: Final = msgspec.msgpack.Decoder(Paged)


class Pages:
    """What can be paged in one session."""

    def __init__(self, gate: Gate) -> None:
        self._names = gate.policy.page_arguments
        self.ours = gates_own(gate.policy)
        """Arguments that speak to the gate, not to the tool, unless the tool names them."""
        # A registry remembers pages by gate; what it remembers must not keep the gate alive.
        self._notebook = Notebook(proxy(gate), "pages")
        self._guard = Guard()
        self._refs: dict[bytes, Ref] = {}
        self._last: deque[tuple[Pageable, ToolResult, Ref | None]] = deque()
        self._held_chars = 0

    def asked(self, tool: Pageable, arguments: Mapping[str, object]) -> Page | None:
        """The page a call asks for; None: none, or the tool pages by itself."""
        number, size = self._names
        if number in tool.signature.names or size in tool.signature.names:
            return None
        return asked_page(arguments.get(number), arguments.get(size))

    def find(self, tool: Pageable, arguments: Mapping[str, object]) -> Ref | ToolResult | None:
        """The last result of the same call, whatever page was asked for: kept, or held here."""
        key = self.key(tool, arguments)
        with self._guard.lock:
            self._take_in(self._notebook.read())
            last = next((each for each in reversed(self._last) if self._is(each, key)), None)
            if last is None:
                return self._refs.get(key)
            _, result, ref = last
            return result if ref is None else ref

    def remember(self, tool: Pageable, result: ToolResult, ref: Ref | None) -> None:
        """Note the result of a call, and where it is kept; one that is not kept is held a while."""
        with self._guard.lock:
            self._hold(tool, result, ref)
            if ref is not None:
                key = self.key(tool, result.arguments)
                if self._refs.get(key) != ref:
                    self._write(Paged(key, ref))

    def key(self, tool: Pageable, arguments: Mapping[str, object]) -> bytes:
        """What two calls share that differ in their pages alone."""
        names, ours = tool.signature.names, self.ours
        given = {
            name: value for name, value in arguments.items() if name in names or name not in ours
        }
        return call_digest(tool.name, given)

    def _is(self, last: tuple[Pageable, ToolResult, Ref | None], key: bytes) -> bool:
        # Most results are never paged: which call it was is worked out when somebody asks.
        tool, result, _ = last
        return self.key(tool, result.arguments) == key

    def _hold(self, tool: Pageable, result: ToolResult, ref: Ref | None) -> None:
        held = replace(result, blocks=()) if ref is not None else result
        self._last.append((tool, held, ref))
        self._held_chars += _chars(held)
        while self._held_chars > HELD_CHARS or len(self._last) > HELD_RESULTS:
            self._held_chars -= _chars(self._last.popleft()[1])

    def _write(self, paged: Paged) -> None:
        def after_others(new: list[bytes]) -> list[bytes]:
            self._take_in(new)
            self._refs[paged.call] = paged.ref
            return [msgspec.msgpack.encode(paged)]

        self._notebook.write(after_others)

    def _take_in(self, records: Iterable[bytes]) -> None:
        for record in records:
            # What cannot be read is a kind of record that a later version writes.
            with suppress(msgspec.ValidationError):
                paged = PAGED.decode(record)
                self._refs[paged.call] = paged.ref


def read_page(gate: Gate, ref: Ref, page: Page, tokens: int | None = None) -> str:
    """One page of a kept result, within a limit; beyond the last page it is the last."""
    return gate.read(ref, {"page": page.number, "page_size": page.size}, tokens=tokens)


def gates_own(policy: Policy) -> frozenset[str]:
    """Arguments of a call that speak to the gate, not to the tool, unless the tool names them."""
    return frozenset({*policy.page_arguments, *policy.asked_tokens, *policy.asked_lines})


def _chars(result: ToolResult) -> int:
    return sum(len(block.text) for block in result.blocks if not isinstance(block, Media))
