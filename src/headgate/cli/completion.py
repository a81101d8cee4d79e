"""`headgate completion`: what a shell offers after TAB, written from the commands' own pages."""

from __future__ import annotations

import os
from argparse import Action
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType

from headgate.cli.dispatch import Commands
from headgate.cli.output import one_line, write
from headgate.cli.parser import Parser, word
from headgate.errors import HeadgateError

SHELLS = ("bash", "zsh", "fish")

USAGE = "bash | zsh | fish"

SAYS = """\
Write a script that lets the shell complete headgate: commands, options, and what they take, the
sessions and refs that are kept among it.
"""

EXAMPLES = """\
  eval "$(headgate completion bash)"                              in ~/.bashrc
  headgate completion zsh > "${fpath[1]}/_headgate"
  headgate completion fish > ~/.config/fish/completions/headgate.fish
"""

GROUPS = ("store",)
"""Commands that have commands of their own."""

FILES = "@files"
"""Stands for the names of files."""

FILE_NAMES = ("FILE", "DIR", "HISTORY.json")
"""What a page calls a file."""

ASKED = "headgate completion --values {} 2>/dev/null"
"""What a script asks for while it completes: it changes with what is kept."""

LIVING = MappingProxyType({"S": "sessions", "REF": "refs", "REF|CALL_ID": "refs"})
"""What is looked up when TAB is pressed, by what a page calls it."""


