"""How a command's arguments are read: one clear line where they make no sense, help by example."""

from __future__ import annotations

import re
import shutil
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
    _ArgumentGroup,
)
from collections.abc import Callable
from typing import NoReturn

from headgate.cli.output import CommandError, write

WIDEST_COLUMNS = 100
"""A longer line is hard to read, however wide the terminal."""

MOST = 1_000_000_000
"""More tokens, characters or items than any model or reader takes in."""

SESSION_CHARS = 128
"""A session is named in every marker, so its name leaves the rest of a marker its room."""


class Help(RawDescriptionHelpFormatter):
    """Help as wide as the terminal, up to a width that reads well; examples keep their lines."""

    def __init__(self, prog: str) -> None:
        width = min(shutil.get_terminal_size().columns, WIDEST_COLUMNS) - 2
        super().__init__(prog, max_help_position=26, width=width)


class Parser(ArgumentParser):
    """Reads the arguments of one command; what it cannot read is a `CommandError`."""

    def __init__(self, name: str, *, usage: str, says: str, examples: str) -> None:
        super().__init__(
            prog=f"headgate {name}",
            usage=f"headgate {name} {usage}",
            description=says,
            epilog=f"examples:\n{examples.rstrip()}",
            formatter_class=Help,
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument("-h", "--help", action="help", help="show this and exit")

    def error(self, message: str) -> NoReturn:
        """Raise it as one line that says where to look."""
        text = message.removeprefix("argument ")
        raise CommandError(f"{text}; see {self.prog} --help")

    def print_help(self, file: object = None) -> None:
        """Write the help to stdout, whatever the locale."""
        write(self.format_help().encode())

    def add_tokens(self, group: _ArgumentGroup | None = None) -> None:
        """Add --tokens."""
        (group or self).add_argument("--tokens", type=limit("tokens"), metavar="N", help=TOKENS)

    def add_query(self) -> None:
        """Add --query."""
        self.add_argument("--query", default="", metavar="Q", help=QUERY)

    def add_session(self) -> None:
        """Add --session."""
        self.add_argument("--session", type=session, metavar="S", help=SESSION)

    def add_json(self, what: str) -> None:
        """Add --json."""
        self.add_argument("--json", action="store_true", help=what)


TOKENS = "at most N tokens on stdout, the final line end not counted; 128 or more"
QUERY = "what is looked for, in words or as a question: what answers it is shown first"
SESSION = "the session whose results these are (default: HEADGATE_SESSION, else 'default')"


def limit(unit: str) -> Callable[[str], int]:
    """Reads a limit: a whole number that leaves a marker its room."""

    def read(value: str) -> int:
        from headgate.policy import MINIMUM

        return number(value, MINIMUM["tokens" if unit == "tokens" else "chars"])

    return read


def from_one(value: str) -> int:
    """A whole number above zero."""
    return number(value, 1)


def number(value: str, least: int) -> int:
    """A whole number of plain digits, between `least` and what anybody needs."""
    digits = re.fullmatch(r"[0-9]{1,10}", value)
    if not digits or not least <= int(value) <= MOST:
        raise ArgumentTypeError(f"{value!r}; it takes a whole number from {least:,} to {MOST:,}")
    return int(value)


def session(value: str) -> str:
    """The name of a session: anything printable that can stand in a marker."""
    if not value or len(value) > SESSION_CHARS or not value.isprintable():
        raise ArgumentTypeError(
            f"{value[:SESSION_CHARS]!r}; it takes 1 to {SESSION_CHARS} printable characters"
        )
    return value


def address(value: str) -> str:
    """An address over HTTP; it may hold what nobody should read, so it is not told again."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_http = False
    if not is_http or not value.isprintable() or " " in value:
        raise ArgumentTypeError("it takes http(s)://HOST[:PORT][/PATH]")
    return value


def word(*words: str) -> Callable[[str], str]:
    """Reads one of a few words."""

    def read(value: str) -> str:
        if value not in words:
            raise ArgumentTypeError(f"{value!r}; it is one of {', '.join(words)}")
        return value

    return read
