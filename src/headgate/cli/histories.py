"""Histories as commands take and give them: a file or stdin in, the very bytes out."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headgate.check import DIALECTS, recognise_dialect
from headgate.cli.inputs import called, chunks
from headgate.cli.output import CommandError, say, show, some, write
from headgate.cli.parser import Parser, word
from headgate.cli.progress import Progress
from headgate.errors import HistoryError
from headgate.types import text_of_bytes

if TYPE_CHECKING:
    from headgate.history.report import Fix

MOST_BYTES = 256 << 20
"""Providers take 32 MB; what is so much longer is no request, and may have no end."""

DIALECT = f"one of {', '.join(DIALECTS)} (default: the one it fits)"


def add_history(made: Parser) -> None:
    """Add what every command that takes a history has."""
    made.add_argument(
        "file",
        nargs="?",
        metavar="HISTORY.json",
        help="a request body, or its bare array of messages; - or nothing: stdin",
    )
    made.add_argument("--dialect", type=word(*DIALECTS), metavar="D", help=DIALECT)
    made.add_argument(
        "--pending",
        action="store_true",
        help="the calls of the last assistant message still wait for their results",
    )


def body_of(asked: Namespace) -> bytes:
    """All bytes of the history."""
    pieces: list[bytes] = []
    left = MOST_BYTES
    with Progress() as progress:
        for piece in progress.watching(chunks(asked.file)):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise CommandError(
                    f"{called(asked.file)}: more than {MOST_BYTES:,} bytes; no request is that long"
                )
    return b"".join(pieces)


@contextmanager
def naming(asked: Namespace) -> Iterator[None]:
    """Tells what is wrong with a history together with the name of its file."""
    try:
        yield
    except HistoryError as error:
        raise CommandError(f"{called(asked.file)}: {error}") from error


def dialect_for(asked: Namespace, body: bytes) -> str:
    """The dialect that was named, else the only one that the history fits."""
    if asked.dialect is not None:
        named: str = asked.dialect
        return named
    return only_dialect(recognise_dialect(body))


def only_dialect(fitting: Sequence[str]) -> str:
    """The one dialect of these."""
    if not fitting:
        raise HistoryError(
            "this is no history: neither a body with messages, input or contents, nor their array"
        )
    if len(fitting) > 1:
        raise HistoryError(f"this fits {' and '.join(fitting)}; say which with --dialect")
    return fitting[0]


def write_history(body: bytes) -> None:
    """Write a history to stdout, byte for byte; what a terminal would obey, it is shown instead."""
    if sys.stdout is not None and sys.stdout.isatty():
        show(text_of_bytes(body).text)
    else:
        write(body)


def say_fixes(fixes: Sequence[Fix]) -> None:
    """Tell each fix with its place, and how many there are of each kind."""
    for fix in fixes:
        say(str(fix))
    kinds = Counter(fix.kind for fix in fixes)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    say(f"{some(len(fixes), 'fix', 'fixes')}: {counts}")


def say_gave_up(why: str) -> None:
    """Tell that nothing was done."""
    say(f"it goes out as it came, because it cannot be repaired: {why}")


def fix_record(fix: Fix) -> dict[str, object]:
    """A fix as one object."""
    return {"kind": fix.kind, "where": fix.where, "call_id": fix.call_id, "what": fix.what}
