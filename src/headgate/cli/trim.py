"""`headgate trim`: what the model would see of a text."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING

from headgate.cli.inputs import chunks
from headgate.cli.opening import (
    new_call,
    open_gate,
    overrides_for,
    policy_for,
    session_for,
)
from headgate.cli.output import say, show, show_record
from headgate.cli.parser import Parser, limit, word
from headgate.cli.progress import Progress
from headgate.compiled import patterns_of
from headgate.measure.meters import meter_for
from headgate.spill.private import state_folder
from headgate.types import KINDS, Kind, ShownResult, Size, ToolResult, Verdict, text_of_bytes

if TYPE_CHECKING:
    from headgate.gate import Gate

HOLD_BYTES = 16 << 20
"""Up to this a text is read whole and judged whole; a longer one passes in pieces."""

HOLD_JSON_BYTES = 128 << 20
"""JSON stays JSON only if it is seen whole, so more of it is held."""

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""What would end this process on the spot."""

TOOL = "tool"
"""The name of a tool that nobody named."""

USAGE = """\
[FILE] [--tokens N | --chars N] [--vocab V] [--tool T] [--query Q] [--kind K]
                     [--preset P] [--session S] [--no-spill] [--json]"""

SAYS = """\
Show what the model would see of a text or JSON. The exit code is 0 whether or not it was
shortened. What was left out is kept, and the marker says how to read it.
"""

EXAMPLES = """\
  headgate trim build.log                           within the limits of the preset 'default'
  make 2>&1 | headgate trim --tokens 500 --tool make
  headgate trim --tokens 800 --query 'timeout' server.log
  du -a | headgate trim --tokens 300 --query 'which is the largest?'
  headgate trim --chars 4000 --json answer.json     with sizes before and after
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("trim", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("file", nargs="?", metavar="FILE", help="the text; - or nothing: stdin")
    most = made.add_mutually_exclusive_group()
    made.add_tokens(most)
    most.add_argument(
        "--chars", type=limit("chars"), metavar="N", help="the same in characters; 512 or more"
    )
    made.add_argument("--vocab", metavar="V", help="count tokens in this vocabulary, not in o200k")
    made.add_argument("--tool", default=TOOL, metavar="T", help="the tool that gave this result")
    made.add_query()
    made.add_argument(
        "--kind", type=word(*KINDS), metavar="K", help=f"what the text is: {', '.join(KINDS)}"
    )
    made.add_argument("--preset", metavar="P", help="the limits of this preset")
    made.add_session()
    made.add_argument("--no-spill", action="store_true", help="keep no original")
    made.add_json("one object: text, fate, ref, before, after, kind, reason, vocab, metadata")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    with patterns_of(state_folder(os.environ)), leaving_in_order():
        _trim(asked)
    return 0


@contextmanager
def leaving_in_order() -> Iterator[None]:
    """Whoever ends us early, as `timeout` does, leaves no unfinished file behind."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    ours = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _trim(asked: Namespace) -> None:
    policy = policy_for(asked)
    gate = open_gate(
        policy,
        session_for(asked),
        overrides=overrides_for(asked, asked.tool),
        # In an object the text stands as the model gets it, not as a terminal shows it.
        meter=meter_for(policy.vocab, policy.unit) if asked.json else None,
    )
    with Progress() as progress:
        shown = admitted(gate, asked, progress.watching(chunks(asked.file)))
    if asked.json:
        show_record(record_of(shown))
    else:
        show(shown.text)
    for line in gate.notice(shown).splitlines():
        say(line)


def admitted(gate: Gate, asked: Namespace, pieces: Iterator[bytes]) -> ShownResult:
    """Let the text in, whole where it can be held."""
    call_id = new_call("trim")
    held = _held(pieces)
    more = next(pieces, None)
    if more is None:
        block = text_of_bytes(b"".join(held))
        result = ToolResult(call_id, asked.tool, (block,), kind=asked.kind)
        return gate.admit([result], question=asked.query)[0]
    stream = gate.stream(call_id, asked.tool, kind=asked.kind, question=asked.query)
    for piece in chain(held, [more], pieces):
        stream.write(piece)
    return stream.close()


def _held(pieces: Iterator[bytes]) -> list[bytes]:
    """The first pieces, as many as may be held."""
    first = next(pieces, b"")
    most = HOLD_JSON_BYTES if first.lstrip()[:1] in (b"{", b"[") else HOLD_BYTES
    held, length = [first], len(first)
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= most:
            break
    return held


def record_of(shown: ShownResult) -> dict[str, object]:
    """What was decided, as one object."""
    verdict = shown.verdict
    return {
        "text": shown.text,
        "fate": verdict.fate,
        "ref": verdict.ref,
        "before": sizes(verdict.before),
        "after": sizes(verdict.after),
        "kind": _kind(shown, verdict),
        "reason": verdict.reason,
        "vocab": verdict.vocab,
        "metadata": shown.metadata,
    }


def sizes(size: Size) -> dict[str, int]:
    """A size by unit."""
    return {"tokens": size.tokens, "chars": size.chars, "lines": size.lines}


def _kind(shown: ShownResult, verdict: Verdict) -> Kind:
    if verdict.kind or shown.kind:
        return verdict.kind or shown.kind or "prose"
    from headgate.shape.kinds import recognise

    return recognise(shown.text.encode("utf-8", "surrogatepass"), tool=shown.tool)
