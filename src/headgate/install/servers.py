"""Wrapping the MCP servers that a CLI has configured already, each in its place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

HEADER_VARIABLE = "HEADGATE_HEADER_{}"
"""Headers hold keys. They travel in the environment: arguments can be seen by everybody."""


@dataclass(frozen=True, slots=True)
class Behind:
    """A configured server that is started through the proxy."""

    name: str
    words: tuple[str, ...]
    """The whole command, the server's own at its end."""
    environ: Mapping[str, str]

    @property
    def proxy(self) -> tuple[str, ...]:
        """The command without the server: our program and what it was told."""
        ends = [self.words.index(word) for word in ("--", "--url") if word in self.words]
        return self.words[: min(ends, default=2)]


def behind(value: object, name: str = "") -> Iterator[Behind]:
    """The servers behind the proxy in the configuration of any CLI, wherever they stand in it."""
    if not isinstance(value, Mapping):
        return
    command = value.get("command")
    words = [command] if isinstance(command, str) else texts(command)
    words += texts(value.get("args")) if isinstance(command, str) else []
    if is_proxy(words):
        environ = {**pairs(value.get("env")), **pairs(value.get("environment"))}
        yield Behind(name, tuple(words), environ)
    for key, part in value.items():
        yield from behind(part, str(key))


def is_proxy(words: Sequence[str]) -> bool:
    """Whether a command is our proxy, of whatever installation."""
    return bool(words) and os.path.basename(words[0]) == "headgate" and words[1:2] == ["mcp"]


def wrapped(program: str, command: str, args: Sequence[str]) -> list[str] | None:
    """The command of a local server behind the proxy; None where it is there already."""
    if is_proxy([command, *args]):
        return None
    return [program, "mcp", "--", command, *args]


def wrapped_remote(
    program: str, url: str, headers: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command of a server over HTTP behind the proxy, and its environment."""
    words = [program, "mcp", "--url", url]
    environ: dict[str, str] = {}
    for number, (name, value) in enumerate(headers.items(), 1):
        variable = HEADER_VARIABLE.format(number)
        words += ["--header", f"{name}: ${variable}"]
        environ[variable] = value
    return words, environ


def texts(value: object) -> list[str]:
    """A list of texts; empty where it is something else."""
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def pairs(value: object) -> dict[str, str]:
    """An object of texts; empty where it is something else."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): part for key, part in value.items() if isinstance(part, str)}


SIGNED_IN = (
    "{}: a server over HTTP without headers of its own may sign in through the agent, which a "
    "proxy cannot; it was left alone"
)
NOT_KNOWN = "{}: it has neither a command nor a url over streamable HTTP; it was left alone"
