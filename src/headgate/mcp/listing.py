"""`tools/list` as a client gets it: schemas that shortened results satisfy, and one tool more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.mcp.form import FREE, Form, form_of, published
from headgate.mcp.wire import array_of, encoded, fields_of, items_of, loaded_object, object_of
from headgate.tool import NAME, definition


@dataclass(frozen=True, slots=True)
class Taken:
    """The arguments that a tool declares."""

    names: frozenset[str] = frozenset()
    is_open: bool = False
    """Whether it says that it takes others too."""


@dataclass(frozen=True, slots=True)
class KnownTool:
    """What a server said of one of its tools."""

    name: str
    raw: bytes
    signature: Taken = Taken()  # a frozen value
    form: Form = FREE
    """What must stay of its structured results."""
    has_output: bool = False
    """Whether it declares what its structured results look like."""


def known_tools(result: bytes) -> list[KnownTool]:
    """The tools in a result of `tools/list`."""
    return [_known(raw) for raw in items_of(fields_of(result).get("tools", b"")) or []]


def next_cursor(result: bytes) -> bytes:
    """Where the list goes on, as it is written; empty: it does not."""
    cursor = fields_of(result).get("nextCursor", b"null")
    return b"" if cursor == b"null" else cursor


def offered(result: bytes, reader: str = NAME) -> bytes:
    """The list with each schema as it is published; the last page has our own tool at its end."""
    fields = fields_of(result)
    tools = items_of(fields.get("tools", b""))
    if tools is None:
        return result
    shown = [_shown(tool) for tool in tools]
    if not next_cursor(result):
        shown.append(reader_tool(reader))
    return object_of({**fields, "tools": array_of(shown)})


def reader_tool(name: str = NAME) -> bytes:
    """Our own tool, the same bytes in every session."""
    return encoded({**definition("mcp"), "name": name})


def _shown(tool: bytes) -> bytes:
    fields = fields_of(tool)
    schema = loaded_object(fields.get("outputSchema", b""))
    if not schema:
        return tool
    shown = published(schema)
    return tool if shown is schema else object_of({**fields, "outputSchema": encoded(shown)})


def known_tool(
    name: str, raw: bytes, inputs: Mapping[str, object], outputs: Mapping[str, object]
) -> KnownTool:
    """A tool by its two schemas."""
    properties = inputs.get("properties")
    names = frozenset(properties) if isinstance(properties, Mapping) else frozenset()
    taken = Taken(names, inputs.get("additionalProperties", False) is not False)
    return KnownTool(name, raw, taken, form_of(outputs) or FREE, bool(outputs))


def _known(raw: bytes) -> KnownTool:
    fields = loaded_object(raw)
    schemas = [fields.get(name) for name in ("inputSchema", "outputSchema")]
    inputs, outputs = ({} if not isinstance(s, dict) else s for s in schemas)
    return known_tool(str(fields.get("name", "")), raw, inputs, outputs)
