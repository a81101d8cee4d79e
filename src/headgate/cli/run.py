"""`headgate run`: run a command, show its output shaped, exit as it did."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headgate.cli.child import CannotStart, Child, running
from headgate.cli.opening import (
    new_call,
    open_gate,
    overrides_for,
    policy_for,
    session_for,
)
from headgate.cli.output import CommandError, say, show
from headgate.cli.parser import Parser
from headgate.cli.progress import Progress
from headgate.compiled import patterns_of
from headgate.spill.private import state_folder
from headgate.toolnames import class_of

if TYPE_CHECKING:
    from headgate.gate import ResultStream

USAGE = "[--tokens N] [--query Q] [--session S] -- COMMAND ..."

SAYS = """\
Run a command and show its output, stdout and stderr in order, as the model would see it. What was
left out is kept, and the marker says how to read it. The exit code is the command's; 126 or 127
where it cannot start, 128 and the number of the signal where one ended it.
"""

EXAMPLES = """\
  headgate run -- make test
  headgate run --tokens 2000 -- pytest -x
  headgate run --query 'deprecated' -- sh -c 'npm install && npm test'
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("run", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_tokens()
    made.add_query()
    made.add_session()
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    options, command = split(words)
    asked, more = parser().parse_known_args(options)
    if more and command:
        parser().error(f"unrecognized arguments: {' '.join(more)}")
    if not command:
        raise CommandError("say what to run after --, as in headgate run -- make test")
    tool = tool_of(command)
    gate = open_gate(policy_for(asked), session_for(asked), overrides=overrides_for(asked, tool))
    stream = gate.stream(new_call("run"), tool, question=asked.query)
    try:
        with patterns_of(state_folder(os.environ)), running(command) as child:
            code = taken(child, stream)
            shown = stream.close(is_error=code != 0)
            show(shown.text)
            for line in gate.notice(shown).splitlines():
                say(line)
    except CannotStart as error:
        say(str(error))
        return error.code
    if code:
        say(f"{command[0]!r} {ending(code)}")
    return code


def taken(child: Child, stream: ResultStream) -> int:
    """Take all of a command's output in; answers with its exit code."""
    with Progress(count_lines=True) as progress:
        for chunk in child.output():
            stream.write(chunk)
            progress.add(chunk)
    return child.wait()


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own options, and the command after the first `--`."""
    if "--" not in words:
        return list(words), []
    at = list(words).index("--")
    return list(words[:at]), list(words[at + 1 :])


def tool_of(command: Sequence[str]) -> str:
    """The name a command's result goes by: the program's.

    But `cat` as a command is no file reader that limits itself and wants its text unchanged.
    """
    name = os.path.basename(command[0])
    return "run" if class_of(name) == "read" else name


def ending(code: int) -> str:
    """How the command ended, in words."""
    try:
        name = signal.Signals(code - 128).name
    except ValueError:
        return f"ended with exit code {code}"
    return f"ended with exit code {code}, which is {name}"
