"""The real program, in a process of its own, and faults of the world around it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.cli import main

PROGRAM = str(Path(sys.executable).with_name("headgate"))

LONGEST_S = 20

AFTER = "import os, sys\n{}\nos.execv(sys.argv[1], sys.argv[1:])"
"""A process that does something to itself and then becomes the program."""

HELD_TO_PERMISSIONS = """
import ctypes

DROP_CAPABILITY, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2
for right in (DAC_OVERRIDE, DAC_READ_SEARCH):
    ctypes.CDLL(None).prctl(DROP_CAPABILITY, right, 0, 0, 0)
"""
"""What a file's mode forbids is forbidden, even if the tests run as root."""

ON_A_FULL_DISK = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
"""No file grows beyond 4 KB; pipes are none."""

ON_A_TERMINAL = "import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)"
"""Its stdin is the terminal that sends it keys; for a process in a session of its own."""


def command(*words, after=""):
    """The program and its words; `after` is done in its process before it begins."""
    start = [sys.executable, "-c", AFTER.format(after)] if after else []
    return [*start, PROGRAM, *words]


class Program:
    """Runs `headgate` in a folder and a state directory that belong to one test."""

    def __init__(self, folder, state):
        self.folder = folder
        self.state = state

    def __call__(self, *words, stdin=b"", after="", **more):
        return subprocess.run(
            command(*words, after=after),
            **{"input": stdin, "capture_output": True, "cwd": self.folder, "timeout": LONGEST_S}
            | more,
        )

    def shell(self, line):
        """Runs a line as a person would type it."""
        return subprocess.run(
            ["sh", "-c", line],
            env={**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"},
            capture_output=True,
            cwd=self.folder,
            timeout=LONGEST_S,
        )

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


@pytest.fixture
def headgate(state, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return Program(folder, state)


class Inside:
    """Runs `headgate` in this process: for what needs no process of its own, and sooner."""

    def __init__(self, state, capture):
        self.state = state
        self.capture = capture

    def __call__(self, *words):
        self.capture.readouterr()
        code = main(list(words))
        out, err = self.capture.readouterr()
        return subprocess.CompletedProcess(words, code, out, err)


@pytest.fixture
def inside(state, capfdbinary):
    return Inside(state, capfdbinary)
