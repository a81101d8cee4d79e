"""`headgate store ls`: the originals that a session keeps."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from headgate.cli.opening import chosen, session_for
from headgate.cli.output import CommandError, say, short, show_record, show_table, some
from headgate.cli.parser import Parser
from headgate.cli.progress import size
from headgate.errors import StoreError
from headgate.spill.house import House
from headgate.spill.local import LocalStore
from headgate.spill.private import state_folder
from headgate.types import About, Ref

USAGE = "[--session S | --all] [--json]"

SAYS = """\
List the originals that a session keeps, oldest first, with their size, how long ago each came, and
whether it is wanted: live (a history that was sent lately refers to it), new (it may be in one), or
free to go. Or list all sessions, with what each takes on the disk.
"""

EXAMPLES = """\
  headgate store ls
  headgate store ls --all
  headgate store ls --session my-agent --json | jq -r .file
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("store ls", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_session()
    made.add_argument("--all", action="store_true", help="all sessions, a line for each")
    made.add_json("one object for each")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    if asked.all and asked.session is not None:
        raise CommandError("--all lists every session; leave out --session")
    if asked.all:
        return list_sessions(state_folder(os.environ), as_json=asked.json)
    return list_originals(session_for(asked), as_json=asked.json)


def list_originals(session: str, *, as_json: bool) -> int:
    """Every original of one session."""
    store = LocalStore(state_folder(os.environ), session)
    kept, now_ns = store.all(), time.time_ns()
    wanted = wanted_of(store, now_ns)
    if as_json:
        for about in kept:
            show_record(record_of(about, wanted.get(about.ref, "")))
        return 0
    if kept:
        rows = [row(about, wanted.get(about.ref, ""), now_ns) for about in kept]
        show_table(["ref", " bytes", " lines", " age", "wanted", "tool", "call"], rows)
    total = size(sum(about.length for about in kept))
    say(f"{many(len(kept))}, {total}, in session {session!r} under {store.state}")
    return 0


def wanted_of(store: LocalStore, now_ns: int) -> dict[Ref, str]:
    """Whether each original is wanted, in a word."""
    shelf = store.shelf
    held = shelf.held(shelf.contents(), chosen(None).retention, now_ns)
    return {one.ref: "live" if one.live else "new" if one.new else "free" for one in held}


def list_sessions(state: Path, *, as_json: bool) -> int:
    """Every session, with what it takes."""
    house, now_ns = House(state), time.time_ns()
    rows: list[list[str]] = []
    total, count = 0, 0
    for shelf in house.shelves():
        try:
            counts, kept = shelf.contents().counts, shelf.index.all()
        except StoreError as error:
            say(f"left out: {error}")
            continue
        times = [one.time_ns for one in kept]
        newest, oldest = max(times, default=0), min(times, default=0)
        total, count = total + counts.bytes, count + len(kept)
        if as_json:
            moments = {"oldest": moment(oldest), "newest": moment(newest)}
            show_record(
                {"session": shelf.name, "originals": len(kept), "bytes": counts.bytes, **moments}
            )
        ages = [age((now_ns - at) // 10**9) if at else "" for at in (oldest, newest)]
        rows.append([shelf.name, f"{len(kept):,}", f"{counts.bytes:,}", *ages])
    if as_json:
        return 0
    if rows:
        show_table(["session", " originals", " bytes on disk", " oldest", " newest"], rows)
    sessions = some(len(rows), "session", "sessions")
    say(f"{sessions}, {many(count)}, {size(total)} on disk, under {state}")
    return 0


def many(count: int) -> str:
    """So many originals."""
    return some(count, "original", "originals")


def row(about: About, wanted: str, now_ns: int) -> list[str]:
    """An original as a line of the table."""
    numbers = [f"{about.length:,}", f"{about.lines:,}", age((now_ns - about.time_ns) // 10**9)]
    return [about.ref, *numbers, wanted, short(about.tool), short(about.call_id)]


def age(seconds: int) -> str:
    """How long ago, in the largest unit that says something: `45 s`, `12 min`, `3 h`, `9 d`."""
    if seconds < 60:
        return f"{max(seconds, 0)} s"
    if seconds < 3_600:
        return f"{seconds // 60} min"
    if seconds < 2 * 86_400:
        return f"{seconds // 3_600} h"
    return f"{seconds // 86_400} d"


def moment(time_ns: int) -> str | None:
    """A time as it stands in a record."""
    if not time_ns:
        return None
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat(timespec="milliseconds")


def record_of(about: About, wanted: str) -> dict[str, object]:
    """An original as one object."""
    return {
        "ref": about.ref,
        "bytes": about.length,
        "lines": about.lines,
        "full_bytes": about.full_length or about.length,
        "time": moment(about.time_ns),
        "wanted": wanted,
        "tool": about.tool,
        "call_id": about.call_id,
        "sha256": about.sha256,
        "file": about.file,
    }
