"""`headgate repair`: a history that its provider accepts, out of one that it may not."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.check import check
from headgate.cli.histories import (
    add_history,
    body_of,
    dialect_for,
    fix_record,
    naming,
    say_fixes,
    say_gave_up,
    write_history,
)
from headgate.cli.output import say, say_record
from headgate.cli.parser import Parser
from headgate.errors import HistoryError

if TYPE_CHECKING:
    from headgate.history.report import Repaired

USAGE = "[HISTORY.json] [--dialect D] [--pending] [--json]"

SAYS = """\
Repair a history: every call gets its one result, every result its call, and what the provider
demands besides. The history goes to stdout, and a valid one is not touched, down to the byte; each
fix is told on stderr. What cannot be repaired goes out as it came. The exit code is 1 if what goes
out would still be refused.
"""

EXAMPLES = """\
  headgate repair request.json > repaired.json
  headgate repair messages.json --dialect openai-chat | headgate check --dialect openai-chat
  headgate repair request.json --json 2> fixes.jsonl > repaired.json
"""

SAID = 3
"""So many violations that are left are told; `headgate check` lists all."""


def parser() -> Parser:
    """How it is called."""
    made = Parser("repair", usage=USAGE, says=SAYS, examples=EXAMPLES)
    add_history(made)
    made.add_json(
        "the report on stderr as objects: kind, where, call_id, what of each fix; or gave_up, left"
    )
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    from headgate.dialects import dialect_named
    from headgate.history.repair import repair

    body = body_of(asked)
    with naming(asked):
        dialect = dialect_named(dialect_for(asked, body))
        repaired = repair(dialect.read(body), pending=asked.pending)
    written = dialect.write(repaired.history)
    write_history(written)
    left = [] if repaired.gave_up else left_in(written, dialect.name, asked)
    if asked.json:
        say_report_records(repaired, left)
    else:
        say_report(repaired, left)
    return 1 if repaired.gave_up or left else 0


def left_in(written: bytes, dialect: str, asked: Namespace) -> list[str]:
    """What the provider would refuse all the same."""
    try:
        return [str(violation) for violation in check(written, dialect, pending=asked.pending)]
    except HistoryError as error:
        return [str(error)]


def say_report(repaired: Repaired, left: Sequence[str]) -> None:
    """Tell what was done and what was not."""
    if repaired.gave_up:
        say_gave_up(repaired.gave_up)
        return
    if repaired.fixes:
        say_fixes(repaired.fixes)
    elif not left:
        say("there is nothing to repair")
    for violation in left[:SAID]:
        say(f"left as it is: {violation}")
    if len(left) > SAID:
        say(f"and {len(left) - SAID:,} more; headgate check lists all")


def say_report_records(repaired: Repaired, left: Sequence[str]) -> None:
    """The same as objects."""
    if repaired.gave_up:
        say_record({"gave_up": repaired.gave_up})
    for fix in repaired.fixes:
        say_record(fix_record(fix))
    for violation in left:
        say_record({"left": violation})
