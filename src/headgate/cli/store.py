"""`headgate store`: what is kept; a command is one file, as `store_ls.py`, and one line here."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.cli.dispatch import Commands, dispatch, listed
from headgate.cli.output import write

COMMANDS: Commands = (
    ("ls", "list the originals that are kept"),
    ("gc", "remove what is kept too long or too much, compress what is left over"),
    ("verify", "see whether everything kept is as it was written"),
)

HELP = """\
usage: headgate store COMMAND ...

Look after what is kept.

commands:
{commands}

options:
  -h, --help  show this and exit

examples:
  headgate store ls
  headgate store ls --session my-agent --json
  headgate store ls --all
  headgate store gc --dry-run
  headgate store verify --fix
"""


def main(words: Sequence[str]) -> int:
    """Run one of its commands."""
    if words and words[0] in ("-h", "--help"):
        write(HELP.format(commands=listed(COMMANDS)).encode())
        return 0
    return dispatch("store", COMMANDS, words)
