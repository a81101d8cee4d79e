"""`headgate prepare`: a history ready to send, and what was decided for it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import TYPE_CHECKING

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
from headgate.cli.opening import Reporter, chosen, session_for
from headgate.cli.output import CommandError, reason, record_line, say, some
from headgate.cli.parser import Parser, from_one
from headgate.cli.trim import sizes
from headgate.disk import FILE_MODE, write_all

if TYPE_CHECKING:
    from headgate.history.count import Count
    from headgate.outgoing import Outcome
    from headgate.types import Unit, Verdict

USAGE = """\
[HISTORY.json] [--dialect D] [--preset P] [--model M] [--window N]
                        [--session S] [--pending] [--report FILE]"""

SAYS = """\
Make a history ready to send: repaired, what was decided before applied again, new results within
their budgets, old ones compacted if it is time. It goes to stdout in the form it came in, and byte
for byte as it came where there is nothing to change. In the same session, what was once decided
stands in every longer history, whatever policy holds by then. The exit code is 1 if it cannot be
repaired; it then goes out as it came.
"""

EXAMPLES = """\
  headgate prepare request.json --session my-agent > ready.json
  headgate prepare messages.json --dialect anthropic --model claude-opus-4-6 --report report.json
  headgate prepare request.json --window 32000 --report report.json > ready.json
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("prepare", usage=USAGE, says=SAYS, examples=EXAMPLES)
    add_history(made)
    made.add_argument("--preset", metavar="P", help="the limits and budgets of this preset")
    made.add_argument("--model", metavar="M", help="for this model, whatever the body names")
    made.add_argument(
        "--window", type=from_one, metavar="N", help="the model's window in its own tokens"
    )
    made.add_session()
    made.add_argument(
        "--report", metavar="FILE", help="write what was done and decided here, as one JSON object"
    )
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    if asked.report == "-":
        raise CommandError("--report: '-'; the history goes to stdout, so name a file")
    from headgate.gate import Gate

    # What this process kept in memory would be gone before anybody could ask for it.
    policy = chosen(asked.preset).replace(memory_bytes=0)
    gate = Gate(policy, session=session_for(asked), hooks=(Reporter(),))
    body = body_of(asked)
    with naming(asked):
        outcome = gate.prepare(
            body,
            dialect=dialect_for(asked, body),
            pending=asked.pending,
            model=asked.model or "",
            window_tokens=asked.window,
        )
    if asked.report is not None:
        write_report(asked.report, record_line(record_of(outcome)))
    write_history(outcome.body)
    say_outcome(outcome, policy.unit)
    return 1 if outcome.gave_up else 0


def say_outcome(outcome: Outcome, unit: Unit) -> None:
    """Tell in a few lines what was done."""
    if outcome.gave_up:
        say_gave_up(outcome.gave_up)
    if outcome.fixes:
        say_fixes(outcome.fixes)
    if outcome.over_budget:
        say(
            f"{outcome.over_budget:,} {unit} over the budgets of their batches, by what may not be "
            f"shortened"
        )
    for warning in outcome.count.warnings:
        say(warning)
    results = some(len(outcome.verdicts), "result", "results")
    done = [results, f"{outcome.fresh:,} decided now"]
    if outcome.epoch is not None:
        done.append(f"{len(outcome.epoch.moves):,} moved down because {outcome.epoch.why}")
    say(f"{', '.join(done)}; {outcome.count}")


def write_report(path: str, line: bytes) -> None:
    """Write a file that only its owner may read, whatever it was before."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE_MODE)
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                os.fchmod(fd, FILE_MODE)
            write_all(fd, line)
        finally:
            os.close(fd)
    except OSError as error:
        raise CommandError(f"the report {path!r} cannot be written: {reason(error)}") from error


def record_of(outcome: Outcome) -> dict[str, object]:
    """All that was done and decided, as one object."""
    epoch = outcome.epoch
    return {
        "dialect": outcome.dialect,
        "fixes": [fix_record(fix) for fix in outcome.fixes],
        "gave_up": outcome.gave_up or None,
        "results": [
            result_record(verdict, state)
            for verdict, state in zip(outcome.verdicts, outcome.states, strict=True)
        ],
        "fresh": outcome.fresh,
        "epoch": epoch and {"why": epoch.why, "moved": [key.call_id for key in epoch.moves]},
        "over_budget": outcome.over_budget,
        "count": count_record(outcome.count),
    }


def result_record(verdict: Verdict, state: str) -> dict[str, object]:
    """What stands for one result, as one object."""
    limit = verdict.limit
    return {
        "call_id": verdict.call_id,
        "tool": verdict.tool,
        "fate": verdict.fate,
        "state": state,
        "before": sizes(verdict.before),
        "after": sizes(verdict.after),
        "ref": verdict.ref,
        "limit": limit and {"count": limit.count, "unit": limit.unit},
        "limit_by": verdict.limit_by,
        "reason": verdict.reason,
        "age": verdict.age,
    }


def count_record(count: Count) -> dict[str, object]:
    """The size of a history, as one object."""
    return {
        "tokens": count.tokens,
        "likely": count.likely,
        "low": count.low,
        "vocab": count.vocab,
        "window": count.window_tokens,
        "components": components(count),
        "warnings": list(count.warnings),
    }


def components(count: Count) -> list[dict[str, object]]:
    """What each component of a history takes, the largest first."""
    return [
        {"component": share.component, "tool": share.tool or None, "tokens": share.tokens}
        for share in count.shares
    ]
