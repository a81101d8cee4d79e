"""Gemini CLI: `settings.json` and `.env` in `~/.gemini`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from headgate.install.plan import (
    TIMEOUT_S,
    UNCUT_BYTES,
    Plan,
    Site,
    change_to,
    changed,
    naming,
    start_note,
)
from headgate.install.settings import with_default, with_hook, with_item, with_servers

NAME = "gemini"
VARIABLE = "GOOGLE_GEMINI_BASE_URL"
OUTPUT_LIMIT = ("tools", "truncateToolOutputThreshold")
SETTING = re.compile(rf"^(?:export )?{VARIABLE}=(.*)$", re.MULTILINE)


def settings(site: Site) -> Path:
    """The settings of this user."""
    return site.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json"


def hook(site: Site) -> Plan:
    """A hook after each tool call; this CLI counts its timeout in milliseconds."""
    command = {
        "type": "command",
        "name": "headgate",
        "command": shlex.join(site.words(NAME)),
        "timeout": TIMEOUT_S * 1_000,
    }
    entry = {"matcher": ".*", "hooks": [command]}
    return Plan(changed(site, settings(site), lambda text: with_hook(text, "AfterTool", entry)))


def gateway(site: Site) -> Plan:
    """The address of the gateway, and leave to read what it keeps."""
    path = settings(site).with_name(".env")
    found = SETTING.search(site.read(path) or "")
    folders = ("context", "includeDirectories")
    changes = (
        *changed(site, path, lambda text: with_variable(text, site.gateway)),
        *changed(
            site,
            settings(site),
            lambda text: with_item(text, folders, str(site.sessions)),
            lambda text: with_default(text, OUTPUT_LIMIT, UNCUT_BYTES),
        ),
    )
    was = found[1].strip("'\"") if found else ""
    note = f"a project with a .env of its own does not read {path}: set {VARIABLE} there"
    return Plan(changes, (start_note(site, "gemini", was), note))


def mcp(site: Site) -> Plan:
    """Every configured server behind the proxy."""
    path = settings(site)
    text = site.read(path) or ""
    with naming(path):
        edited, notes = with_servers(text, ("mcpServers",), site)
    changes = change_to(path, text, edited)
    return Plan(changes, tuple(notes))


def with_variable(text: str, value: str) -> str:
    """The text of an `.env` with the variable set."""
    line = f"{VARIABLE}={value}"
    if SETTING.search(text):
        return SETTING.sub(line, text)
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{line}\n"
