"""The first exchange: a server's tools are known before the client hears that it is there.

So a server that has a tool of our tool's name is refused at the start, and the schemas of all
others are known before the first call. While our own `tools/list` is under way, what the server
says to the client waits; it goes on at once if the server asks something of the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from headgate.mcp.listing import KnownTool, known_tools, next_cursor
from headgate.mcp.wire import encoded, fields_of, loaded_object, object_of
from headgate.proxy.link import Link
from headgate.proxy.message import Message, request
from headgate.proxy.rules import Rules
from headgate.version import __version__

LONGEST_S = 10.0
"""How long a client may wait for a server that does not list its tools."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of every request from protocol 2026-07-28 on."""

CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"

OWN_ID = b'"headgate-tools-'

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "headgate", "version": __version__},
}


class Refused(Exception):
    """The server cannot be offered as it is; the message says the way out."""


class Opening:
    """What is asked of a server first, and what has been learnt."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.tools: dict[str, KnownTool] = {}
        self.is_listing = False
        self.has_begun = False
        self.said_initialized = False
        self._meta = b""
        self._asked = 0

    def after(self, method: str, params: bytes, result: bytes) -> list[Message]:
        """What to ask after an answer to `initialize` or `server/discover`."""
        if self.has_begun or "tools" not in loaded_object(
            fields_of(result).get("capabilities", b"")
        ):
            return []
        asked = [self._list(params)]
        if method == "initialize":
            self.said_initialized = True
            asked.insert(0, request("notifications/initialized"))
        return asked

    def before(self, message: Message) -> list[Message]:
        """What to ask before a first request that needs no handshake."""
        if self.has_begun or message.method == "server/discover" or not is_modern(message):
            return []
        return [self._list(message.params)]

    def listed(self, answered: Message) -> list[Message]:
        """Learn from the answer to our own question; gives the next one, if the list goes on."""
        self.learn(answered.result)
        cursor = next_cursor(answered.result)
        self.is_listing = bool(cursor)
        return [self._next(cursor)] if cursor else []

    def learn(self, result: bytes) -> list[str]:
        """Take in a list of tools; gives the names of those that have become others."""
        changed = []
        for tool in known_tools(result):
            if tool.name == self.rules.reader:
                raise Refused(clash(self.rules))
            known = self.tools.get(tool.name)
            if known is not None and known.raw != tool.raw:
                changed.append(tool.name)
            self.tools[tool.name] = tool
        return changed

    def _list(self, params: bytes) -> Message:
        self.has_begun = self.is_listing = True
        meta = loaded_object(fields_of(params).get("_meta", b""))
        meta.pop("progressToken", None)
        self._meta = encoded(meta) if VERSION_KEY in meta else b""
        return self._next(b"")

    def _next(self, cursor: bytes) -> Message:
        self._asked += 1
        fields = ({"cursor": cursor} if cursor else {}) | (
            {"_meta": self._meta} if self._meta else {}
        )
        return request("tools/list", object_of(fields), OWN_ID + b'%d"' % self._asked)


def clash(rules: Rules) -> str:
    """Why a server is refused, and the way out."""
    return (
        f"{rules.upstream} has a tool {rules.reader!r} of its own, and the proxy adds one of that "
        "name to read results back; give ours another with --reader NAME"
    )


def is_modern(message: Message) -> bool:
    """Whether a request comes with all the server needs to know, as from 2026-07-28 on."""
    return message.is_request and VERSION_KEY.encode() in message.params


def without_capabilities(message: Message, deny: frozenset[str]) -> bytes:
    """The params of a request in which the client does not offer what is denied."""
    params = fields_of(message.params)
    if message.method == "initialize" and "capabilities" in params:
        params["capabilities"] = _without(params["capabilities"], deny)
    meta = fields_of(params.get("_meta", b""))
    if CAPABILITIES_KEY in meta:
        meta[CAPABILITIES_KEY] = _without(meta[CAPABILITIES_KEY], deny)
        params["_meta"] = object_of(meta)
    return object_of(params)


def _without(raw: bytes, deny: frozenset[str]) -> bytes:
    return object_of({name: value for name, value in fields_of(raw).items() if name not in deny})


async def probe(connect: Callable[[], Awaitable[Link]], rules: Rules) -> None:
    """Look at a server's tools once, over a connection of its own; may raise `Refused`."""
    link = await connect()
    opening = Opening(rules)
    try:
        await link.send(request("initialize", encoded(HELLO), OWN_ID + b'0"'))
        async with asyncio.timeout(LONGEST_S):
            while (message := await link.receive()) is not None:
                if not message.is_answer:
                    continue
                if message.error:
                    return  # a server of another generation says later what it has
                questions = (
                    opening.listed(message)
                    if opening.has_begun
                    else opening.after("initialize", b"", message.result)
                )
                for question in questions:
                    await link.send(question)
                if not questions:
                    return
    except TimeoutError:
        return
    finally:
        await link.stop()
