"""`headgate mcp`: stand between an MCP client and an MCP server."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import traceback
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from headgate.cli.opening import Reporter, chosen, session_for
from headgate.cli.output import CommandError, reason, say
from headgate.cli.parser import Parser, address, limit, session
from headgate.cli.run import split
from headgate.compiled import patterns_of
from headgate.limits import within
from headgate.spill.private import state_folder
from headgate.tool import NAME
from headgate.types import tokens

if TYPE_CHECKING:
    from headgate.mcp.toolgate import ToolGate
    from headgate.policy import Policy
    from headgate.proxy.rules import Rules

USAGE = """[--tokens N] [--preset P] [--session S] [--reader NAME] [--deny WHAT]
                    [--http [HOST:]PORT] {-- COMMAND ... | --url URL [--header 'NAME: VALUE']}"""

SAYS = """\
Stand between an MCP client and an MCP server. Every message passes as it came, in whatever version
of the protocol the two agree on; but results of tools go through the gate: what is too big is
shortened and kept whole, and one tool is added, read_result, with which the model reads the rest.

The server is a command, or it is reached over HTTP (--url). It is offered on stdin and stdout, or
over streamable HTTP (--http). HTTP on either side needs the extra: pip install 'headgate[mcp]'.
"""

EXAMPLES = """\
  headgate mcp -- npx -y @modelcontextprotocol/server-filesystem .
  headgate mcp --tokens 4000 -- uvx mcp-server-git
  headgate mcp --url https://example.com/mcp --header 'Authorization: Bearer $TOKEN'
  headgate mcp --http 8789 -- uvx mcp-server-fetch        offered at http://127.0.0.1:8789/mcp

In a client's configuration, put it before the command that is there:
  {"mcpServers": {"git": {"command": "headgate", "args": ["mcp", "--", "uvx", "mcp-server-git"]}}}

environment:
  HEADGATE_TOKEN      what clients must send as a bearer token (--http beyond this machine needs it)
