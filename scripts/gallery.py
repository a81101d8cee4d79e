"""Writes docs/gallery.md, outputs as the model gets them: `gallery.py docs/gallery.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from gallery_outputs import Output, outputs

from headgate import Policy, ToolResult, tokens
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.types import Verdict

METER = meter_for("o200k", "tokens")

INTRODUCTION = """\
# Gallery

<!-- Written by `make docs`; change scripts/gallery_outputs.py. -->

Twenty-one outputs as the model gets them, each with far less room than it wants. They are made by
`scripts/gallery_outputs.py`, so that everybody sees the same, and `make docs` writes this page.

Ask of each: would you know what happened, what is missing, and how to get it? Lines stand in their
order and are not rewritten, but where a note says so; a gap names the lines it leaves out; what we
add stands in brackets that close with the tag of the result. Everything shown counts, markers too.
"""


def shown(output: Output) -> Verdict:
    """What the gate decides."""
    limit = tokens(output.tokens)
    policy = Policy(result=limit, batch=None, error=limit, block_overhead=0)
    desk = Desk(policy, METER, bytes(32), "gallery", question=output.question)
    result = ToolResult.of(output.tool, output.text, call_id="call_1")
    [verdict] = plan_batch([result], Ledger(None), desk, NO_OVERRIDES).verdicts
    return verdict


def entry(number: int, output: Output) -> str:
    """One part of the page."""
    verdict = shown(output)
    asked = f' The user had asked: "{output.question}"' if output.question else ""
    return (
        f"## {number}. {output.title}\n\n"
        f"{verdict.before.tokens:,} tokens on {verdict.before.lines:,} lines, recognised as "
        f"{verdict.kind}, shown in {verdict.after.tokens:,} of {output.tokens:,}.{asked}\n\n"
        f"````text\n{verdict.text}\n````\n"
    )


def main(argv: list[str]) -> int:
    """Write the page, or print it."""
    parts = [entry(number, output) for number, output in enumerate(outputs(), 1)]
    page = "\n".join([INTRODUCTION, *parts])
    if argv:
        Path(argv[0]).write_text(page, encoding="utf-8")
    else:
        sys.stdout.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
