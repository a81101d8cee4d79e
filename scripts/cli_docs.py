"""Writes docs/cli.md from the help pages: `cli_docs.py docs/cli.md`, or `-` for stdout."""

import os
import subprocess
import sys
from pathlib import Path

from headgate.cli import COMMANDS
from headgate.cli.store import COMMANDS as STORE_COMMANDS

OPENING = """\
# The command line

<!-- Written by `make docs` from the help pages; change those. -->

These calls are an interface: scripts may rely on them. What a tool printed is never passed on as it
came: controls, escape sequences and characters that change the direction of writing are shown as
`\\x1b` and the like, on a pipe too. Only `headgate read --raw` gives every byte, and a history that
`headgate repair` or `headgate prepare` writes to a file or a pipe is not changed for reading.
"""


def page(path: list[str]) -> str:
    """One help page, as wide as a page of documentation."""
    ran = subprocess.run(
        [sys.executable, "-m", "headgate", *path, "--help"],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        check=True,
    )
    title = " ".join(["headgate", *path])
    return f"## {title}\n\n```text\n{ran.stdout.decode()}```\n"


def pages() -> str:
    """The whole file."""
    paths = [
        [],
        *([name] for name, _ in COMMANDS),
        *(["store", name] for name, _ in STORE_COMMANDS),
    ]
    return "\n".join([OPENING, *map(page, paths)])


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(pages())
    else:
        Path(sys.argv[1]).write_text(pages(), encoding="utf-8")
