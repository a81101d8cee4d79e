"""`headgate check`: what a provider would refuse in a history."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.check import Violation, check
from headgate.cli.histories import add_history, body_of, dialect_for, naming
from headgate.cli.output import say, show_record, show_table, some
from headgate.cli.parser import Parser

USAGE = "[HISTORY.json] [--dialect D] [--pending] [--model M] [--json]"

SAYS = """\
List what a provider would refuse in a history: where, which of its rules, and what was found there.
The exit code is 1 if there is anything. It judges by the rules alone, and shares no code with what
repairs histories.
"""

EXAMPLES = """\
  headgate check request.json
  headgate check messages.json --dialect anthropic --model claude-opus-4-6
  headgate check request.json --json | jq -r .where
"""

WHERE_CHARS = 100
"""A place may hold a key of any length; one of them must not move the columns of all others."""


def parser() -> Parser:
    """How it is called."""
    made = Parser("check", usage=USAGE, says=SAYS, examples=EXAMPLES)
    add_history(made)
    made.add_argument("--model", metavar="M", help="for this model, whatever the body names")
    made.add_json("one object for each violation: rule, kind, where, found")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    body = body_of(asked)
    with naming(asked):
        dialect = dialect_for(asked, body)
        found = check(body, dialect, pending=asked.pending, model=asked.model)
    if asked.json:
        for violation in found:
            show_record(record_of(violation))
    else:
        if found:
            show_table(["where", "rule", "found"], [row_of(violation) for violation in found])
        many = some(len(found), "violation", "violations") if found else "no violation"
        say(f"{many} of the rules of {dialect}")
    return 1 if found else 0


def record_of(violation: Violation) -> dict[str, object]:
    """A violation as one object."""
    return {
        "rule": violation.rule,
        "kind": violation.kind,
        "where": violation.where,
        "found": violation.found,
    }


def row_of(violation: Violation) -> list[str]:
    """A violation as a row of the table."""
    where = violation.where
    if len(where) > WHERE_CHARS:
        where = f"{where[:WHERE_CHARS]}..."
    return [where, violation.rule, violation.found]
