"""The real program, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).with_name("headgate"))

LONGEST_S = 20


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

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


@pytest.fixture
def headgate(state, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return Program(folder, state)
