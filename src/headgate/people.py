"""What people are shown of a result, on a terminal or a page; it never changes what the model gets.

Short enough to stand among other things, safe to print, and with a line that says where the whole
is. Code and differences are shown from their start; of anything else both ends, because the end
says how it went.
"""

from __future__ import annotations

import shlex
from typing import Final

from headgate.shape.kinds import recognise
from headgate.types import Kind, ToolResult
from headgate.view import View
from headgate.visible import show_hidden

FROM_THE_START: Final[tuple[Kind, ...]] = ("code", "diff")

TAIL_SHARE: Final = 3
"""Of the lines that are shown of anything else, the last third is its end."""

TAB_COLUMNS: Final = 4


def view_of(shown: ToolResult, view: View, *, session: str | None = None, file: str = "") -> str:
    """What a person is shown of a result that went to the model.

    `file` is where its original is, where it is known; else the command that reads it is told, if
    there is one: without a `session`, what is kept is in memory, or in a store that is not ours.
    """
    verdict = shown.verdict
    kind = (verdict.kind if verdict else None) or shown.kind
    text = shown.text
    lines = verdict.before.lines if verdict and verdict.text is not None else None
    return for_people(text, view, kind=kind, where=where_of(shown, session, file), of_lines=lines)


def where_of(shown: ToolResult, session: str | None, file: str) -> str:
    """Where the whole of a result is, in words for people."""
    if file:
        return f"the whole is in {file}"
    if shown.verdict is not None and shown.verdict.ref is not None:
        if session is None:
            return f"the whole is kept as {shown.verdict.ref}"
        of_session = "" if session == "default" else f" --session {shlex.quote(session)}"
        return f"headgate read {shown.verdict.ref}{of_session} shows the whole"
    return "the model has the whole"


def for_people(
    text: str,
    view: View,
    *,
    kind: Kind | None = None,
    where: str = "",
    of_lines: int | None = None,
) -> str:
    """A text within the limits for people; `where` says where the whole is.

    `of_lines` is how many lines the whole has, where the text is a part of it already.
    """
    kind = kind or recognise(text.encode("utf-8", "backslashreplace"), tool="")
    lines = printable(text).split("\n")
    if lines[-1] == "":
        lines.pop()
    most = view.most_lines(kind)
    is_cut = len(lines) > most or any(len(line) > view.line_chars for line in lines)
    tail = 0 if kind in FROM_THE_START else most // TAIL_SHARE
    if len(lines) > most:
        left_out = len(lines) - most
        gap = f"… {left_out:,} line{'' if left_out == 1 else 's'} …"
        lines = [*lines[: most - tail], gap, *lines[len(lines) - tail :]]
    shown = [_cut(line, view.line_chars) for line in lines]
    if is_cut or of_lines is not None:
        total = f"{of_lines:,} lines; " if of_lines is not None else ""
        shown.append(f"({total}{where or 'there is more'})")
    return "\n".join(shown)


def printable(text: str) -> str:
    """Text that is safe on a terminal and on a page: nothing live, nothing invalid."""
    seen = show_hidden(text).expandtabs(TAB_COLUMNS)
    return seen.encode("utf-8", "backslashreplace").decode()


def _cut(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    more = f"… +{len(line) - most:,}"
    return line[: max(most - len(more), 1)] + more
