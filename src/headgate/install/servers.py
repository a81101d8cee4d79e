"""Wrapping the MCP servers that a CLI has configured already, each in its place."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

HEADER_VARIABLE = "HEADGATE_HEADER_{}"
"""Headers hold keys. They travel in the environment: arguments can be seen by everybody."""


def wrapped(program: str, command: str, args: Sequence[str]) -> list[str] | None:
    """The command of a local server behind the proxy; None where it is there already."""
    if os.path.basename(command) == "headgate" and list(args[:1]) == ["mcp"]:
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