def parser() -> Parser:
    """How it is called."""
    made = Parser("completion", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument(
        "shell", nargs="?", type=word(*SHELLS), metavar="SHELL", help="bash, zsh or fish"
    )
    made.add_argument(
        "--values", type=word("sessions", "refs"), metavar="WHAT", help="for the script itself"
    )
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    made = parser()
    asked = made.parse_args(words)
    if asked.values is not None:
        # Whatever is wrong, a shell that completes is no place to say so.
        with suppress(HeadgateError, OSError):
            write("".join(f"{one_line(value)}\n" for value in VALUES[asked.values]()).encode())
        return 0
    if asked.shell is None:
        made.error(f"which shell? there is {', '.join(SHELLS)}")
    write(SCRIPTS[asked.shell](list(pages())).encode())
    return 0


@dataclass(frozen=True, slots=True)
class Option:
    """What can be written after a command; a flag is empty for what stands alone."""

    flag: str
    says: str
    takes: tuple[str, ...] | str | None
    """Words it takes, or what to ask for, or files; None: nothing."""


@dataclass(frozen=True, slots=True)
class Page:
    """A command and what can be written after it."""

    path: str
    says: str
    options: tuple[Option, ...]

    @property
    def flags(self) -> list[Option]:
        """The options that are named."""
        return [option for option in self.options if option.flag]

    @property
    def takes(self) -> tuple[str, ...] | str | None:
        """What the command takes without a name."""
        return next((option.takes for option in self.options if not option.flag), None)


def pages() -> Iterator[Page]:
    """Every command, from its own parser."""
    from headgate.cli import COMMANDS

    for name, says in COMMANDS:
        if name in GROUPS:
            inner: Commands = import_module(f"headgate.cli.{name}").COMMANDS
            yield Page(name, says, (Option("", "", tuple(word for word, _ in inner)),))
            for second, about in inner:
                yield _page(f"{name} {second}", about, f"headgate.cli.{name}_{second}")
        else:
            yield _page(name, says, f"headgate.cli.{name}")


def _page(path: str, says: str, module: str) -> Page:
    made: Parser = import_module(module).parser()
    return Page(path, says, tuple(_options(made, path)))


def _options(made: Parser, path: str) -> Iterator[Option]:
    for action in made._actions:  # argparse has no other way to ask what was added
        says = " ".join((action.help or "").split())
        takes = _takes(action, path)
        for flag in action.option_strings or [""]:
            if flag.startswith("--") or not flag:
                yield Option(flag, says, takes)


def _takes(action: Action, path: str) -> tuple[str, ...] | str | None:
    if action.nargs == 0:
        return None
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar in LIVING:
        return ASKED.format(LIVING[metavar])
    if metavar in FILE_NAMES:
        return FILES
    words = WORDS.get(f"{path} {metavar}") or WORDS.get(metavar)
    return words() if words else ()


def _dialects() -> tuple[str, ...]:
    from headgate.dialects import DIALECTS

    return tuple(dialect.name for dialect in DIALECTS)


def _kinds() -> tuple[str, ...]:
    from headgate.types import KINDS

    return KINDS


def _presets() -> tuple[str, ...]:
    from headgate.presets import PRESETS

    return tuple(PRESETS)


def _clients() -> tuple[str, ...]:
    from headgate.hooks import CLIENTS

    return tuple(CLIENTS)


WORDS: Mapping[str, Callable[[], tuple[str, ...]]] = MappingProxyType(
    {
        "D": _dialects,
        "K": _kinds,
        "P": _presets,
        "V": lambda: ("o200k", "cl100k"),
        "SHELL": lambda: SHELLS,
        "CLIENT": _clients,
        "hook NAME": _clients,
        "presets NAME": _presets,
        "stats P": tuple,
    }
)
"""What an option takes, by what its page calls it, or by its command where the same word means
another thing there; for anything else there is nothing to offer."""


def sessions() -> list[str]:
    """The sessions that have a plain name."""
    from headgate.spill.house import House
    from headgate.spill.objects import entries
    from headgate.spill.private import state_folder

    names = entries(House(state_folder(os.environ)).sessions)
    return sorted(name for name in names if not name.startswith("="))


def refs() -> list[str]:
    """The originals of the session of the environment, newest first."""
    from headgate.spill.local import LocalStore
    from headgate.spill.private import state_folder

    session = os.environ.get("HEADGATE_SESSION") or "default"
    kept = LocalStore(state_folder(os.environ), session).shelf.index.all()
    return [one.ref for one in reversed(kept)]


VALUES: Mapping[str, Callable[[], list[str]]] = MappingProxyType(
    {"sessions": sessions, "refs": refs}
)


def bash(found: Sequence[Page]) -> str:
    """The script for bash."""
    cases = "\n".join(_bash_case(page) for page in found)
    names = " ".join(page.path for page in found if " " not in page.path)
    groups = "|".join(GROUPS)
    return f"""\
# bash completion for headgate; written by `headgate completion bash`
_headgate() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
    local path="${{COMP_WORDS[1]}}" at=1 flags="" words="" files="" takes=""
    COMPREPLY=()
    if (( COMP_CWORD == 1 )); then
        COMPREPLY=($(compgen -W "{names} --help --version" -- "$cur"))
        return
    fi
    case "$path" in
        {groups}) (( COMP_CWORD > 2 )) && path="$path ${{COMP_WORDS[2]}}" ;;
    esac
    while (( ++at < COMP_CWORD )); do
        # What stands behind it is another command, and is completed as that.
        [[ "${{COMP_WORDS[at]}}" == -- ]] || continue
        if declare -F _command_offset > /dev/null; then _command_offset $(( at + 1 ))
        elif (( COMP_CWORD == at + 1 )); then COMPREPLY=($(compgen -c -- "$cur"))
        else COMPREPLY=($(compgen -f -- "$cur")); fi
        return
    done
    case "$path" in
{cases}
    esac
    if [[ "$takes" == none && "$cur" != -* ]]; then return; fi
    if [[ "$cur" == -* && -z "$takes" ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    elif [[ -n "$words" ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif [[ -n "$files" ]]; then
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _headgate headgate
"""


def _bash_case(page: Page) -> str:
    flags = " ".join(option.flag for option in page.flags)
    lines = [
        f"        '{page.path}')",
        f'            flags="{flags}"',
        '            case "$prev" in',
    ]
    lines += [
        f"                {option.flag}) {_bash_takes(option.takes)} ;;"
        for option in page.flags
        if option.takes is not None
    ]
    lines += [f"                *) {_bash_takes(page.takes, alone=True)} ;;", "            esac ;;"]
    return "\n".join(lines)


def _bash_takes(takes: tuple[str, ...] | str | None, *, alone: bool = False) -> str:
    done = "" if alone else "takes=1 "
    if takes == FILES:
        return f"{done}files=1"
    if isinstance(takes, str):
        return f'{done}words="$({takes})"'
    if takes:
        return f'{done}words="{" ".join(takes)}"'
    return ":" if alone else "takes=none"


def zsh(found: Sequence[Page]) -> str:
    """The script for zsh."""
    cases = "\n".join(_zsh_case(page) for page in found)
    names = "\n".join(
        f"            {_zsh_said(page.path, page.says)}" for page in found if " " not in page.path
    )
    groups = "|".join(GROUPS)
    return f"""\
#compdef headgate
# zsh completion for headgate; written by `headgate completion zsh`
_headgate() {{
    local path_="$words[2]" prev="$words[CURRENT-1]"
    local -a names flags values
    if (( CURRENT == 2 )); then
        names=(
{names}
        )
        _describe 'command' names
        return
    fi
    local at=$words[(i)--]
    if (( at < CURRENT )); then shift $at words; (( CURRENT -= at )); _normal; return; fi
    case "$path_" in
        {groups}) (( CURRENT > 3 )) && path_="$path_ $words[3]" ;;
    esac
    case "$path_" in
{cases}
    esac
}}
if [[ "$funcstack[1]" == _headgate ]]; then _headgate "$@"; else compdef _headgate headgate; fi
"""


def _zsh_case(page: Page) -> str:
    lines = [f"        '{page.path}')", '            case "$prev" in']
    lines += [
        f"                {option.flag}) {_zsh_takes(option.takes)}; return ;;"
        for option in page.flags
        if option.takes is not None
    ]
    lines.append("            esac")
    said = " ".join(_zsh_said(option.flag, option.says) for option in page.flags)
    lines += [f"            flags=({said})", f"            {_zsh_takes(page.takes)}"]
    lines.append("            _describe 'option' flags ;;")
    return "\n".join(lines)


def _zsh_said(name: str, says: str) -> str:
    quoted = says.replace("'", "'\\''").replace(":", "\\:")
    return f"'{name}:{quoted}'"


def _zsh_takes(takes: tuple[str, ...] | str | None) -> str:
    if takes == FILES:
        return "_files"
    if isinstance(takes, str):
        return f'values=(${{(f)"$({takes})"}}); compadd -a values'
    if takes:
        return f"values=({' '.join(takes)}); compadd -a values"
    return ":"


FISH_BEHIND = """\
function __headgate_behind
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- $words (commandline -ct))
end
complete -c headgate -n 'contains -- -- (commandline -opc)' -f -a '(__headgate_behind)'"""
"""What stands behind `--` is another command, and is completed as that."""


def fish(found: Sequence[Page]) -> str:
    """The script for fish."""
    lines = ["# fish completion for headgate; written by `headgate completion fish`"]
    lines += ["complete -c headgate -f", FISH_BEHIND]
    for page in found:
        lines += _fish_lines(page)
    return "\n".join([*lines, ""])


def _fish_lines(page: Page) -> Iterator[str]:
    first, _, second = page.path.partition(" ")
    seen = f"__fish_seen_subcommand_from {first}"
    if second:
        yield _fish(f"{seen}; and not __fish_seen_subcommand_from {second}", second, page.says)
        seen += f"; and __fish_seen_subcommand_from {second}"
    else:
        yield _fish("__fish_use_subcommand", first, page.says)
    if (first not in GROUPS or second) and page.takes:
        yield f"complete -c headgate -n '{seen}' {_fish_takes(page.takes)}"
    for option in page.flags:
        name = option.flag.removeprefix("--")
        takes = f" -r {_fish_takes(option.takes)}" if option.takes is not None else ""
        says = _fish_quoted(option.says)
        yield f"complete -c headgate -n '{seen}' -l {name}{takes.rstrip()} -d {says}"


def _fish(condition: str, name: str, says: str) -> str:
    return f"complete -c headgate -n '{condition}' -a {name} -d {_fish_quoted(says)}"


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _fish_takes(takes: tuple[str, ...] | str | None) -> str:
    if takes == FILES:
        return "-F"
    if isinstance(takes, str):
        return f"-f -a '({takes})'"
    # Without a word fish would offer files, whatever it was told of the command.
    return f"-f -a '{' '.join(takes)}'" if takes else "-f"


SCRIPTS: Mapping[str, Callable[[Sequence[Page]], str]] = MappingProxyType(
    {"bash": bash, "zsh": zsh, "fish": fish}
)
