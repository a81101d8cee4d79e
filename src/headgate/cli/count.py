"""`headgate count`: the tokens of a text or a history, and the vocabulary they were counted in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from headgate.check import DIALECTS
from headgate.cli.inputs import chunks
from headgate.cli.output import say, show, show_record
from headgate.cli.parser import Parser, word
from headgate.cli.progress import Progress
from headgate.measure.meters import meter_for
from headgate.measure.models import Counting, counted_as
from headgate.measure.vocab import EXACT_BYTES
from headgate.types import text_of_bytes

USAGE = "[FILE] [--model M | --vocab V] [--estimate] [--dialect D] [--json]"

SAYS = """\
Count the tokens of a text, or of a history: a request body, or with --dialect the bare array too.
The number goes to stdout; the vocabulary it was counted in, or what it was multiplied with for a
model that publishes none, goes to stderr, and so does what a history is made of.
"""

EXAMPLES = """\
  headgate count build.log
  git diff | headgate count --model claude-sonnet-4-6
  headgate count --vocab cl100k --json notes.md
  headgate count request.json                     a body: for the model it names
  headgate count messages.json --dialect anthropic --json | jq .components
"""

ARRAYS = (b'"messages"', b'"input"', b'"contents"')

DIALECT = f"it is a history: one of {', '.join(DIALECTS)}"


def parser() -> Parser:
    """How it is called."""
    made = Parser("count", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument(
        "file", nargs="?", metavar="FILE", help="the text or history; - or nothing: stdin"
    )
    how = made.add_mutually_exclusive_group()
    how.add_argument("--model", metavar="M", help="as this model counts, or as near as is known")
    how.add_argument("--vocab", metavar="V", help="in this vocabulary (default: o200k)")
    made.add_argument(
        "--estimate", action="store_true", help="look at samples only: fast for a large text"
    )
    made.add_argument("--dialect", type=word(*DIALECTS), metavar="D", help=DIALECT)
    made.add_json("one object: tokens, exact, vocab, model; of a history also its components")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    counting = counting_for(asked)
    meter = meter_for(counting.vocab, "tokens")
    with Progress() as progress:
        data = b"".join(progress.watching(chunks(asked.file)))
    if asked.dialect is not None or may_be_body(data):
        from headgate.cli.count_history import history_in, show_history

        history = history_in(asked, data)
        if history is not None:
            return show_history(asked, history)
    sampled = asked.estimate and len(data) >= EXACT_BYTES
    tokens = meter.estimate(data) if sampled else meter.count(text_of_bytes(data).text)
    tokens = counting.in_model(tokens)
    if asked.json:
        show_record(
            {
                "tokens": tokens,
                "exact": counting.exact and not sampled,
                "vocab": counting.vocab,
                "multiplier": counting.multiplier,
                "model": asked.model,
            }
        )
        return 0
    show(str(tokens))
    say(how_counted(asked, counting, sampled=sampled))
    return 0


def may_be_body(data: bytes) -> bool:
    """Whether it is worth a closer look: an object with an array that histories stand in."""
    return data.lstrip()[:1] == b"{" and any(key in data for key in ARRAYS)


def counting_for(asked: Namespace) -> Counting:
    """How to count: as the model does, or in a vocabulary."""
    if asked.model is not None:
        return counted_as(asked.model)
    return Counting(asked.vocab or "o200k", 1.0, None, exact=True)


def how_counted(asked: Namespace, counting: Counting, *, sampled: bool) -> str:
    """What the number rests on, in words."""
    exact = counting.exact and not sampled
    samples = " from samples" if sampled else ""
    model = "" if asked.model is None else f" for {asked.model}"
    return f"{'counted' if exact else 'estimated'}{samples} in {counting.name}{model}"
