"""A gate for event loops: the same calls as `Gate`, each in a thread, so that the loop goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from headgate.gate import Gate, ResultStream
from headgate.locks import Guard
from headgate.types import NOTHING, Kind, Ref, ShownResult, ToolResult

if TYPE_CHECKING:
    from headgate.ageing import Ageing
    from headgate.history.report import Fix
    from headgate.outgoing import Outcome

T = TypeVar("T")


class AsyncGate:
    """A gate for event loops: the same, in a thread."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    async def admit(
        self, batch: Sequence[ToolResult], *, question: str = "", prefix: bytes = b""
    ) -> list[ShownResult]:
        """Let in all results that answer one assistant message."""
        return await _in_thread(lambda: self.gate.admit(batch, question=question, prefix=prefix))

    async def shares(self, batch: Sequence[ToolResult]) -> list[int | None]:
        """What each result may be and go in whole, before it is there."""
        return await _in_thread(lambda: self.gate.shares(batch))

    async def keep(self, result: ToolResult) -> Ref | None:
        """Keep the original of a result that is not shown as it is."""
        return await _in_thread(lambda: self.gate.keep(result))

    def stream(
        self,
        call_id: str,
        tool: str,
        *,
        arguments: Mapping[str, object] = NOTHING,
        kind: Kind | None = None,
        question: str = "",
    ) -> AsyncResultStream:
        """Let in a result that comes in pieces: await `write` for each, then `close`."""
        made = self.gate.stream(call_id, tool, arguments=arguments, kind=kind, question=question)
        return AsyncResultStream(made)

    async def read(
        self,
        ref: Ref | None,
        arguments: Mapping[str, object] = NOTHING,
        *,
        tokens: int | None = None,
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

    async def repair(
        self, body: bytes, *, dialect: str | None = None, pending: bool = False
    ) -> tuple[bytes, tuple[Fix, ...]]:
        """Pair calls and results and nothing else."""
        return await _in_thread(lambda: self.gate.repair(body, dialect=dialect, pending=pending))

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

    async def original(self, ref: Ref | None) -> bytes:
        """The whole original, byte for byte."""
        return await _in_thread(lambda: self.gate.original(ref))

    async def view(self, shown: ToolResult) -> str:
        """What a person is shown of a result."""
        return await _in_thread(lambda: self.gate.view(shown))

    async def notice(self, shown: ToolResult) -> str:
        """What people are told of a result that was shortened."""
        return await _in_thread(lambda: self.gate.notice(shown))


class AsyncResultStream:
    """One result on its way in, for event loops."""

    def __init__(self, stream: ResultStream) -> None:
        self._stream = stream
        self._guard = Guard()

    async def write(self, data: bytes) -> None:
        """Take the next bytes; it is for the caller to await one before the next."""
        await _in_thread(lambda: self._in_turn(lambda: self._stream.write(data)))

    async def close(self, *, is_error: bool = False) -> ShownResult:
        """Decide; what the model sees comes back."""
        return await _in_thread(
            lambda: self._in_turn(lambda: self._stream.close(is_error=is_error))
        )

    def _in_turn(self, act: Callable[[], T]) -> T:
        # Who is cancelled no longer waits, but his bytes are still being written.
        with self._guard.lock:
            return act()


async def _in_thread(act: Callable[[], T]) -> T:
    import asyncio  # not needed, and not loaded, without an event loop

    return await asyncio.to_thread(act)
