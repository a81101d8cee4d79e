"""`headgate install`: put Headgate into the configuration of an agent CLI, and take it out."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from headgate.cli.output import CommandError, say, show, show_record, write
from headgate.cli.parser import Parser, address, word
from headgate.hooks import CLIENTS
from headgate.install import written
from headgate.install.plan import GATEWAY_URL, Change, Mode, Plan, Site, cache_note
from headgate.spill.private import state_folder

USAGE = """\
claude-code | codex | gemini | opencode  [--hook | --gateway | --mcp]
                        [--undo] [--dry-run] [--yes] [--preset P] [--url URL] [--json]"""

SAYS = """\
Put Headgate between an agent CLI and its model. What would change is shown as a diff first, what
stood there is kept, and --undo puts it back exactly; lines that you changed since stay yours.

--hook (the default) lets the CLI call us after each tool call. --gateway sends its requests through
`headgate gateway`, which must run. --mcp puts the MCP servers that are configured already behind
`headgate mcp`. They can stand together.
"""

EXAMPLES = """\
  headgate install claude-code                 a hook after each tool call
  headgate install gemini --gateway --dry-run  show what would change, change nothing
  headgate install codex --mcp                 its MCP servers behind the proxy
  headgate install claude-code --undo          everything of ours out again
"""

HOOK = "a hook after each tool call"
GATEWAY = "requests through the gateway"
MCP = "the configured MCP servers behind the proxy"


def parser() -> Parser:
    """How it is called."""
    made = Parser("install", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument("client", type=word(*CLIENTS), metavar="CLIENT", help=", ".join(CLIENTS))
    way = made.add_mutually_exclusive_group()
    way.add_argument("--hook", dest="mode", action="store_const", const="hook", help=HOOK)
    way.add_argument("--gateway", dest="mode", action="store_const", const="gateway", help=GATEWAY)
    way.add_argument("--mcp", dest="mode", action="store_const", const="mcp", help=MCP)
    made.add_argument("--undo", action="store_true", help="take it out; all ways, or the one named")
    made.add_argument("--dry-run", action="store_true", help="show what would change, no more")
    made.add_argument("--yes", action="store_true", help="on a terminal, do not ask")
    made.add_argument("--preset", metavar="P", help="with --hook: the limits of this preset")
    made.add_argument(
        "--url",
        type=address,
        metavar="URL",
        default=GATEWAY_URL,
        help=f"where the gateway listens ({GATEWAY_URL})",
    )
    made.add_json("one object for each file: path, diff; then one with the notes")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    site = site_for(asked)
    if asked.undo:
        return undo(asked, site)
    mode: Mode = asked.mode or "hook"
    plan = planned(asked.client, mode, site)
    if note := cache_note(site.program):
        plan = replace(plan, notes=(*plan.notes, note))
    tell(plan.changes, asked)
    if plan.changes and not asked.dry_run and agreed(asked):
        folder = written.write(plan, site, asked.client, mode)
        say(f"done; what stood there before is in {folder}")
    elif not plan.changes:
        say(f"{asked.client} is as it should be; nothing to change")
    tell_notes(plan, asked)
    return 0


def planned(client: str, mode: Mode, site: Site) -> Plan:
    """What installing a client would change."""
    plan: Plan = getattr(import_module(f"headgate.install.{CLIENTS[client]}"), mode)(site)
    return plan


def undo(asked: Namespace, site: Site) -> int:
    """Take out one way, or all there are; exit 1 where something is stuck."""
    modes = written.installed(site.state, asked.client)
    if not modes or (asked.mode and asked.mode not in modes):
        how = f" with --{asked.mode}" if asked.mode else ""
        raise CommandError(f"{asked.client} is not installed{how}; there is nothing to undo")
    # What was put in later may stand in the same lines: it goes out first, and in again after.
    first = modes.index(asked.mode) if asked.mode else 0
    again = [_again(site, asked.client, mode) for mode in modes[first + 1 :] if asked.mode]
    stuck = [taken_out(asked, site.state, mode) for mode in reversed(modes[first:])]
    for mode, as_before in again if not asked.dry_run else []:
        plan = planned(asked.client, mode, as_before)
        tell(plan.changes, asked)
        written.write(plan, as_before, asked.client, mode)
    return 1 if any(stuck) else 0


def taken_out(asked: Namespace, state: Path, mode: Mode) -> bool:
    """Take out one way; says whether something is stuck."""
    undone = written.undoing(state, asked.client, mode)
    tell(undone.changes, asked)
    for change in undone.stuck:
        say(f"{change.path} was changed in our lines; take these out by hand, if you want:")
        show(change.diff)
    if not asked.dry_run and agreed(asked):
        written.undo(undone, state, asked.client, mode)
        say(f"{asked.client}: the {mode} is {'not all ' if undone.stuck else ''}out")
    return bool(undone.stuck)


def _again(site: Site, client: str, mode: Mode) -> tuple[Mode, Site]:
    """What it takes to put a way in again as it was."""
    record = written.record_of(site.state, client, mode)
    if record is None:
        return mode, site
    return mode, replace(site, gateway=record.gateway, preset=record.preset)


def tell(changes: Sequence[Change], asked: Namespace) -> None:
    """Show each change before it is made."""
    for change in changes:
        if asked.json:
            show_record({"path": str(change.path), "diff": change.diff})
        else:
            show(change.diff)


def tell_notes(plan: Plan, asked: Namespace) -> None:
    """Say what is left to do."""
    if asked.json:
        show_record({"notes": list(plan.notes)})
        return
    for note in plan.notes:
        say(note)


def agreed(asked: Namespace) -> bool:
    """Whether to go on: on a terminal the user is asked."""
    if asked.yes or asked.json or not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    write(b"change this? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def site_for(asked: Namespace) -> Site:
    """Where to install."""
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise CommandError("HOME names no folder, so there is no configuration to change")
    return Site(
        home=Path(home),
        program=program(),
        state=state_folder(os.environ),
        environ=os.environ,
        gateway=asked.url.rstrip("/"),
        preset=asked.preset,
    )


def program() -> str:
    """The path of this command: beside the interpreter that runs it, or as it was called."""
    beside = Path(sys.executable).with_name("headgate")
    if beside.exists():
        return str(beside)
    called = os.path.abspath(sys.argv[0])
    if os.path.basename(called) == "headgate" and os.access(called, os.X_OK):
        return called
    raise CommandError("there is no command 'headgate' beside this Python; install the package")
