"""opencode: a plugin and `opencode.json` in `~/.config/opencode`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from headgate.install import jsonc
from headgate.install.plan import (
    UNCUT_BYTES,
    Edit,
    Plan,
    Site,
    change_to,
    changed,
    naming,
    start_note,
)
from headgate.install.servers import NOT_KNOWN, SIGNED_IN, pairs, texts, wrapped, wrapped_remote
from headgate.install.settings import with_default

NAME = "opencode"

PROVIDERS = {"anthropic": "/v1", "openai": "/v1", "google": "/v1beta"}
"""The providers whose address is set, and what stands behind it."""


def folder(site: Site) -> Path:
    """Where opencode keeps its configuration."""
    return site.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def settings(site: Site) -> Path:
    """The settings of this user, in whichever of their two forms there is."""
    commented = folder(site) / "opencode.jsonc"
    return commented if site.read(commented) is not None else folder(site) / "opencode.json"


def hook(site: Site) -> Plan:
    """The plugin that calls our hook."""
    template = files("headgate.hooks").joinpath("opencode.js").read_text(encoding="utf-8")
    plugin = template.replace("__COMMAND__", json.dumps(site.words(NAME)))
    return Plan(changed(site, folder(site) / "plugins" / "headgate.js", lambda _: plugin))


def gateway(site: Site) -> Plan:
    """The address of the gateway for each known provider, and leave to read what it keeps."""
    edits = [
        _putting(("provider", name, "options", "baseURL"), f"{site.gateway}{below}")
        for name, below in PROVIDERS.items()
    ]
    leave = ("permission", "external_directory", f"{site.sessions}/**")
    edits += [_putting(leave, "allow"), *map(_uncut, ("max_bytes", "max_lines"))]
    changes = changed(site, settings(site), *edits)
    note = "a provider that you defined yourself keeps its address: set its baseURL by hand"
    return Plan(changes, (start_note(site, "", ""), note))


def mcp(site: Site) -> Plan:
    """Every configured server behind the proxy."""
    path = settings(site)
    text = site.read(path) or ""
    with naming(path):
        value = jsonc.load(text)
    found = value.get("mcp") if isinstance(value, Mapping) else None
    edited, notes = text, []
    for name, server in found.items() if isinstance(found, Mapping) else ():
        new = _wrapped(server, site.program) if isinstance(server, Mapping) else None
        if new is None:
            has_url = isinstance(server, Mapping) and "url" in server
            notes.append((SIGNED_IN if has_url else NOT_KNOWN).format(name))
        elif new != server:
            edited = jsonc.put(edited, ("mcp", name), new)
    changes = change_to(path, text, edited)
    return Plan(changes, tuple(notes))


def _uncut(limit: str) -> Edit:
    return lambda text: with_default(text, ("tool_output", limit), UNCUT_BYTES)


def _putting(path: tuple[str, ...], value: str) -> Edit:
    return lambda text: jsonc.put(text, path, value)


def _wrapped(server: Mapping[str, object], program: str) -> dict[str, object] | None:
    """A server behind the proxy; None where it cannot be."""
    command, url = texts(server.get("command")), server.get("url")
    if command:
        words = wrapped(program, command[0], command[1:])
        return {**server, "command": words or command}
    headers = pairs(server.get("headers"))
    if not isinstance(url, str) or not headers:
        return None
    words, environ = wrapped_remote(program, url, headers)
    kept = {key: value for key, value in server.items() if key not in ("url", "headers", "type")}
    environ = {**pairs(server.get("environment")), **environ}
    return {"type": "local", "command": words, **kept, "environment": environ}
