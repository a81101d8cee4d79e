"""From a word to the file of its command; no other command is loaded."""

from __future__ import annotations

from importlib import import_module

from headgate.cli.output import CommandError

TYPE_CHECKING = False  # type checkers know the name; a hook cannot wait for `typing` to load

if TYPE_CHECKING:
    from collections.abc import Sequence

Commands = tuple[tuple[str, str], ...]
"""Name, and one line about it. The file of that name has a `main` that takes the words after it."""


def dispatch(path: str, commands: Commands, words: Sequence[str]) -> int:
    """Run the command that the first word names; `path` is what was said before, as in `store`."""
    names = [name for name, _ in commands]
    asked = f"headgate {path}".rstrip()
    if not words:
        raise CommandError(f"which command? there is {', '.join(names)}; see {asked} --help")
    first, *rest = words
    if first not in names:
        what = "option" if first.startswith("-") else "command"
        raise CommandError(
            f"there is no {what} {first!r}; there is {', '.join(names)}; see {asked} --help"
        )
    module = import_module(f"headgate.cli.{path}_{first}" if path else f"headgate.cli.{first}")
    code: int = module.main(rest)
    return code


def listed(commands: Commands) -> str:
    """The commands as a part of a help page."""
    width = max(len(name) for name, _ in commands)
    return "\n".join(f"  {name.ljust(width)}  {about}" for name, about in commands)
