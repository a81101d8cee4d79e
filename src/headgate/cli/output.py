"""What leaves the program: data on stdout as UTF-8, messages on stderr, and nothing live in either.

All text that is not our own goes through `visible`: a result, a tool's name or a file's name may
hold sequences that a terminal obeys.
"""

from __future__ import annotations

import os
import sys

from headgate.errors import HeadgateError

TYPE_CHECKING = False  # type checkers know the name; a hook cannot wait for `typing` to load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "headgate"

MESSAGE_CHARS = 1_000
"""A message says what was wrong with the value; of a value that is a whole book, its start."""

NAME_CHARS = 64
"""The longest name a provider takes for a tool; whoever sends more made it up."""


class CommandError(HeadgateError):
    """A command that cannot run as it was asked; its message is the one line the user gets."""


def visible(text: str) -> str:
    """The text with every control, direction and tag character escaped; `\\n` and `\\t` stay."""
    if text.isascii() and text.isprintable():
        return text
    from headgate.visible import show_hidden

    return valid(show_hidden(text))


def valid(text: str) -> str:
    """The text without lone surrogates: they become escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def one_line(text: str) -> str:
    """Untrusted text as a part of one line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def short(name: str) -> str:
    """A name in a table: of one that is a whole book, its start."""
    return name if len(name) <= NAME_CHARS else f"{name[:NAME_CHARS]}…"


def some(count: int, one: str, more: str) -> str:
    """A number of things in words."""
    return f"{count:,} {one if count == 1 else more}"


def say(message: str) -> None:
    """Tell the user something in one line on stderr; that nobody reads it is no reason to stop."""
    if sys.stderr is None:
        return
    line = one_line(message)
    if len(line) > MESSAGE_CHARS:
        line = f"{line[:MESSAGE_CHARS]}..."
    _say(f"{NAME}: {line}\n".encode())


def say_record(record: Mapping[str, object]) -> None:
    """Tell something as one JSON object on one line of stderr."""
    if sys.stderr is not None:
        _say(record_line(record))


def show(text: str) -> None:
    """Write text to stdout, made visible, with a line end after it."""
    seen = visible(text)
    write((seen if seen.endswith("\n") else f"{seen}\n").encode())


def show_record(record: Mapping[str, object]) -> None:
    """Write one JSON object on one line, in ASCII."""
    write(record_line(record))


def record_line(record: Mapping[str, object]) -> bytes:
    """A JSON object as one line of ASCII, with nothing live in it."""
    import json

    line = json.dumps(record, ensure_ascii=True, separators=(", ", ": "))
    return line.replace("\x7f", "\\u007f").encode() + b"\n"


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows in columns; one whose heading starts with a space holds numbers and ends flush."""
    lines = [[heading.strip() for heading in headings], *[[one_line(c) for c in r] for r in rows]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(width) if heading.startswith(" ") else cell.ljust(width)
            for cell, width, heading in zip(line, widths, headings, strict=True)
        ]
        write("  ".join(cells).rstrip().encode() + b"\n")


def write(data: bytes | memoryview) -> bool:
    """Write bytes to stdout as they are; False: the reader has left, having seen enough."""
    if sys.stdout is None:
        raise CommandError("stdout is closed; there is nowhere to write to")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _write_nowhere()
        return False
    except OSError as error:
        _write_nowhere()
        raise CommandError(f"stdout: {reason(error)}") from error
    return True


def reason(error: OSError) -> str:
    """Why the system refused, in its own words."""
    return (error.strerror or str(error)).lower()


def _say(line: bytes) -> None:
    try:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
    except (OSError, ValueError):
        return


def _write_nowhere() -> None:
    """Let what is still buffered go to nobody, or the interpreter complains when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
