"""Whether a client has Headgate's own tool, and what it is called there.

MCP clients put their server's name before it. The words of its description say that it is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

import msgspec

from headgate.policy import Policy, ToolRule
from headgate.scan import Scanner
from headgate.slices import NotJson
from headgate.tool import DESCRIPTION, NAME
from headgate.values import value_of

CALLED = re.compile(rf"[A-Za-z0-9_.-]{{0,64}}{NAME}")
SAYS = DESCRIPTION.partition(".")[0]
MENTIONED = Scanner((NAME.encode(),))
"""Most bodies do not, and they are long."""

DEEPEST = 6
"""Levels of lists and objects in which providers' clients put the tools they declare."""


class _Body(msgspec.Struct, frozen=True):
    tools: msgspec.Raw = msgspec.Raw(b"[]")


_BODY = msgspec.json.Decoder(_Body)


def reading_tool(body: bytes) -> str:
    """The name of our tool in a request; empty where it is not declared."""
    if MENTIONED.first(body) is None:
        return ""
    try:
        return _in_tools(bytes(_BODY.decode(body).tools))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NotJson):
        return ""


def with_tool(policy: Policy, name: str) -> Policy:
    """The policy for a model that has our tool: markers name it, and its answers stay whole."""
    also = f'; {name}(ref="{{ref}}", lines="401-800") reads it by lines'
    marker = policy.marker
    if marker.reader == "file":
        marker = replace(marker, file=marker.file + also)
    tools = MappingProxyType({**policy.tools, name: ToolRule(exempt=True)})
    return policy.replace(marker=marker, tools=tools)


@lru_cache(8)
def _in_tools(tools: bytes) -> str:
    found = _declared(value_of(tools), DEEPEST)
    return next((name for name in found if CALLED.fullmatch(name)), "")


def _declared(value: object, levels: int) -> Iterator[str]:
    if isinstance(value, list) and levels:
        for item in value:
            yield from _declared(item, levels - 1)
    if isinstance(value, dict) and levels:
        name, description = value.get("name"), value.get("description")
        if isinstance(name, str) and isinstance(description, str) and SAYS in description:
            yield name
        for key in ("function", "functionDeclarations", "function_declarations"):
            yield from _declared(value.get(key), levels - 1)
