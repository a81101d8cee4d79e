"""`headgate store verify`: whether everything kept is as it was written; `--fix` mends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from headgate.cli.output import say, show_record, show_table, some
from headgate.cli.parser import Parser
from headgate.errors import StoreError
from headgate.spill.private import session_name, state_folder

if TYPE_CHECKING:
    from headgate.spill.house import House
    from headgate.spill.shelf import Shelf
    from headgate.spill.verify import Fault

USAGE = "[--session S] [--fix] [--json]"

SAYS = """\
Read everything that is kept, of all sessions or of one, and compare it with what was written:
hashes, lines of the index without a file and files without a line, refs in the ledger that lead
nowhere, unfinished files of killed processes, journals, counts, and who has rights on what. With
--fix, what can be put right is: damaged files are set aside, and what is lost gets a tombstone, so
that its session is told. The exit code is 1 if a fault is left. It is safe while agents run.
"""

EXAMPLES = """\
  headgate store verify
  headgate store verify --session my-agent --fix
  headgate store verify --json | jq -r .where
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("store verify", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_session()
    made.add_argument("--fix", action="store_true", help="put right what can be")
    made.add_json("one object for each fault")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    from headgate.spill.house import House
    from headgate.spill.verify import verify

    asked = parser().parse_args(words)
    house = House(state_folder(os.environ))
    session = session_name(asked.session) if asked.session else None
    found: list[Fault] = []
    for fault in [*verify(house, fix=asked.fix, session=session), *lost(house, asked.fix, session)]:
        found.append(fault)
        if asked.json:
            show_record(asdict(fault))
    if found and not asked.json:
        rows = [[fault.session, fault.what, fault.where, told(fault)] for fault in found]
        show_table(["session", "what", "where", "found"], rows)
    left = sum(not fault.fixed for fault in found)
    faults = some(len(found), "fault", "faults")
    say(f"{faults}, {left:,} left, under {house.state.path}")
    return 1 if left else 0


def told(fault: Fault) -> str:
    """What is wrong, and what was done about it."""
    return f"{fault.found}; {fault.fixed}" if fault.fixed else fault.found


def lost(house: House, fix: bool, session: str | None) -> Iterator[Fault]:
    """Refs that were shown and lead nowhere: neither an original nor a tombstone."""
    for shelf in house.shelves():
        if session in (None, shelf.name):
            with suppress(StoreError):
                yield from _lost(house, shelf, fix)


def _lost(house: House, shelf: Shelf, fix: bool) -> list[Fault]:
    from headgate.journal import Journal
    from headgate.ledger import Ledger
    from headgate.spill.index import Gone
    from headgate.spill.verify import Fault

    known = {kept.ref for kept in shelf.index.all()} | set(shelf.objects.refs())
    shown = {
        entry.verdict.ref: entry.time_ns
        for entry in Ledger(Journal(shelf.folder / "ledger"))
        if entry.verdict.ref is not None and entry.verdict.fate == "spilled"
    }
    refs = [ref for ref in shown if ref not in known and shelf.index.gone(ref) is None]
    if fix and refs:
        shelf.index.note(Gone(tuple(refs), "missing", house.clock()))
    fixed = "told to its session" if fix else ""
    return [
        Fault(shelf.name, "missing", ref, "it was shown, and nothing is kept under it", fixed)
        for ref in refs
    ]
