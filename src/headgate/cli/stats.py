"""`headgate stats`: what was admitted, shortened, kept and read back, and what that was worth."""

from __future__ import annotations

import os
import re
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headgate.cli.output import CommandError, say, short, show_record, show_table, some
from headgate.cli.parser import Parser, session, word
from headgate.disk import Folder
from headgate.economy import PRICES, Prices
from headgate.errors import StoreError
from headgate.failures import noted
from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.spill.private import session_name, sessions_folder, state_folder
from headgate.stats import Count, counted, total

DAY_NS = 86_400 * 10**9
MILLION = 1_000_000

USAGE = "[--session S] [--days N] [--model M | --price P] [--dialect D] [--json]"

SAYS = """\
Say what was admitted and what the model saw of it, by tool. What was kept out is counted once at
the price of a first sending, and at the price of the cache for each later batch of its session, of
one result at most 200,000 tokens, since no request would have held more; what was read back is
subtracted in the same way. Results so small that a hook let them through without a look are not
counted. Hooks and gateways that failed, and let a result through, are told.
"""

EXAMPLES = """\
  headgate stats
  headgate stats --days 7 --model claude-opus-5     in money; needs the 'prices' extra
  headgate stats --price 3                          in money, at 3 dollars a million input tokens
  headgate stats --session my-agent --json
"""


@dataclass(frozen=True, slots=True)
class Money:
    """What tokens cost: of a million at the plain price of input, and the cache's parts of it."""

    dollars: float | None
    prices: Prices
    factor: float = 1.0
    """Tokens of the model for one of ours."""


