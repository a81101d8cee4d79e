"""Messages as lines: our own stdin and stdout, and those of a server that runs as a child."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from headgate.proxy.lines import Lines, TooLong
from headgate.proxy.message import (
    INVALID_REQUEST,
    MOST_BYTES,
    PARSE_ERROR,
    Message,
    Unreadable,
    find_id,
    messages_of,
    refusal,
)

log = logging.getLogger("headgate.mcp")

READ_BYTES = 1 << 18

GRACE_S = 2.0
"""A server has this long to go when its stdin closes, and again when it is told to."""


class Framed:
    """Lines to messages; a line that is none goes to `odd`, which may answer it."""

    def __init__(
        self,
        read: Callable[[], Awaitable[bytes]],
        odd: Callable[[Unreadable, bytes], Awaitable[Message | None]],
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._read = read
        self._odd = odd
        self._lines = Lines(most_bytes)
        self._ready: deque[Message] = deque()
        self._is_over = False

    async def receive(self) -> Message | None:
        """The next message; None: there are no more."""
        while not self._ready and not self._is_over:
            data = await self._read()
            lines = self._lines.feed(data) if data else self._lines.close()
            self._is_over = not data
            for line in lines:
                await self._take(line)
        return self._ready.popleft() if self._ready else None

    async def _take(self, line: bytes | TooLong) -> None:
        try:
            self._ready.extend(_messages(line))
        except Unreadable as error:
            message = await self._odd(error, b"" if isinstance(line, TooLong) else line)
            if message is not None:
                self._ready.append(message)


def _messages(line: bytes | TooLong) -> list[Message]:
    if isinstance(line, TooLong):
        found = find_id(line.head) or find_id(line.tail)
        raise Unreadable(f"{line.length:,} bytes in one message; at most {MOST_BYTES:,}", found)
    return messages_of(line.strip())


class OwnStdio:
    """The client, on our own stdin and stdout.

    A thread reads: stdin may be a file or a terminal, and a read that nobody ends must not keep the
    process. What is written goes out whole, in order, without holding the loop up.
    """

    def __init__(self, stdin: int = 0, stdout: int = 1) -> None:
        self._stdin, self._stdout = stdin, stdout
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(16)
        self._writing = asyncio.Lock()
        self._is_deaf = False
        self._framed = Framed(self._chunk, self._odd)
        threading.Thread(target=self._pump, name="headgate-stdin", daemon=True).start()

    ending = "went away"

    async def receive(self) -> Message | None:
        """The next message of the client."""
        return await self._framed.receive()

    async def send(self, message: Message) -> None:
        """Write one line."""
        async with self._writing:
            if not self._is_deaf:
                await asyncio.to_thread(self._write, message.raw.replace(b"\n", b" ") + b"\n")

    async def close(self) -> None:
        """Nothing is left to write; the stream ends with the process."""

    async def stop(self) -> None:
        """The same."""

    async def _chunk(self) -> bytes:
        data = await self._chunks.get()
        self._room.release()
        return data

    async def _odd(self, error: Unreadable, line: bytes) -> Message | None:
        code = INVALID_REQUEST if error.id else PARSE_ERROR
        await self.send(refusal(error.id, code, f"the message could not be read: {error}"))
        return None

    def _pump(self) -> None:
        while True:
            self._room.acquire()
            try:
                data = os.read(self._stdin, READ_BYTES)
            except OSError:
                data = b""
            with contextlib.suppress(RuntimeError):  # the loop is closed: so are we
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, data)
            if not data:
                return

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._stdout, left) :]
        except OSError:
            self._is_deaf = True  # the client is gone; its stdin will tell


class Child:
    """A server that runs as a child of ours, in a process group of its own."""

    def __init__(self, process: Process, name: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._name = name
        self._framed = Framed(lambda: self._stdout.read(READ_BYTES), self._odd)
        self._stopping: asyncio.Task[None] | None = None

    @staticmethod
    async def start(command: Sequence[str]) -> Child:
        """Run a command, with exactly the environment that we were given."""
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        return Child(process, os.path.basename(command[0]))

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        code = self._process.returncode
        if code is None:
            return "closed its stdout"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"

    @property
    def code(self) -> int:
        """Its exit code as a shell reports it; 0 while it runs."""
        code = self._process.returncode or 0
        return 128 - code if code < 0 else code

    async def receive(self) -> Message | None:
        """The next message of the server; None: it is gone, and its exit code is known."""
        try:
            message = await self._framed.receive()
        except ConnectionError:
            message = None
        if message is None:
            await self.stop()
        return message

    async def send(self, message: Message) -> None:
        """Write one line to its stdin."""
        with contextlib.suppress(ConnectionError):  # it is gone; its stdout will tell
            self._stdin.write(message.raw.replace(b"\n", b" ") + b"\n")
            await self._stdin.drain()

    async def close(self) -> None:
        """Close its stdin; a server that stays all the same is told to go, then made to."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())

    async def stop(self) -> None:
        """Wait until it is gone."""
        await self.close()
        assert self._stopping is not None
        await asyncio.shield(self._stopping)

    async def _stop(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._stdin.close()
        for told in (None, signal.SIGTERM, signal.SIGKILL):
            if told is not None:
                self._signal(told)
            try:
                await asyncio.wait_for(self._process.wait(), GRACE_S)
                break
            except TimeoutError:
                continue

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _odd(self, error: Unreadable, line: bytes) -> Message | None:
        """What is no message is for people; but who waits for it is answered."""
        if not error.id:
            shown = line[:2_000].decode(errors="backslashreplace")
            log.warning("%s wrote to its stdout what is no message: %s", self._name, shown)
            return None
        log.warning("a message of %s could not be read: %s", self._name, error)
        return refusal(error.id, INVALID_REQUEST, f"the server's answer could not be read: {error}")
