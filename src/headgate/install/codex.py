"""Codex: `hooks.json` and `config.toml` in `~/.codex`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from headgate.install import toml
from headgate.install.plan import TIMEOUT_S, Edit, Plan, Site, changed, naming, start_note
from headgate.install.servers import NOT_KNOWN, SIGNED_IN, pairs, texts, wrapped, wrapped_remote
from headgate.install.settings import with_hook

NAME = "codex"

OUTPUT_LIMIT = "tool_output_token_limit"
OUTPUT_TOKENS = 32_000
"""Codex cuts the middle out of a result before its hooks see it, by default at about 2,500 tokens.
This much lets 128 KB come to us whole, if the model asks for so much."""

TRUST = (
    "Codex runs no hook that you have not trusted, and says nothing about it: start codex once, "
    f"type /hooks, and trust this one; until then up to {OUTPUT_TOKENS:,} tokens of a result reach "
    "the model"
)


def folder(site: Site) -> Path:
    """Where Codex keeps its configuration."""
    return site.folder("CODEX_HOME", ".codex")


def hook(site: Site) -> Plan:
    """A hook after each tool call."""
    command = {"type": "command", "command": shlex.join(site.words(NAME)), "timeout": TIMEOUT_S}
    entry = {"matcher": ".*", "hooks": [command]}
    path = folder(site) / "hooks.json"
    changes = (
        *changed(site, path, lambda text: with_hook(text, "PostToolUse", entry)),
        *changed(site, folder(site) / "config.toml", _uncut),
    )
    return Plan(changes, (TRUST,))


def _uncut(text: str) -> str:
    """Let results come to us before they are cut; a limit that the user set stays."""
    if OUTPUT_LIMIT in toml.load(text):
        return text
    return toml.put(text, (), {OUTPUT_LIMIT: OUTPUT_TOKENS})


def gateway(site: Site) -> Plan:
    """The address of the gateway: of OpenAI's own provider, or of the one that is configured."""
    path = folder(site) / "config.toml"
    found = toml.load(site.read(path) or "")
    name = found.get("model_provider", "openai")
    table, key = tuple[str, ...](), "openai_base_url"
    entries: object = found
    if name != "openai":
        table, key = ("model_providers", str(name)), "base_url"
        providers = found.get("model_providers")
        entries = providers.get(name) if isinstance(providers, Mapping) else None
    was = pairs(entries).get(key)
    address = _putting(table, {key: f"{site.gateway}/v1"})
    changes = changed(site, path, address, _uncut)
    return Plan(changes, (start_note(site, "openai", was if isinstance(was, str) else ""),))


def mcp(site: Site) -> Plan:
    """Every configured server behind the proxy."""
    path = folder(site) / "config.toml"
    with naming(path):
        found = toml.load(site.read(path) or "").get("mcp_servers")
    edits, notes = [], []
    for name, server in found.items() if isinstance(found, Mapping) else ():
        entries = _wrapped(server, site.program) if isinstance(server, Mapping) else None
        if entries is None:
            has_url = isinstance(server, Mapping) and "url" in server
            notes.append((SIGNED_IN if has_url else NOT_KNOWN).format(name))
        elif entries:
            edits.append(_putting(("mcp_servers", name), entries))
    return Plan(changed(site, path, *edits), tuple(notes))


def _putting(table: tuple[str, ...], entries: Mapping[str, toml.Value | None]) -> Edit:
    return lambda text: toml.put(text, table, entries)


def _wrapped(server: Mapping[str, object], program: str) -> dict[str, toml.Value | None] | None:
    """The entries that put a server behind the proxy; none where it is, None where it cannot be."""
    command, url = server.get("command"), server.get("url")
    if isinstance(command, str):
        words = wrapped(program, command, texts(server.get("args")))
        return {} if words is None else {"command": words[0], "args": words[1:]}
    headers = pairs(server.get("http_headers"))
    if not isinstance(url, str) or not headers:
        return None
    words, environ = wrapped_remote(program, url, headers)
    environ = {**pairs(server.get("env")), **environ}
    entries: dict[str, toml.Value | None] = {"url": None, "http_headers": None}
    return {**entries, "command": words[0], "args": words[1:], "env": environ}
