"""The command line: one file per command, and one line in the table here."""

from __future__ import annotations

import os
import sys

from headgate.cli.dispatch import Commands, dispatch, listed
from headgate.cli.output import reason, say, write
from headgate.errors import HeadgateError, RefNotFound

TYPE_CHECKING = False  # type checkers know the name; a hook cannot wait for `typing` to load

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "main"]

COMMANDS: Commands = (
    ("trim", "show what the model would see of a text or JSON"),
    ("run", "run a command and show its output as the model would see it"),
    ("read", "read back what was left out"),
    ("check", "list what a provider would refuse in a history"),
    ("repair", "make a history one that its provider accepts"),
    ("prepare", "make a history ready to send: repaired, same bytes again, within its budgets"),
    ("mcp", "stand between an MCP client and an MCP server"),
    ("gateway", "stand between an agent and its provider, as an HTTP server"),
    ("explain", "say why a result was shown as it was, and show it"),
    ("count", "count the tokens of a text or a history"),
    ("presets", "list the policies that come with headgate, or write one"),
    ("install", "put headgate between an agent CLI and its model, or take it out"),
    ("doctor", "prove that what is installed works, or say what is wrong"),
    ("stats", "say what was kept out of the context, and what that was worth"),
    ("hook", "answer the hook of an agent CLI"),
    ("store", "list what is kept, clean it, verify it"),
    ("completion", "write a script that lets your shell complete headgate"),
)

HELP = """\
usage: headgate COMMAND ...

The gate every tool result of an LLM agent passes before it enters the model's context: bounded,
keeps what matters, gives back every byte.

commands:
{commands}

options:
  -h, --help  show this and exit; headgate COMMAND --help shows a command's own page
  --version   show the version and exit

Data goes to stdout, messages to stderr. The exit code is 0 when it is done, 1 when something was
found (a violation, a ref that is not there), 2 when it could not run.

environment:
  HEADGATE_STATE_DIR  where results are kept (default: headgate in $XDG_STATE_HOME,
                      else in ~/.local/state)
  HEADGATE_SESSION    the session, where --session names none (default: 'default')
  HEADGATE_POLICY     a file with a policy, as headgate presets writes one
  HEADGATE_PRESET     the preset, where neither --preset nor a policy names one
  HEADGATE_...        any entry of a policy, as in HEADGATE_RESULT=4000
  HEADGATE_PASSTHROUGH  1 lets every request pass the gateway untouched
  HEADGATE_DEBUG      1 shows the traceback of a fault in headgate itself

examples:
  headgate run --tokens 2000 -- pytest -x       run the tests, show what matters
  headgate trim --tokens 500 build.log          see a log as the model would
  headgate read --last --search 'error|warn'    look into what was left out
  headgate prepare request.json > ready.json    make a history ready to send
"""

INTERRUPTED = 130
"""What a shell reports of a command that Ctrl-C ended: 128 and the number of SIGINT."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and answer with its exit code."""
    try:
        return _main(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    except RefNotFound as error:
        say(str(error))
        return 1
    except HeadgateError as error:
        say(str(error))
    except OSError as error:
        say(f"{error.filename}: {reason(error)}" if error.filename else reason(error))
    except MemoryError:
        say("there is not enough memory for this")
    except Exception as error:  # noqa: BLE001  # a fault of ours is one line too
        _say_fault(error)
    return 2


def _main(words: Sequence[str]) -> int:
    if words and words[0] in ("-h", "--help"):
        write(HELP.format(commands=listed(COMMANDS)).encode())
        return 0
    if words and words[0] == "--version":
        from headgate.version import __version__

        write(f"headgate {__version__}\n".encode())
        return 0
    return dispatch("", COMMANDS, words)


def _say_fault(error: Exception) -> None:
    if os.environ.get("HEADGATE_DEBUG") == "1":
        import traceback

        for line in "".join(traceback.format_exception(error)).splitlines():
            say(line)
    say(f"a fault of its own: {type(error).__name__}: {error}; HEADGATE_DEBUG=1 shows where")
