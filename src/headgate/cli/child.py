"""A command that runs while we take its output: started, signalled, and waited for."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from headgate.cli.output import CommandError, reason

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

FROM_KEYS = (signal.SIGINT, signal.SIGQUIT)
"""A terminal sends these to everybody in its foreground, so the command has them already."""

PIPE_BYTES = 1 << 20
"""A larger pipe lets a fast command run on while we look at what it said."""

TICK_S = 0.2
"""How long to wait for output before looking whether the command still runs."""

NOT_FOUND = 127
NOT_EXECUTABLE = 126


class CannotStart(CommandError):
    """The command could not be started; `code` is what a shell answers then."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Child:
    """One running command, its stdout and stderr in one pipe, so that their order stays.

    On a terminal it shares our process group: it may ask for a password, and keys reach it as they
    reach us. Elsewhere it leads a group of its own, and what we are sent goes to the whole group.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.interrupts = 0
        self.on_terminal = _in_foreground()
        self._output, ours = os.pipe()
        _widen(self._output)
        try:
            self._process = _start(command, ours, own_group=not self.on_terminal)
        finally:
            os.close(ours)

    @property
    def ended(self) -> bool:
        """Whether the command itself has ended; what it started may still run."""
        return self._process.poll() is not None

    def output(self) -> Iterator[bytes]:
        """Its output piece by piece; empty ones while it is silent.

        Ends with the command, not with what it left in the background: that may hold the pipe for
        ever. What the command itself wrote is in the pipe by then, so that much is still taken.
        """
        left = PIPE_BYTES
        while left > 0:
            ended = self.ended
            ready, _, _ = select.select([self._output], [], [], TICK_S)
            if not ready:
                if ended:
                    return
                yield b""
                continue
            chunk = os.read(self._output, PIPE_BYTES)
            if not chunk:
                return
            yield chunk
            left -= len(chunk) if ended else 0

    def wait(self) -> int:
        """Its exit code, as a shell reports it; 130 where a second Ctrl-C had to kill it."""
        os.close(self._output)
        code = self._process.wait()
        if code == -signal.SIGKILL and self.interrupts > 1:
            return 128 + signal.SIGINT
        return code if code >= 0 else 128 - code

    def send(self, number: int) -> None:
        """Pass a signal on; a second interrupt kills."""
        if number == signal.SIGINT:
            self.interrupts += 1
            number = signal.SIGINT if self.interrupts == 1 else signal.SIGKILL
        if self.on_terminal and number in FROM_KEYS:
            return
        with suppress(ProcessLookupError, PermissionError):
            if self.on_terminal:
                self._process.send_signal(number)
            else:
                os.killpg(self._process.pid, number)


@contextmanager
def running(command: Sequence[str]) -> Iterator[Child]:
    """Start a command; until the end of the block, what we are sent is passed on to it."""
    child: list[Child] = []
    early: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        for one in child:
            one.send(number)
        if not child:
            early.append(number)

    before = {number: signal.getsignal(number) for number in PASSED_ON}
    for number, action in before.items():
        # Who started us with a signal ignored, as nohup does, wants it ignored.
        if action is not signal.SIG_IGN:
            signal.signal(number, pass_on)
    try:
        child.append(Child(command))
        for sent in early:
            child[0].send(sent)
        yield child[0]
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _start(command: Sequence[str], output: int, *, own_group: bool) -> subprocess.Popen[bytes]:
    if not command[0]:
        raise CannotStart("cannot run '': there is no such command", NOT_FOUND)
    try:
        return subprocess.Popen(
            command, stdout=output, stderr=output, process_group=0 if own_group else None
        )
    except OSError as error:
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        why = "there is no such command" if code == NOT_FOUND else reason(error)
        raise CannotStart(f"cannot run {command[0]!r}: {why}", code) from error


def _in_foreground() -> bool:
    """Whether a terminal sends its keys to our process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _widen(pipe: int) -> None:
    with suppress(OSError, AttributeError):  # only Linux lets a pipe grow
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