def parser() -> Parser:
    """How it is called."""
    made = Parser("stats", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("--session", type=session, metavar="S", help="only this one (default: all)")
    made.add_argument("--days", type=amount, metavar="N", help="only the last N days")
    made.add_argument("--model", metavar="M", help="in the tokens and at the prices of this model")
    made.add_argument("--price", type=amount, metavar="P", help="dollars a million input tokens")
    made.add_argument(
        "--dialect",
        type=word(*PRICES),
        default="anthropic",
        metavar="D",
        help="whose cache: anthropic (default), openai-chat, openai-responses, gemini",
    )
    made.add_json("one object for each tool, then one with the total")
    return made


def amount(value: str) -> float:
    """A number above zero."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", value) or not float(value):
        raise ArgumentTypeError(f"{value!r}; it takes a number above 0, as 7 or 0.25")
    return float(value)


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    money = money_for(asked)
    since_ns = time.time_ns() - int(asked.days * DAY_NS) if asked.days else 0
    state = state_folder(os.environ)
    counts: dict[str, Count] = {}
    for ledger in ledgers(state, asked.session):
        found = counted(list(ledger), ledger.epochs(), ledger.reads(), money.prices, since_ns)
        for tool, count in found.items():
            counts.setdefault(tool, Count()).add(count)
    failures = [failure for failure in noted(state) if failure.time_ns >= since_ns]
    rows = sorted(counts.items(), key=lambda item: -item[1].kept_out)
    if asked.json:
        for tool, count in rows:
            show_record({"tool": tool, **record_of(count, money)})
        show_record({"total": record_of(total(counts.values()), money), "failures": len(failures)})
        return 0
    tell(rows, total(counts.values()), money)
    if failures:
        many = f"{len(failures):,} time{'s' if len(failures) > 1 else ''}"
        say(f"let through untouched {many}, because of a failure; the last: {failures[-1].what}")
    return 0


def ledgers(state: Path, name: str | None) -> Iterator[Ledger]:
    """The ledger of each session; one that cannot be read is told and left out."""
    folder = sessions_folder(Folder(state, "the state folder"))
    held = folder.open()
    names = sorted(os.listdir(held.fd)) if held is not None else []
    for found in names if name is None else [session_name(name)]:
        ledger = Ledger(Journal(folder.sub(found, "the session's folder") / "ledger"))
        try:
            len(ledger)
        except StoreError as error:
            say(str(error))
            continue
        if (failure := ledger.take_failure()) is not None:
            say(failure)
        yield ledger


def tell(rows: Sequence[tuple[str, Count]], whole: Count, money: Money) -> None:
    """Write the table, and the sums below it."""
    if rows:
        headings = ["tool", " results", " shortened", " tokens", " shown", " read back"]
        show_table([*headings, " kept out"], [row(tool, count, money) for tool, count in rows])
    say(
        f"{some(whole.results, 'result', 'results')}, {whole.shortened:,} of them shortened; "
        f"{scaled(whole.kept_out, money):,} tokens kept out"
    )
    if not whole.results:
        return
    worth = whole.worth * money.factor
    price = "" if money.dollars is None else f", {dollars(worth, money)}"
    say(f"worth {worth:,.0f} tokens at the plain price of input{price}")


def row(tool: str, count: Count, money: Money) -> list[str]:
    """A tool as a line of the table."""
    tokens = [count.tokens, count.shown - count.aged, count.read_back, count.kept_out]
    numbers = [f"{scaled(number, money):,}" for number in tokens]
    # Without a name: what was read back of a result that is gone, or the history named no tool.
    tool = short(tool) or ("(no name)" if count.results else "(gone)")
    return [tool, f"{count.results:,}", f"{count.shortened:,}", *numbers]


def record_of(count: Count, money: Money) -> dict[str, object]:
    """A count as one object."""
    worth = count.worth * money.factor
    return {
        "results": count.results,
        **{fate: count.by_fate.get(fate, 0) for fate in ("whole", "shaped", "spilled", "cleared")},
        "tokens": scaled(count.tokens, money),
        "shown": scaled(count.shown - count.aged, money),
        "read_back": scaled(count.read_back, money),
        "kept_out": scaled(count.kept_out, money),
        "worth_tokens": round(worth),
        "dollars": None if money.dollars is None else round(worth * money.dollars / MILLION, 6),
    }


def scaled(tokens: int, money: Money) -> int:
    """Tokens of ours as those of the model."""
    return round(tokens * money.factor)


def dollars(worth: float, money: Money) -> str:
    """Money as people write it; a loss has its sign."""
    sum_of = worth * (money.dollars or 0) / MILLION
    return f"{'-' if sum_of < 0 else ''}${abs(sum_of):,.2f}"


def money_for(asked: Namespace) -> Money:
    """What a token costs, as far as it was said."""
    if asked.model is not None and asked.price is not None:
        raise CommandError("--model looks up the price; leave out --price, or --model")
    money = Money(asked.price, PRICES[asked.dialect])
    if asked.model is None:
        return money
    from headgate.measure.models import counted_as

    factor = counted_as(asked.model).in_model(MILLION) / MILLION
    return replace(priced(asked.model, money), factor=factor)


def priced(model: str, money: Money) -> Money:
    """The prices of a model, from the list that comes with the extra."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        raise CommandError(
            "--model needs the 'prices' extra: pip install 'headgate[prices]'; or say --price"
        ) from None
    part = 1_000  # a short prompt: some models charge long ones more
    try:
        plain = float(calc_price(Usage(input_tokens=part), model_ref=model).input_price)
        read = Usage(input_tokens=part, cache_read_tokens=part)
        cached = float(calc_price(read, model_ref=model).input_price)
        wrote = Usage(input_tokens=part, cache_write_tokens=part)
        written = float(calc_price(wrote, model_ref=model).input_price)
    except LookupError:
        raise CommandError(f"the price of {model!r} is not known; say --price") from None
    if not plain:
        return replace(money, dollars=0.0)  # it costs nothing, and so does its cache
    prices = replace(money.prices, write=written / plain, read=cached / plain)
    return replace(money, dollars=plain * MILLION / part, prices=prices)
