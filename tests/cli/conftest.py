"""The real program, in a process of its own, and faults of the world around it."""

import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).with_name("headgate"))

LONGEST_S = 20

DROP_CAPABILITY = 24
DAC_OVERRIDE = 1
DAC_READ_SEARCH = 2
"""Numbers of `prctl` and of the rights by which root passes over permissions."""


class Program:
    """Runs `headgate` in a folder and a state directory that belong to one test."""

    def __init__(self, folder, state):
        self.folder = folder
        self.state = state

    def __call__(self, *words, stdin=b"", **more):
        return subprocess.run(
            [PROGRAM, *words],
            **{"input": stdin, "capture_output": True, "cwd": self.folder, **more},
            timeout=LONGEST_S,
        )

    def shell(self, command):
        """Runs a line as a person would type it."""
        return subprocess.run(
            ["sh", "-c", command],
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


@pytest.fixture
def held_to_permissions():
    """For `preexec_fn`: what a file's mode forbids is forbidden, even if the tests run as root."""
    library = ctypes.CDLL(None)

    def drop():
        for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
            library.prctl(DROP_CAPABILITY, capability, 0, 0, 0)

    return drop


@pytest.fixture
def on_a_full_disk():
    """For `preexec_fn`: no file grows beyond 4 KB; pipes are none."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