"""

READER = re.compile(r"[A-Za-z0-9_-]{1,64}")
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def parser() -> Parser:
    """How it is called."""
    made = Parser("mcp", usage=USAGE, says=SAYS, examples=EXAMPLES)
    made.add_argument(
        "--tokens",
        type=limit("tokens"),
        metavar="N",
        help="at most N tokens of each result; 128 or more (default: as the policy says)",
    )
    made.add_argument("--preset", metavar="P", help="the policy (default: HEADGATE_PRESET)")
    made.add_argument(
        "--session",
        type=session,
        metavar="S",
        help="the session whose results these are (default: HEADGATE_SESSION, else one of its "
        "own for this server in this folder)",
    )
    made.add_argument(
        "--reader",
        type=tool_name,
        default=NAME,
        metavar="NAME",
        help=f"what the tool is called that reads results back (default: {NAME})",
    )
    made.add_argument(
        "--deny",
        type=denied,
        default=frozenset(),
        metavar="WHAT",
        help="what the server may not ask of the client: sampling, elicitation, roots; "
        "several with commas",
    )
    made.add_argument("--url", type=address, metavar="URL", help="the server, over streamable HTTP")
    made.add_argument(
        "--header",
        action="append",
        default=[],
        type=header,
        metavar="'NAME: VALUE'",
        help="sent to --url with each request; $NAME in it is taken from the environment",
    )
    made.add_argument("--http", metavar="[HOST:]PORT", help="offer it over HTTP instead of stdio")
    return made


def main(words: Sequence[str]) -> int:
    """Run it until the client or the server is gone."""
    options, command = split(words)
    asked, more = parser().parse_known_args(options)
    if more and (command or asked.url):
        parser().error(f"unrecognized arguments: {' '.join(more)}")
    if bool(command) == bool(asked.url):
        raise CommandError(
            "say which server, as in headgate mcp -- uvx mcp-server-git, or --url URL"
        )
    from headgate.proxy.door import door_of

    door = door_of(asked.http, os.environ.get("HEADGATE_TOKEN", "")) if asked.http else None
    _hear_loggers()
    from headgate.proxy.opening import Refused
    from headgate.proxy.serving import serve
    from headgate.proxy.upstream import Command, Remote

    upstream = Remote(asked.url, tuple(asked.header)) if asked.url else Command(tuple(command))
    named = upstream.name
    asked.words = command
    try:
        with patterns_of(state_folder(os.environ)):
            return asyncio.run(serve(upstream, _opener(asked, named), _rules(asked, named), door))
    except Refused as error:
        raise CommandError(str(error)) from error
    except ModuleNotFoundError as error:
        raise CommandError(
            f"over HTTP it needs {error.name}, of the extra: pip install 'headgate[mcp]'"
        ) from error
    except OSError as error:
        raise CommandError(f"{named}: {reason(error)}") from error


def _opener(asked: Namespace, name: str) -> Callable[[str], ToolGate]:
    """Opens the gate of a session; `of` is what tells sessions over HTTP apart."""
    own = _session(asked, name)

    @cache
    def shared() -> tuple[Policy, Reporter]:
        policy = chosen(asked.preset)
        if asked.tokens is not None:
            policy = within(policy, tokens(asked.tokens))
        return policy, Reporter()

    def open_gate(of: str) -> ToolGate:
        from headgate.gate import Gate
        from headgate.mcp.toolgate import ToolGate, reading_with

        policy, reporter = shared()
        named = f"{own}-{of}" if of else own
        policy = reading_with(policy, asked.reader)
        return ToolGate(Gate(policy, session=named, hooks=(reporter,)))

    return open_gate


def _session(asked: Namespace, name: str) -> str:
    """The session that was named, else one for this server in this folder.

    So a ref still leads to its result when the client starts the server again, and servers do not
    mix up what was last.
    """
    if asked.session is not None or os.environ.get("HEADGATE_SESSION"):
        return session_for(asked)
    place = "\0".join([name, asked.url or "", os.getcwd(), *asked.words])
    return f"mcp-{hashlib.sha256(place.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def _rules(asked: Namespace, name: str) -> Rules:
    from headgate.proxy.rules import Rules

    return Rules(name, asked.reader, asked.deny)


def _hear_loggers() -> None:
    """Warnings go to stderr like any message of ours; no other library writes by itself."""
    ours = logging.getLogger("headgate")
    ours.setLevel(logging.INFO)
    ours.addHandler(_Said())
    for name in ("asyncio", "httpx2", "mcp", "uvicorn"):
        logging.getLogger(name).addHandler(logging.NullHandler())


class _Said(logging.Handler):
    """A logger's records as messages; the traceback of a fault of ours where it is asked for."""

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            words = f"{words}: {record.exc_info[0].__name__}: {record.exc_info[1]}"
        say(words)
        if record.exc_info and os.environ.get("HEADGATE_DEBUG") == "1":
            for line in traceback.format_exception(*record.exc_info):
                say(line.rstrip())


def tool_name(value: str) -> str:
    """A name that every provider takes for a tool."""
    if not READER.fullmatch(value):
        raise ArgumentTypeError(f"{value!r}; it takes 1 to 64 letters, digits, _ and -")
    return value


def denied(value: str) -> frozenset[str]:
    """Capabilities, with commas between them."""
    from headgate.proxy.rules import DENIED_METHODS

    asked = frozenset(word.strip() for word in value.split(","))
    if not asked <= set(DENIED_METHODS):
        raise ArgumentTypeError(f"{value!r}; there is {', '.join(DENIED_METHODS)}")
    return asked


def header(value: str) -> tuple[str, str]:
    """A header; what it takes from the environment has to be there."""
    name, colon, text = value.partition(":")
    if not colon or not HEADER.fullmatch(name):
        raise ArgumentTypeError("it takes 'NAME: VALUE', as in 'Authorization: Bearer $TOKEN'")
    missing = [found[1] for found in VARIABLE.finditer(text) if found[1] not in os.environ]
    if missing:
        raise ArgumentTypeError(f"{name}: ${missing[0]} is not in the environment")
    return name, VARIABLE.sub(lambda found: os.environ[found[1]], text).strip()
