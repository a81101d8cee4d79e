"""`headgate read`: read back what was left out, a part at a time or every byte."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.cli.opening import ledger_of, open_gate, policy_for, session_for
from headgate.cli.output import CommandError, say, show, write
from headgate.cli.parser import Parser, from_one
from headgate.errors import RefNotFound

if TYPE_CHECKING:
    from headgate.gate import Gate
    from headgate.types import Ref

RAW_BYTES = 2 << 20
"""What is in memory at once of an original that is written out."""

WAYS = ("lines", "bytes", "page", "page_size", "search", "path", "sql")

USAGE = """\
REF | --last [--tool T]
                     [--lines A-B | --bytes A-B | --page N [--page-size M] | --search RE |
                      --path JSONPATH | --sql QUERY | --raw] [--tokens N] [--session S]"""

SAYS = """\
Read back a result that was shortened: its start, or the part that is asked for. What does not fit
in one answer is told, with the way to go on. The exit code is 1 if there is no such result in this
session.
"""

EXAMPLES = """\
  headgate read r_k3v9x2aqm7te --lines 401-800
  headgate read --last --search 'error|warning'
  headgate read --last --lines -50                   the last 50 lines
  headgate read r_k3v9x2aqm7te --path '$.items[3]'
  headgate read --last --sql 'SELECT status, count(*) FROM result GROUP BY ALL'
  headgate read --last --raw > whole.log             every byte, as it came
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("read", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("ref", nargs="?", metavar="REF", help="which result, as its marker says")
    made.add_argument("--last", action="store_true", help="the newest result")
    made.add_argument("--tool", metavar="T", help="with --last: the newest of this tool")
    made.add_argument("--lines", metavar="A-B", help="these lines, from 1; A- or -N for the last N")
    made.add_argument("--bytes", metavar="A-B", help="these bytes, from 0; A- or -N as with lines")
    made.add_argument("--page", type=from_one, metavar="N", help="this page of an array or a text")
    made.add_argument("--page-size", type=from_one, metavar="M", help="so many items a page")
    made.add_argument(
        "--search", metavar="RE", help="lines this regular expression matches, with their numbers"
    )
    made.add_argument(
        "--path", metavar="JSONPATH", help="this part of JSON, as in '$.items[3].name'"
    )
    made.add_argument(
        "--sql",
        metavar="QUERY",
        help="this query over JSON or CSV, as table 'result'; needs the 'sql' extra",
    )
    made.add_argument(
        "--raw", action="store_true", help="the whole original, byte for byte, never to a terminal"
    )
    made.add_tokens()
    made.add_session()
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    check(asked)
    gate = open_gate(policy_for(asked), session_for(asked))
    ref = last_ref(gate, asked.tool) if asked.last else asked.ref
    if asked.raw:
        write_original(gate, ref)
        return 0
    show(gate.read(ref, {way: getattr(asked, way) for way in WAYS}))
    return 0


def check(asked: Namespace) -> None:
    """Refuse what cannot be meant."""
    if (asked.ref is None) == (not asked.last):
        raise CommandError("say which result: a ref as its marker says, or --last; not both")
    if asked.tool is not None and not asked.last:
        raise CommandError("--tool goes with --last: the newest result of that tool")
    if not asked.raw:
        return
    ways = [f"--{way.replace('_', '-')}" for way in WAYS if getattr(asked, way) is not None]
    if ways:
        raise CommandError(f"--raw gives the whole original; leave out {' and '.join(ways)}")
    if sys.stdout is not None and sys.stdout.isatty():
        raise CommandError("--raw writes to a file or a pipe, never to a terminal; try --lines")


def last_ref(gate: Gate, tool: str | None) -> Ref:
    """The ref of the newest result, of one tool or of any."""
    entry = ledger_of(gate).last(tool)
    if entry is None:
        of_tool = "" if tool is None else f" of tool {tool!r}"
        raise RefNotFound(f"no result{of_tool} in this session yet")
    if entry.verdict.ref is None:
        why = "it was shown whole" if entry.verdict.fate == "whole" else entry.verdict.reason
        raise RefNotFound(
            f"the last result, {entry.verdict.call_id!r}, is not kept: {why}; "
            "headgate store ls lists what is"
        )
    return entry.verdict.ref


def write_original(gate: Gate, ref: Ref) -> None:
    """Write the whole original to stdout as it came."""
    about = gate.store.about(ref)
    length = about.length
    if about.full_length is not None:
        say(f"only the first {length:,} of {about.full_length:,} bytes were kept")
    for start in range(0, length, RAW_BYTES):
        if not write(gate.store.read(ref, start, start + RAW_BYTES)):
            return
