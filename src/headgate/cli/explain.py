"""`headgate explain`: for every decision the rule, the numbers, and the bytes that were shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headgate.cli.opening import chosen, for_stdout, ledger_of, open_gate, session_for
from headgate.cli.output import CommandError, one_line, show, show_record, some
from headgate.cli.parser import Parser
from headgate.errors import RefGone, RefNotFound, StoreError
from headgate.ledger import Entry, Ledger
from headgate.policy import Policy
from headgate.refs import ref_of
from headgate.types import About, Amount, Size, Text, ToolResult, Verdict, text_of_bytes

if TYPE_CHECKING:
    from headgate.gate import Gate

USAGE = "REF|CALL_ID [--session S] [--view | --json]"

SAYS = """\
Say for each decision on a result which limit held and who set it, how big the result was and what
was shown, why, and where the original is, or since when and why it is gone; then show what the
model saw. That is so for a result that went in whole, was shortened, stands for an earlier one, was
made up for a call without one, or moved down when it was old; and for an original that was kept
without a decision. The exit code is 1 if there is nothing to tell of it in this session.
"""

EXAMPLES = """\
  headgate explain r_k3v9x2aqm7te
  headgate explain toolu_01A --session my-agent
  headgate explain r_k3v9x2aqm7te --view            as people are shown it
  headgate explain r_k3v9x2aqm7te --json | jq .reason
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("explain", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("name", metavar="REF|CALL_ID", help="which result: its ref, or its call's id")
    made.add_session()
    made.add_argument(
        "--view", action="store_true", help="show what people see of it, not what the model saw"
    )
    made.add_json("one object for each decision")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    if asked.view and asked.json:
        raise CommandError("--view is for people and --json for programs; leave one out")
    policy = for_stdout(Policy())
    gate = open_gate(policy, session_for(asked))
    decisions = decisions_on(asked.name, ledger_of(gate))
    if not decisions:
        return without_decision(gate, asked.name, as_json=asked.json)
    for number, decision in enumerate(decisions):
        verdict = decision.entry.verdict
        place = whereabouts(gate, verdict)
        shown = shown_of(gate, verdict, place.about)
        if asked.json:
            show_record(record_of(decision, place, shown))
            continue
        show("\n" * bool(number) + "\n".join(page(decision, place)))
        text = NOT_RECORDED if shown is None else shown
        show(viewed(gate, verdict, text, place) if asked.view else text)
    return 0


def viewed(gate: Gate, verdict: Verdict, text: str, place: Place) -> str:
    """What people are shown of it."""
    from headgate.people import view_of

    blocks = (Text(text),)
    result = ToolResult(verdict.call_id, verdict.tool, blocks, kind=verdict.kind, verdict=verdict)
    file = place.about.file if place.about else None
    return view_of(result, chosen(None).view, session=gate.session, file=file or "")


def without_decision(gate: Gate, name: str, *, as_json: bool) -> int:
    """Tell of an original that was kept though nothing was decided on it."""
    about = gate.store.about(name)
    if as_json:
        told = {"reason": UNDECIDED, "original": original_record(Place(about))}
        show_record({"call_id": about.call_id, "tool": about.tool, "ref": about.ref, **told})
        return 0
    lines = {
        "call": f"{about.call_id!r} of tool {about.tool!r}",
        "reason": UNDECIDED,
        "original": original(Place(about)),
        "sha256": about.sha256,
    }
    show("\n".join(f"{name:<9}{one_line(text)}" for name, text in lines.items()))
    return 0


UNDECIDED = "kept without a decision: it was taken out of a history, or somebody asked to keep it"


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


@dataclass(frozen=True, slots=True)
class Place:
    """Where an original is; or, where it is not, why not."""

    about: About | None
    gone: str = ""
    reads: int = 0
    read_tokens: int = 0


def whereabouts(gate: Gate, verdict: Verdict) -> Place:
    """What the store has of the original, and how much of it was read back."""
    ref = ref_of(gate.key, gate.session, verdict.sha256)
    reads = [read.tokens for read in gate.ledger.reads() if read.ref == ref]
    about, gone = None, ""
    try:
        about = gate.store.about(ref)
    except RefGone as error:
        gone = str(error)
    except RefNotFound:
        gone = "" if verdict.ref is None else IN_MEMORY
    except StoreError as error:
        gone = str(error)
    return Place(about, gone, len(reads), sum(reads))


IN_MEMORY = "the store could not keep it; it was in memory while that process ran"


def shown_of(gate: Gate, verdict: Verdict, about: About | None) -> str | None:
    """What the model saw; None where it went in whole, and nobody has it any more."""
    if verdict.text is not None:
        return verdict.text
    if about is None:
        return made_up(verdict)
    return text_of_bytes(gate.original(about.ref)).text


def page(decision: Decision, place: Place) -> list[str]:
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
        **({"stands": f"for the result of {verdict.base!r}"} if verdict.base else {}),
        **({"made": MADE_UP} if made_up(verdict) else {}),
        "original": original(place),
        **({"read": read_back(place)} if place.reads else {}),
        "sha256": verdict.sha256,
    }
    return [f"{name:<9}{one_line(text)}" for name, text in lines.items()] + ["shown"]


def amount(limit: Amount) -> str:
    """A limit in words."""
    return f"{limit.count:,} {limit.unit}"


def in_words(size: Size) -> str:
    """A size in words; tokens that were estimated say so."""
    about = "" if size.exact else "about "
    lines = some(size.lines, "line", "lines")
    return f"{about}{size.tokens:,} tokens, {size.chars:,} characters, {lines}"


MADE_UP = "by repair: the call had no result in the history, and may have been interrupted"


def made_up(verdict: Verdict) -> str | None:
    """What it says, if it is no result of a tool but stands in for one that was missing."""
    from headgate.history.mending import MADE

    return MADE.get(verdict.sha256)


def read_back(place: Place) -> str:
    """How much of it was read back."""
    times = "once" if place.reads == 1 else f"{place.reads:,} times"
    return f"back {times}, {place.read_tokens:,} tokens"


def original(place: Place) -> str:
    """Where the original is, in words."""
    about = place.about
    if about is None:
        return place.gone or "not kept"
    size = f"{about.length:,} bytes"
    if about.full_length is not None:
        size = f"the first {size} of {about.full_length:,}"
    return f"{about.ref}, {size}, {about.file or 'no plain file'}"


def original_record(place: Place) -> dict[str, object]:
    """Where the original is, as an object."""
    about = place.about
    if about is None:
        return {"kept": False, "why_not": place.gone or None}
    full = about.full_length or about.length
    return {"kept": True, "bytes": about.length, "full_bytes": full, "file": about.file}


def moment(entry: Entry) -> datetime:
    """When it was decided, in local time."""
    return datetime.fromtimestamp(entry.time_ns / 1e9, UTC).astimezone()


def record_of(decision: Decision, place: Place, shown: str | None) -> dict[str, object]:
    """A decision as one object."""
    entry, verdict = decision.entry, decision.entry.verdict
    return {
        **{name: value for name, value in asdict(verdict).items() if name != "text"},
        "epoch": decision.epoch or None,
        "time": moment(entry).astimezone(UTC).isoformat(timespec="milliseconds"),
        "file": place.about.file if place.about else None,
        "original": original_record(place),
        "made": made_up(verdict) is not None,
        "reads": place.reads,
        "read_tokens": place.read_tokens,
        "text": shown,
    }
