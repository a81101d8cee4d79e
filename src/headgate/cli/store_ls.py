"""`headgate store ls`: the originals that a session keeps."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from headgate.cli.opening import session_for
from headgate.cli.output import say, show_record, show_table
from headgate.cli.parser import Parser
from headgate.cli.progress import size
from headgate.spill.local import LocalStore
from headgate.spill.private import state_folder
from headgate.types import About

USAGE = "[--session S] [--json]"

SAYS = "List the originals that a session keeps, oldest first."

EXAMPLES = """\
  headgate store ls
  headgate store ls --session my-agent --json | jq -r .file
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("store ls", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_session()
    made.add_json("one object for each")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    session = session_for(asked)
    store = LocalStore(state_folder(os.environ), session)
    kept = store.all()
    if asked.json:
        for about in kept:
            show_record(record_of(about))
        return 0
    if kept:
        now_ns = time.time_ns()
        rows = [row(about, now_ns) for about in kept]
        show_table(["ref", " bytes", " lines", " age", "tool", "call"], rows)
    total = size(sum(about.length for about in kept))
    many = f"{len(kept):,} original{'' if len(kept) == 1 else 's'}"
    say(f"{many}, {total}, in session {session!r} under {store.state}")
    return 0


def row(about: About, now_ns: int) -> list[str]:
    """An original as a line of the table."""
    numbers = [f"{about.length:,}", f"{about.lines:,}", age((now_ns - about.time_ns) // 10**9)]
    return [about.ref, *numbers, about.tool, about.call_id]


def age(seconds: int) -> str:
    """How long ago, in the largest unit that says something: `45 s`, `12 min`, `3 h`, `9 d`."""
    if seconds < 60:
        return f"{max(seconds, 0)} s"
    if seconds < 3_600:
        return f"{seconds // 60} min"
    if seconds < 2 * 86_400:
        return f"{seconds // 3_600} h"
    return f"{seconds // 86_400} d"


def record_of(about: About) -> dict[str, object]:
    """An original as one object."""
    return {
        "ref": about.ref,
        "bytes": about.length,
        "lines": about.lines,
        "time": datetime.fromtimestamp(about.time_ns / 1e9, UTC).isoformat(timespec="milliseconds"),
        "tool": about.tool,
        "call_id": about.call_id,
        "sha256": about.sha256,
        "file": about.file,
    }
