"""A gate for event loops: the same calls as `Gate`, each in a thread, so that the loop goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from headgate.gate import Gate
from headgate.types import NOTHING, Ref, ToolResult

if TYPE_CHECKING:
    from headgate.ageing import Ageing
    from headgate.outgoing import Outcome

T = TypeVar("T")


class AsyncGate:
    """A gate for event loops: the same, in a thread."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    async def admit(
        self, batch: Sequence[ToolResult], *, question: str = "", prefix: bytes = b""
    ) -> list[ToolResult]:
        """Let in all results that answer one assistant message."""
        return await _in_thread(lambda: self.gate.admit(batch, question=question, prefix=prefix))

    async def read(
        self, ref: Ref, arguments: Mapping[str, object] = NOTHING, *, tokens: int | None = None
    ) -> str:
        """Read an original back."""
        return await _in_thread(lambda: self.gate.read(ref, arguments, tokens=tokens))

    async def read_result(
        self, call_id: str, arguments: Mapping[str, object], *, tokens: int | None = None
    ) -> ToolResult:
        """Answer a call of the tool `read_result`."""
        return await _in_thread(lambda: self.gate.read_result(call_id, arguments, tokens=tokens))

    async def prepare(
        self,
        body: bytes,
        *,
        dialect: str | None = None,
        pending: bool = False,
        model: str = "",
        window_tokens: int | None = None,
        usage: Mapping[str, object] | None = None,
        question: str = "",
        ageing: Ageing | None = None,
    ) -> Outcome:
        """Make a history ready to send."""
        return await _in_thread(
            lambda: self.gate.prepare(
                body,
                dialect=dialect,
                pending=pending,
                model=model,
                window_tokens=window_tokens,
                usage=usage,
                question=question,
                ageing=ageing,
            )
        )

    async def observe(
        self,
        body: bytes,
        usage: Mapping[str, object],
        *,
        dialect: str | None = None,
        model: str = "",
    ) -> None:
        """Learn from what the provider reported."""
        await _in_thread(lambda: self.gate.observe(body, usage, dialect=dialect, model=model))

    async def original(self, ref: Ref) -> bytes:
        """The whole original, byte for byte."""
        return await _in_thread(lambda: self.gate.original(ref))


async def _in_thread(act: Callable[[], T]) -> T:
    import asyncio  # not needed, and not loaded, without an event loop

    return await asyncio.to_thread(act)
