"""Writes docs/comparison.md: the recorded batches through every preset. `-` for stdout."""

import gzip
import json
import sys
import tempfile
from pathlib import Path

from headgate import Gate, Policy, ToolResult
from headgate.measure.meters import meter_for
from headgate.presets import PRESETS

BATCHES = Path(__file__).parent / "batches.json.gz"
METER = meter_for("o200k", "tokens")
STATE = "~/.local/state/headgate"

OPENING = """\
# Six presets side by side

<!-- Written by `make docs` from the recorded batches in scripts/batches.json.gz. -->

The same ten batches of real tool output, each let in once under every preset. They were recorded
with `scripts/record_batches.py`: real programs over a copy of this repository. Tokens are o200k.

- **shown** is what the model sees of all results of the batch, **of** what they were.
- **lines** are those in sight, as they were, out of all of them; the others are lost from sight.
- **in sight** says whether what the user asked for can still be read without another call. The
  question is known to every preset; only `default` looks at it.
- **read back** says how the model gets the rest. Every original is kept under every preset, byte
  for byte (this page is not written unless each comes back); where a preset's own words do not say
  how, `headgate read` and the tool `read_result` lead there all the same.
"""

HOW = {
    "default": "`read_result`, by lines, page, search or path",
    "ethos": "not told",
    "claude_code": "the file, with its own tools",
    "chatcli": "the file, with its own tools",
    "delta": "the next page of an array; else not told",
    "vtcode": "not told; people are",
}

HEAD_LINES = 5
TAIL_LINES = 4
LINE_CHARS = 100


def page() -> str:
    """The whole page."""
    batches = json.loads(gzip.decompress(BATCHES.read_bytes()))
    sections = [section(number, batch) for number, batch in enumerate(batches, start=1)]
    return "\n".join([OPENING, summary(batches, sections), *(text for text, _ in sections)])


def section(number: int, batch: dict) -> tuple[str, dict]:
    """One batch through all presets, and its numbers."""
    results = [made(number, n, result) for n, result in enumerate(batch["results"])]
    before = sum(METER.count(result.text) for result in results)
    lines = sum(len(result.text.splitlines()) for result in results)
    rows, views, numbers = [], [], {}
    for name, policy in PRESETS.items():
        shown = admitted(policy, results, batch["asked"])
        tokens = sum(METER.count(text) for text in shown)
        found = any(batch["sought"] in text for text in shown)
        kept = sum(map(lines_kept, shown, (result.text for result in results)))
        numbers[name] = (tokens, before, found)
        whole = shown == [result.text for result in results]
        rows.append(
            f"| {name} | {tokens:,} | {tokens / before:.0%} | {in_lines(kept, lines)} | "
            f"{'yes' if found else 'no'} | {'nothing is left out' if whole else HOW[name]} |"
        )
        largest = max(range(len(shown)), key=lambda n: len(results[n].text))
        views.append(view(name, shown[largest]))
    told = f"{len(results)} results, " if len(results) > 1 else ""
    text = [
        f"## {number}. {batch['asked']}",
        "",
        f"{told}{before:,} tokens, {lines:,} lines. Asked for: `{batch['sought']}`",
        "",
        "| preset | shown | of | lines | in sight | read back |",
        "| --- | ---: | ---: | ---: | --- | --- |",
        *rows,
        "",
        *views,
    ]
    return "\n".join(text), numbers


def in_lines(kept: int, lines: int) -> str:
    """How many lines are in sight; JSON on one line has none to count."""
    return f"{kept:,} of {lines:,}" if lines > 1 else "–"


def made(number: int, place: int, result: dict) -> ToolResult:
    """A recorded result as the gate takes it."""
    content, is_error = result["content"], result["is_error"]
    call_id = f"call_{number}_{place}"
    return ToolResult.of(result["tool"], content, call_id=call_id, is_error=is_error)


def admitted(policy: Policy, results: list[ToolResult], asked: str) -> list[str]:
    """What the model sees, the same on every machine: one key, one place."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        state.mkdir(mode=0o700)
        (state / "key").touch(mode=0o600)
        (state / "key").write_bytes(bytes(32))
        shown = Gate(policy, state=state, session="docs").admit(results, question=asked)
        for each, result in zip(shown, results, strict=True):
            assert_kept(state, policy, each, result)
        return [each.text.replace(str(state), STATE) for each in shown]


def assert_kept(state: Path, policy: Policy, shown: ToolResult, result: ToolResult) -> None:
    """Every byte of what was shortened comes back."""
    if shown.verdict is None or shown.verdict.ref is None:
        return
    original = Gate(policy, state=state, session="docs").original(shown.verdict.ref)
    if original != result.text.encode():
        raise SystemExit(f"{shown.verdict.call_id} does not read back")


def lines_kept(shown: str, text: str) -> int:
    """How many lines of a text can be read in what is shown of it, as they are or inside JSON."""
    in_sight = set(shown.splitlines())
    if shown.startswith('{"truncated":true'):
        in_sight.update(str(json.loads(shown).get("preview", "")).splitlines())
    return sum(line in in_sight for line in text.splitlines())


def view(name: str, text: str) -> str:
    """The two ends of what the model sees of the largest result."""
    lines = text.splitlines()
    if len(lines) > HEAD_LINES + TAIL_LINES + 1:
        between = len(lines) - HEAD_LINES - TAIL_LINES
        lines = [*lines[:HEAD_LINES], f"        … {between:,} lines …", *lines[-TAIL_LINES:]]
    clipped = [f"    {_plain(line)}".rstrip() for line in lines]
    return "\n".join([f"<details><summary>{name}</summary>", "", *clipped, "", "</details>", ""])


def _plain(line: str) -> str:
    line = line.replace("](", "] (")
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]} …"


def summary(batches: list[dict], sections: list[tuple[str, dict]]) -> str:
    """All batches in one table."""
    names = list(PRESETS)
    rows = [
        f"| {number}. {batch['asked']} | {numbers['default'][1]:,} | "
        + " | ".join(f"{numbers[n][0]:,}{'' if numbers[n][2] else ' –'}" for n in names)
        + " |"
        for number, (batch, (_, numbers)) in enumerate(zip(batches, sections, strict=True), start=1)
    ]
    total = [sum(numbers[n][0] for _, numbers in sections) for n in names]
    found = [sum(numbers[n][2] for _, numbers in sections) for n in names]
    before = sum(numbers["default"][1] for _, numbers in sections)
    return "\n".join(
        [
            f"| tokens shown | all | {' | '.join(names)} |",
            f"| --- | ---: {'| ---: ' * len(names)}|",
            *rows,
            f"| **together** | {before:,} | {' | '.join(f'{t:,}' for t in total)} |",
            f"| **asked for, and in sight** | | {' | '.join(f'{n} of 10' for n in found)} |",
            "",
            "A dash behind a number: what was asked for is out of sight.",
            "",
        ]
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(page())
    else:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
