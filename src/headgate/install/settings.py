"""What the settings of several CLIs have in common: hooks, lists, and MCP servers, in JSON."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.install import jsonc
from headgate.install.plan import Site, is_ours
from headgate.install.servers import NOT_KNOWN, SIGNED_IN, pairs, texts, wrapped, wrapped_remote


def with_hook(text: str, event: str, entry: Mapping[str, object]) -> str:
    """The text with our hook: in its old place, else behind all others."""
    found = jsonc.load(text)
    events = found.get("hooks") if isinstance(found, Mapping) else None
    entries = events.get(event) if isinstance(events, Mapping) else None
    for number, old in enumerate(entries if isinstance(entries, list) else []):
        hooks = old.get("hooks") if isinstance(old, Mapping) else None
        if any(is_ours(one.get("command")) for one in hooks or [] if isinstance(one, Mapping)):
            if old == entry:
                return text
            return jsonc.put(text, ("hooks", event, number), entry)
    return jsonc.append(text, ("hooks", event), entry)


def with_item(text: str, path: tuple[str, ...], item: str) -> str:
    """The text with an item in the list at a path, once."""
    found: object = jsonc.load(text)
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return text if isinstance(found, list) and item in found else jsonc.append(text, path, item)


def with_default(text: str, path: tuple[str, ...], value: object) -> str:
    """The text with a value at a path, where the user has none there."""
    found: object = jsonc.load(text)
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return text if found is not None else jsonc.put(text, path, value)


def with_servers(text: str, place: tuple[str, ...], site: Site) -> tuple[str, list[str]]:
    """The text with each server of `{command, args}` or `{url, headers}` behind the proxy."""
    found: object = jsonc.load(text)
    for key in place:
        found = found.get(key) if isinstance(found, Mapping) else None
    notes: list[str] = []
    for name, server in found.items() if isinstance(found, Mapping) else ():
        if not isinstance(server, Mapping):
            continue
        command, url = server.get("command"), server.get("httpUrl") or server.get("url")
        headers = pairs(server.get("headers"))
        if isinstance(command, str):
            words = wrapped(site.program, command, texts(server.get("args")))
            if words is not None:
                text = jsonc.put(text, (*place, name, "command"), words[0])
                text = jsonc.put(text, (*place, name, "args"), words[1:])
        elif isinstance(url, str) and server.get("type") != "sse" and headers:
            words, environ = wrapped_remote(site.program, url, headers)
            gone = ("type", "url", "httpUrl", "headers")
            kept = {key: value for key, value in server.items() if key not in gone}
            environ = {**pairs(server.get("env")), **environ}
            new = {"command": words[0], "args": words[1:], **kept, "env": environ}
            text = jsonc.put(text, (*place, name), new)
        else:
            notes.append((SIGNED_IN if isinstance(url, str) else NOT_KNOWN).format(name))
    return text, notes
