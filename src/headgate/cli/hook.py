"""`headgate hook`: what the hooks of agent CLIs call after every tool call.

It stands outside the rule of exit codes: an agent takes some of them for an order to stop. Whatever
goes wrong, it prints nothing and exits 0, so that the result goes to the model as it was.
"""

from __future__ import annotations

import os
import sys

from headgate.cli.output import say, write
from headgate.hooks.door import is_default, surely_whole

TYPE_CHECKING = False  # type checkers know the name; a hook cannot wait for `typing` to load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headgate.cli.parser import Parser
    from headgate.policy import Policy

USAGE = "claude-code | codex | gemini | opencode  [--preset P]"

SAYS = """\
Read one event of an agent CLI's hook on stdin and answer it: a result that is too big is shortened,
the whole of it is kept, and the marker names a file that the agent can read. `headgate install`
writes this command where the agent finds it.

Nothing on stdout means: leave the result as it is. The exit code is always 0, and a failure is told
on stderr and by `headgate stats`; an agent never waits for us, and never stops because of us.
"""

EXAMPLES = """\
  headgate install claude-code                 let Claude Code call it
  headgate hook claude-code < event.json       see what it would answer
"""


def parser() -> Parser:
    """How it is called."""
    from headgate.cli.parser import Parser

    made = Parser("hook", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("name", metavar="NAME", help="claude-code, codex, gemini or opencode")
    made.add_argument("--preset", metavar="P", help="the limits of this preset")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    if "-h" in words or "--help" in words:
        parser().parse_args(["--help"])
    if sys.stdin is None or sys.stdin.isatty():
        say("an event of an agent's hook is read from stdin; see headgate hook --help")
        return 0
    raw = sys.stdin.buffer.read()
    if len(words) == 1 and surely_whole(raw, os.environ):
        return 0
    try:
        _answer(words, raw)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the agent goes on, whatever it was
        _note(words, error)
    return 0


def _answer(words: Sequence[str], raw: bytes) -> None:
    name, preset = _asked(words)
    from headgate.compiled import patterns_of
    from headgate.hooks.answering import answered
    from headgate.spill.private import state_folder

    with patterns_of(state_folder(os.environ)):
        answer = answered(name, raw, _policy(preset))
        if answer is not None:
            import json

            write(json.dumps(answer, ensure_ascii=True).encode() + b"\n")


def _asked(words: Sequence[str]) -> tuple[str, str | None]:
    """The client, and the preset; the words that `install` writes need no parser."""
    if len(words) == 1 and not words[0].startswith("-"):
        return words[0], None
    asked = parser().parse_args(words)
    return asked.name, asked.preset


def _policy(preset: str | None) -> Policy:
    from headgate.policy import Policy

    if preset is None and is_default(os.environ):
        return Policy()
    from headgate.cli.opening import chosen

    return chosen(preset)


def _note(words: Sequence[str], error: BaseException) -> None:
    """Say what went wrong, and leave a note for `headgate stats` and `headgate doctor`."""
    what = f"hook {words[0] if words else ''}: {type(error).__name__}: {error}"
    say(f"{what}; the result was let through as it was")
    try:
        from headgate.failures import note

        note(what)
    except Exception:  # noqa: BLE001  # the disk may be the very thing that failed
        return
