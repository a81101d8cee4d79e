"""Writes docs/presets.md from the presets themselves: `presets_docs.py docs/presets.md`, or `-`."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from headgate.guard_rules import ACTIONS, RULES
from headgate.marker import Excerpt
from headgate.policy import Policy
from headgate.presets import PRESETS
from headgate.types import Amount

OPENING = """\
# Presets

<!-- Written by `make docs` from the presets; change those. -->

A preset is a policy with a name: data over the same code. `default` is ours. The others behave as
five published systems do, number by number and word by word, so that an agent built for one of them
sees what it knows. What they have in common is what Headgate promises anyway: every original is
kept and reads back byte for byte, nothing shortened exceeds its limit, what was shown once is shown
again, and a store that fails stops nothing.

```python
from headgate import Gate
from headgate.presets import preset

gate = Gate(preset("claude_code"), session="docs")
```

On the command line `--preset NAME` or `HEADGATE_PRESET=NAME`. A preset is a place to start from:
`headgate presets NAME` writes it as TOML, which can be changed and named with `HEADGATE_POLICY`;
and a file that begins with `preset = "NAME"` says only what is different.

```python
from headgate.policy_file import policy_from_toml, policy_to_toml

ours = policy_from_toml(\"\"\"
preset = "chatcli"
result = "40_000 chars"

[ageing]
turns = [3, 6]
\"\"\")
assert ours.ageing.turns == (3, 6)
assert policy_from_toml(policy_to_toml(ours)) == ours
```

[The same ten batches under all of them](comparison.md) shows how they differ.

## Side by side
"""

READERS = {
    "tool": "`read_result`",
    "cli": "`headgate read`",
    "file": "a file",
    "none": "not said",
}
SHARING = {
    "fair": "fair shares",
    "even": "even shares",
    "largest_first": "the largest give way",
}
DECLARED = {
    "lower": "may only lower it",
    "raise": "may lower or raise it",
    "cap": "is its cap",
}
ERRORS = {"verbatim": "as they are", "same": "as results", "own": "a limit of their own"}


def page() -> str:
    """The whole page."""
    return "\n".join([OPENING, table(), *(about(name) for name in PRESETS)])


def table() -> str:
    """One line for each question, one column for each preset."""
    head = ["", *PRESETS]
    rows = [[question, *map(answer, PRESETS.values())] for question, answer in QUESTIONS.items()]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def about(name: str) -> str:
    """What a preset's file says of itself."""
    text = (import_module(f"headgate.presets.{name}").__doc__ or "").strip()
    return f"## `{name}`\n\n{text}\n"


def unit(policy: Policy) -> str:
    """What the preset counts in."""
    return f"tokens, {policy.vocab}" if policy.unit == "tokens" else "characters"


def one_result(policy: Policy) -> str:
    """The limit of one result, and of tools that have their own."""
    if policy.batch is not None and policy.result.count >= policy.batch.count:
        said = ["its share"]
    else:
        said = [number(policy.result)]
    if policy.scale is not None:
        counts = [policy.result.count * f for f in (policy.scale.widen, policy.scale.tighten)]
        below, above = f"{policy.scale.below:.0%}", f"{policy.scale.above:.0%}"
        said.append(f"{counts[0]:,.0f} below {below} of the window, {counts[1]:,.0f} above {above}")
    if policy.cap is not None:
        said.append(f"after a cap of {number(policy.cap)}")
    rules = {**policy.tools, **{f"class {name}": rule for name, rule in policy.classes.items()}}
    for name, rule in rules.items():
        most = rule.limit or rule.cap
        words = number(most) if most else "any size"
        if not name.startswith("@"):
            said.append(f"{name}: {'exempt, ' if rule.exempt else ''}{words}")
    if policy.page_items is not None:
        said.append(f"{policy.page_items} items")
    return "; ".join(said)


def a_batch(policy: Policy) -> str:
    """The budget of a batch, and who gives way."""
    if policy.batch is None:
        return "none"
    said = [number(policy.batch), SHARING[policy.sharing]]
    by = policy.batch_by_window
    if by is not None:
        said += [
            f"{number(by.small)} up to a window of {by.small_tokens:,}",
            f"{number(by.large)} from {by.large_tokens:,} on",
        ]
    elif policy.unit == "tokens":
        said.append(f"at most {policy.batch_window_share:.0%} of the window")
    return "; ".join(said)


def kept(policy: Policy) -> str:
    """What is left of a big result."""
    if policy.keep == "salient":
        return "what stands out, and the ends"
    if policy.keep == "envelope":
        return "a JSON envelope: preview, page, keys"
    return ends(policy.excerpt)


def ends(form: Excerpt) -> str:
    """An excerpt in words."""
    edges = {"anywhere": "", "line": ", whole lines", "half": ", at a line end if not before half"}
    if form.head is None:
        share = f"{form.head_share:.0%} head, {1 - form.head_share:.0%} tail"
        return ("head" if form.head_share == 1 else share) + edges[form.head_ends]
    tail = f" + tail {number(form.tail)}" if form.tail and form.tail.count else ""
    return f"head {number(form.head)}{tail}{edges[form.head_ends]}"


def ageing(policy: Policy) -> str:
    """When old results shrink."""
    if policy.ageing.turns is not None:
        first, last = policy.ageing.turns
        form = ends(policy.aged) if policy.aged else "their ends"
        return f"{first}+ turns: {form}; {last}+: one line; from {number(policy.ageing.least)}"
    if policy.ageing.high is not None:
        return f"from {policy.ageing.high:.0%} of the window, down to {policy.ageing.low:.0%}"
    return "stay as they are"


def counting(policy: Policy) -> str:
    """How histories are counted."""
    rule = policy.counting
    said = [rule.vocab or "the model's vocabulary"]
    if rule.unknown:
        said.append(f"else {rule.unknown}")
    if rule.dense_extensions:
        said.append(f"{', '.join(rule.dense_extensions)}: {rule.dense_vocab}")
    return "; ".join(said)


def guards(policy: Policy) -> str:
    """Which guards are set."""
    said = [
        f"{name.replace('_', ' ')}: {action} after {getattr(rule, action)}"
        for name in RULES
        for rule in [getattr(policy.guards, name)]
        for action in ACTIONS
        if getattr(rule, action) is not None
    ]
    return "; ".join(said) or "none"


def number(amount: Amount) -> str:
    """An amount as people write it."""
    return f"{amount.count:,} {'characters' if amount.unit == 'chars' else amount.unit}"


QUESTIONS: dict[str, Callable[[Policy], str]] = {
    "counts in": unit,
    "one result": one_result,
    "what a tool declares": lambda policy: DECLARED[policy.declarations],
    "a batch": a_batch,
    "kept of a big one": kept,
    "errors": lambda policy: ERRORS[policy.errors],
    "where the rest is": lambda policy: READERS[policy.marker.reader],
    "the store fails": lambda p: (
        "let in whole" if p.store_fails == "whole" else "shaped, and says so"
    ),
    "old results": ageing,
    "histories counted by": counting,
    "guards": guards,
}


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(page())
    else:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
