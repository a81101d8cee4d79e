"""Claude Code: `settings.json` in `~/.claude`, and the servers of `~/.claude.json`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from headgate.install import jsonc
from headgate.install.plan import TIMEOUT_S, Plan, Site, change_to, changed, naming, start_note
from headgate.install.servers import pairs
from headgate.install.settings import with_default, with_hook, with_item, with_servers

NAME = "claude-code"
VARIABLE = "ANTHROPIC_BASE_URL"

OUTPUT_LIMIT = ("bashOutputMaxChars",)
OUTPUT_CHARS = 128_000
"""The most it takes. Of a longer output Claude Code itself shows a short preview, and by default it
does so above 30,000; through the gateway it should come whole."""


def settings(site: Site) -> Path:
    """The settings of this user."""
    return site.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"


def servers(site: Site) -> Path:
    """Where the MCP servers of this user stand."""
    if site.environ.get("CLAUDE_CONFIG_DIR"):
        return Path(site.environ["CLAUDE_CONFIG_DIR"], ".claude.json")
    return site.home / ".claude.json"


def unread(site: Site) -> str:
    """Why Claude Code would ignore its settings, all of them and without a word; empty: nothing."""
    path = settings(site)
    try:
        json.loads(site.read(path) or "{}")
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        return (
            f"{path}: line {line} is no plain JSON, as a comment or a comma before a bracket is "
            "not; Claude Code then ignores the whole file"
        )
    return ""


def hook(site: Site) -> Plan:
    """A hook after each tool call."""
    command = {"type": "command", "command": shlex.join(site.words(NAME)), "timeout": TIMEOUT_S}
    entry = {"matcher": "*", "hooks": [command]}
    changes = changed(site, settings(site), lambda text: with_hook(text, "PostToolUse", entry))
    return Plan(changes, tuple(filter(None, [unread(site)])))


def gateway(site: Site) -> Plan:
    """The address of the gateway, and leave to read what it keeps."""
    found = jsonc.load(site.read(settings(site)) or "")
    old = found if isinstance(found, Mapping) else {}
    was = pairs(old.get("env")).get(VARIABLE, "")
    rule = f"Read(/{site.sessions}/**)"
    changes = changed(
        site,
        settings(site),
        lambda text: jsonc.put(text, ("env", VARIABLE), site.gateway),
        lambda text: with_item(text, ("permissions", "allow"), rule),
        lambda text: with_default(text, OUTPUT_LIMIT, OUTPUT_CHARS),
    )
    notes = (start_note(site, "anthropic", was), unread(site))
    return Plan(changes, tuple(filter(None, notes)))


def mcp(site: Site) -> Plan:
    """Every server of this user behind the proxy; those of a project's `.mcp.json` are shared."""
    path = servers(site)
    text = site.read(path)
    if text is None:
        return Plan(notes=(f"there is no {path}, so no MCP server is configured",))
    with naming(path):
        value = jsonc.load(text)
    places: list[tuple[str, ...]] = [("mcpServers",)]
    projects = value.get("projects") if isinstance(value, Mapping) else None
    if isinstance(projects, Mapping):
        places += [("projects", name, "mcpServers") for name in projects]
    edited, notes = text, []
    for place in places:
        edited, more = with_servers(edited, place, site)
        notes += more
    changes = change_to(path, text, edited)
    return Plan(changes, (*notes, f"{path} is written by Claude Code too: close it first"))
