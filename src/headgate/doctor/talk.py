"""An MCP client of a few lines, for a server on stdin and stdout: it asks, and waits so long."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from tempfile import TemporaryFile
from typing import BinaryIO

from headgate.errors import RequestError

TIMEOUT_S = 60.0
"""For each answer: a server may be installed at its first start."""

LINE_BYTES = 2**24
ERROR_BYTES = 400

PROTOCOL = "2025-06-18"
"""A version that every server of today speaks."""


class Talk:
    """One conversation with a server."""

    def __init__(self, process: Process, errors: BinaryIO) -> None:
        self._process = process
        self._errors = errors
        self._asked = 0

    async def ask(self, method: str, **params: object) -> Mapping[str, object]:
        """The result of a request; raises `RequestError` where there is none."""
        self._asked += 1
        await self._send({"id": self._asked, "method": method, "params": params})
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await self._answer(self._asked)
        except TimeoutError:
            raise RequestError(f"{method} had no answer for {TIMEOUT_S:g} s") from None
        result = answer.get("result")
        if not isinstance(result, Mapping):
            raise RequestError(f"{method} was answered with {json.dumps(answer.get('error'))}")
        return result

    async def start(self) -> None:
        """Shake hands."""
        about = {"name": "headgate doctor", "version": "1"}
        await self.ask("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=about)
        await self._send({"method": "notifications/initialized"})

    async def tools(self) -> list[str]:
        """The names of all tools."""
        found = (await self.ask("tools/list")).get("tools")
        named = found if isinstance(found, list) else []
        return [str(tool["name"]) for tool in named if isinstance(tool, Mapping) and "name" in tool]

    async def call(self, tool: str, **arguments: object) -> str:
        """What a tool says, as one text."""
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        content = result.get("content")
        blocks = content if isinstance(content, list) else []
        return "\n".join(str(block.get("text", "")) for block in blocks)

    async def _send(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        with suppress(ConnectionError):  # that it is gone is seen by who waits for the answer
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            await self._process.stdin.drain()

    async def _answer(self, number: int) -> Mapping[str, object]:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            if isinstance(message, Mapping) and message.get("id") == number:
                return message
        self._errors.seek(0)
        said = self._errors.read()[-ERROR_BYTES:].decode(errors="replace").strip()
        raise RequestError(f"it ended and said {said or 'nothing'!r}")


@asynccontextmanager
async def talk(words: Sequence[str], environ: Mapping[str, str]) -> AsyncIterator[Talk]:
    """Start a server and shake hands with it; it is ended in any case."""
    # A file, not a pipe: a server that says much there would wait for somebody to read it.
    with TemporaryFile() as errors:
        try:
            process = await asyncio.create_subprocess_exec(
                *words, stdin=PIPE, stdout=PIPE, stderr=errors, env=environ, limit=LINE_BYTES
            )
        except OSError as error:
            raise RequestError(f"{words[0]} cannot be started: {error.strerror}") from error
        try:
            opened = Talk(process, errors)
            await opened.start()
            yield opened
        finally:
            await _end(process)


async def _end(process: Process) -> None:
    """Close its input, as clients do; one that stays is killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(5):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
