"""Ways to make a text fit a budget: ours, and the plain ones everybody has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from retention_items import METER, Item

from headgate import Policy, ToolResult, tokens
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.shape.cut import prefix, suffix

SEVERE = re.compile(
    r"error|fail|fatal|exception|panic|traceback|critical|warn|abort|denied|not found", re.I
)
CONTEXT_LINES = 2

NOTE = "\n[... {} characters omitted ...]\n"

Way = Callable[[Item, int], str]


def ours(item: Item, budget: int) -> str:
    """What the gate shows, told what the user asked."""
    return _admitted(item, budget, item.question)


def unasked(item: Item, budget: int) -> str:
    """What the gate shows where nobody tells it the question."""
    return _admitted(item, budget, "")


def _admitted(item: Item, budget: int, question: str) -> str:
    limit = tokens(budget)
    policy = Policy(
        result=limit, batch=None, error=limit, preview=limit, block_overhead=0, classes={}
    )
    desk = Desk(policy, METER, bytes(32), "bench", question=question)
    # A call may ask for a limit of its own; here the budget is the limit.
    asks = {*policy.asked_tokens, *policy.asked_lines}
    arguments = {k: v for k, v in item.arguments.items() if question and k not in asks}
    result = ToolResult.of(item.tool, item.text, call_id="c", arguments=arguments)
    [verdict] = plan_batch([result], Ledger(None), desk, NO_OVERRIDES).verdicts
    return item.text if verdict.text is None else verdict.text


def head(item: Item, budget: int) -> str:
    return _ends(item.text, budget, 1.0)


def tail(item: Item, budget: int) -> str:
    return _ends(item.text, budget, 0.0)


def head_tail(item: Item, budget: int) -> str:
    return _ends(item.text, budget, 0.5)


def _ends(text: str, budget: int, share: float) -> str:
    if _fits(text, budget):
        return text
    note = NOTE.format(len(text))
    left = budget - METER.count(note) - 2
    first = prefix(text, int(left * share), METER) if share else ""
    last = suffix(text[len(first) :], left - METER.count(first), METER) if share < 1 else ""
    return first + note + last


def grep(item: Item, budget: int) -> str:
    """Lines with a word of trouble and two lines around each, as many as fit; else the tail."""
    if _fits(item.text, budget):
        return item.text
    found = "\n".join(_matches(item.text.split("\n")))
    return prefix(found, budget, METER) if found else tail(item, budget)


def _matches(lines: list[str]) -> Iterator[str]:
    shown = -1
    for number, line in enumerate(lines):
        if not SEVERE.search(line):
            continue
        start = max(shown + 1, number - CONTEXT_LINES)
        if start > shown + 1:
            yield "--"
        shown = max(shown, min(number + CONTEXT_LINES, len(lines) - 1))
        yield from lines[start : shown + 1]


def _fits(text: str, budget: int) -> bool:
    # The longest token is 128 characters, so a long text need not be counted.
    return len(text) <= 128 * budget and METER.count(text) <= budget


WAYS: dict[str, Way] = {
    "headgate": ours,
    "headgate, unasked": unasked,
    "head": head,
    "tail": tail,
    "head+tail": head_tail,
    "severity grep": grep,
}

POSITIONAL = ("head", "tail", "head+tail")
