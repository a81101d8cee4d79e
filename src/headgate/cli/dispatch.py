"""From a word to the file of its command; no other command is loaded."""

from __future__ import annotations

# The part in C, which has no types: `signal` would load `enum`, which a hook cannot wait for.
import _signal  # type: ignore[import-not-found]
from importlib import import_module

from headgate.cli.output import CommandError

TYPE_CHECKING = False  # type checkers know the name; a hook cannot wait for `typing` to load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

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
    module = _loaded(f"headgate.cli.{path}_{first}" if path else f"headgate.cli.{first}")
    code: int = module.main(rest)
    return code


def _loaded(name: str) -> ModuleType:
    """Load a file; Ctrl-C meanwhile ends the process at once, as it would end one in C.

    Nothing is begun yet, and not every package bears an interrupt while it is loaded: msgspec
    crashes where it is kept from making a decoder.
    """
    if _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
        return import_module(name)
    try:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    except ValueError:  # not the main thread, which alone is interrupted
        return import_module(name)
    try:
        return import_module(name)
    finally:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def listed(commands: Commands) -> str:
    """The commands as a part of a help page."""
    width = max(len(name) for name, _ in commands)
    return "\n".join(f"  {name.ljust(width)}  {about}" for name, about in commands)
