"""`headgate explain`: for every decision the rule, the numbers, and the bytes that were shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headgate.cli.opening import for_stdout, open_gate, session_for
from headgate.cli.output import one_line, show, show_record
from headgate.cli.parser import Parser
from headgate.errors import RefNotFound, StoreError
from headgate.ledger import Entry, Ledger
from headgate.policy import Policy
from headgate.refs import ref_of
from headgate.types import About, Amount, Size, Verdict, text_of_bytes

if TYPE_CHECKING:
    from headgate.gate import Gate

USAGE = "REF|CALL_ID [--session S] [--json]"

SAYS = """\
Say for each decision on a result which limit held and who set it, how big the result was and what
was shown, why, and where the original is; then show what the model saw. The exit code is 1 if
nothing was decided on it in this session.
"""

EXAMPLES = """\
  headgate explain r_k3v9x2aqm7te
  headgate explain toolu_01A --session my-agent
  headgate explain r_k3v9x2aqm7te --json | jq .reason
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("explain", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("name", metavar="REF|CALL_ID", help="which result: its ref, or its call's id")
    made.add_session()
    made.add_json("one object for each decision")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    gate = open_gate(for_stdout(Policy()), session_for(asked))
    decisions = decisions_on(asked.name, gate.ledger)
    if not decisions:
        raise RefNotFound(f"no result {asked.name!r} in this session; it may have expired")
    for number, decision in enumerate(decisions):
        about = kept(gate, decision.entry.verdict)
        shown = shown_of(gate, decision.entry.verdict, about)
        if asked.json:
            show_record(record_of(decision, about, shown))
            continue
        show("\n" * bool(number) + "\n".join(page(decision, about)))
        show(NOT_RECORDED if shown is None else shown)
    return 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided at one moment; `epoch` is why an old result moved down then."""

    entry: Entry
    epoch: str = ""


def decisions_on(name: str, ledger: Ledger) -> list[Decision]:
    """All decisions on a result: the first ones, then how it moved down when it was old.

    It is found by its ref, which it may have got only then, or by its call's id.
    """
    made = [Decision(entry) for entry in ledger]
    made += [
        Decision(Entry(key, verdict, epoch.time_ns), epoch.why)
        for epoch in ledger.epochs()
        for key, verdict in epoch.moves.items()
    ]
    verdicts = [decision.entry.verdict for decision in made]
    named = {_result(v) for v in verdicts if v.ref == name} or {
        _result(v) for v in verdicts if v.call_id == name
    }
    return [decision for decision in made if _result(decision.entry.verdict) in named]


def _result(verdict: Verdict) -> tuple[str, str]:
    return verdict.call_id, verdict.sha256


NOT_RECORDED = "(it went in as it came, and was not kept: only what is shortened is)"


def kept(gate: Gate, verdict: Verdict) -> About | None:
    """What the store has of the original; None: nothing, or not any more."""
    try:
        return gate.store.about(ref_of(gate.key, gate.session, verdict.sha256))
    except StoreError:
        return None


def shown_of(gate: Gate, verdict: Verdict, about: About | None) -> str | None:
    """What the model saw; None where it went in whole, and the original is not kept."""
    if verdict.text is not None:
        return verdict.text
    if about is None:
        return None
    return text_of_bytes(gate.original(about.ref)).text


def page(decision: Decision, about: About | None) -> list[str]:
    """A decision in words, one line for each part."""
    entry, verdict = decision.entry, decision.entry.verdict
    rule = "no limit" if verdict.limit is None else f"at most {amount(verdict.limit)}"
    error = ", an error" if verdict.is_error else ""
    kind = f", {verdict.kind}" if verdict.kind else ""
    lines = {
        "call": f"{verdict.call_id!r} of tool {verdict.tool!r}{error}, {moment(entry):%F %T %z}",
        "fate": f"{verdict.fate}{kind}",
        "rule": f"{rule}: {verdict.limit_by}",
        "before": f"{in_words(verdict.before)} (tokens in {verdict.vocab})",
        "after": in_words(verdict.after),
        "reason": verdict.reason,
        **({"moved": f"down, because {decision.epoch}"} if decision.epoch else {}),
        "original": original(verdict, about),
        "sha256": verdict.sha256,
    }
    return [f"{name:<9}{one_line(text)}" for name, text in lines.items()] + ["shown"]


def amount(limit: Amount) -> str:
    """A limit in words."""
    return f"{limit.count:,} {limit.unit}"


def in_words(size: Size) -> str:
    """A size in words; tokens that were estimated say so."""
    about = "" if size.exact else "about "
    return f"{about}{size.tokens:,} tokens, {size.chars:,} characters, {size.lines:,} lines"


def original(verdict: Verdict, about: About | None) -> str:
    """Where the original is."""
    if about is not None:
        return f"{about.ref}, {about.length:,} bytes, {about.file or 'no plain file'}"
    if verdict.ref is not None:
        return f"{verdict.ref}, not kept any more"
    return "not kept"


def moment(entry: Entry) -> datetime:
    """When it was decided, in local time."""
    return datetime.fromtimestamp(entry.time_ns / 1e9, UTC).astimezone()


def record_of(decision: Decision, about: About | None, shown: str | None) -> dict[str, object]:
    """A decision as one object."""
    entry, verdict = decision.entry, decision.entry.verdict
    return {
        **{name: value for name, value in asdict(verdict).items() if name != "text"},
        "epoch": decision.epoch or None,
        "time": moment(entry).astimezone(UTC).isoformat(timespec="milliseconds"),
        "file": about.file if about else None,
        "text": shown,
    }
