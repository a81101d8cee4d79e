"""`headgate count`: the tokens of a text, and the vocabulary they were counted in."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from headgate.cli.inputs import chunks
from headgate.cli.output import say, show, show_record
from headgate.cli.parser import Parser
from headgate.cli.progress import Progress
from headgate.measure.meters import meter_for
from headgate.measure.models import Counting, counted_as
from headgate.measure.vocab import EXACT_BYTES
from headgate.types import text_of_bytes

USAGE = "[FILE] [--model M | --vocab V] [--estimate] [--json]"

SAYS = """\
Count the tokens of a text. The number goes to stdout; the vocabulary it was counted in, or what it
was multiplied with for a model that publishes none, goes to stderr.
"""

EXAMPLES = """\
  headgate count build.log
  git diff | headgate count --model claude-sonnet-4-6
  headgate count --vocab cl100k --json notes.md
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("count", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("file", nargs="?", metavar="FILE", help="the text; - or nothing: stdin")
    how = made.add_mutually_exclusive_group()
    how.add_argument("--model", metavar="M", help="as this model counts, or as near as is known")
    how.add_argument("--vocab", metavar="V", help="in this vocabulary (default: o200k)")
    made.add_argument(
        "--estimate", action="store_true", help="look at samples only: fast for a large text"
    )
    made.add_json("one object: tokens, exact, vocab, multiplier, model")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    counting = counting_for(asked)
    meter = meter_for(counting.vocab, "tokens")
    with Progress() as progress:
        data = b"".join(progress.watching(chunks(asked.file)))
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
