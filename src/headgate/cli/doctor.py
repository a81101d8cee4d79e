"""`headgate doctor`: prove that what is installed works, or say what is wrong."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headgate.cli.install import program
from headgate.cli.output import CommandError, say, show_record, show_table
from headgate.cli.parser import Parser, word
from headgate.doctor.check import Check
from headgate.errors import StoreError
from headgate.failures import noted
from headgate.hooks import CLIENTS
from headgate.install import written
from headgate.install.plan import Mode, Site
from headgate.spill.key import installation_key
from headgate.spill.private import state_folder

DAY_NS = 86_400 * 10**9

USAGE = "[CLIENT] [--live] [--json]"

SAYS = """\
Prove that what `headgate install` put in place works. A large result is sent through the very
command that the agent's configuration names, and through a gateway of this installation to a
stand-in for the provider; what comes out must be short, keep the line that matters, and name a file
that holds every byte. MCP servers are started as they are configured; through the same proxy a
stand-in for a server sends the large result, and all of it is read back with the tool that was
added. Nothing is sent to a provider. The exit code is 1 if anything is wrong.

With --live the agent itself is run once, with your configuration and the stand-in as its provider:
so it is seen whether it calls the hook, and takes its answer. It leaves a short session behind.
"""

EXAMPLES = """\
  headgate doctor
  headgate doctor claude-code --json
  headgate doctor codex --live                  run codex itself, against a stand-in
"""


def parser() -> Parser:
    """How it is called."""
    made = Parser("doctor", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument(
        "client",
        nargs="?",
        type=word(*CLIENTS),
        metavar="CLIENT",
        help=f"only this one: {', '.join(CLIENTS)}",
    )
    made.add_argument("--live", action="store_true", help="with a hook: run the agent itself too")
    made.add_json("one object for each check: client, way, name, ok, says")
    return made


def main(words: Sequence[str]) -> int:
    """Run it."""
    asked = parser().parse_args(words)
    site = site_here()
    wrong = 0
    rows: list[list[str]] = []
    for check in all_checks(asked, site):
        wrong += not check.ok
        if asked.json:
            show_record({name: getattr(check, name) for name in FIELDS})
        else:
            rows.append(
                [check.client, check.way, "ok" if check.ok else "WRONG", check.name, check.says]
            )
    if rows:
        show_table(["client", "way", "", "check", ""], rows)
    say(f"{wrong} of the checks found something wrong" if wrong else "all is well")
    return 1 if wrong else 0


FIELDS = ("client", "way", "name", "ok", "says")


def site_here() -> Site:
    """Where things were installed."""
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise CommandError("HOME names no folder, so there is no configuration to look at")
    return Site(Path(home), program(), state_folder(os.environ), environ=os.environ)


def all_checks(asked: Namespace, site: Site) -> Iterator[Check]:
    """Every check, as it is done."""
    yield state_check(site)
    yield from failure_checks(site)
    clients = [asked.client] if asked.client else list(CLIENTS)
    installed = {client: written.installed(site.state, client) for client in clients}
    if not any(installed.values()):
        what = f"{asked.client} is not" if asked.client else "nothing is"
        says = f"{what} installed; see headgate install --help"
        yield Check(asked.client or "", "", "installed", False, says)
    for client, modes in installed.items():
        for mode in modes:
            yield from checks_of(client, mode, site)
        if asked.live and "hook" in modes:
            from headgate.doctor import live

            yield from live.checks(client, site)


def checks_of(client: str, mode: Mode, site: Site) -> Iterator[Check]:
    """The checks of one way in which a client is installed."""
    record = written.record_of(site.state, client, mode)
    if record is None:
        return
    if mode == "hook":
        from headgate.doctor import hooks

        yield from hooks.checks(client, site)
    elif mode == "gateway":
        from headgate.doctor import gateway

        yield from gateway.checks(client, replace(site, gateway=record.gateway))
    else:
        from headgate.doctor import mcp

        yield from mcp.checks(client, record, site)


def state_check(site: Site) -> Check:
    """Whether results can be kept at all."""
    try:
        installation_key(site.state)
    except StoreError as error:
        return Check("", "", "state", False, str(error))
    return Check("", "", "state", True, f"results are kept under {site.state}")


def failure_checks(site: Site) -> Iterator[Check]:
    """What failed since yesterday, and was let through."""
    try:
        recent = [one for one in noted(site.state) if one.time_ns > time.time_ns() - DAY_NS]
    except StoreError as error:
        yield Check("", "", "failures", False, str(error))
        return
    if recent:
        says = f"{len(recent)} since yesterday let a result through; the last: {recent[-1].what}"
        yield Check("", "", "failures", False, says)
