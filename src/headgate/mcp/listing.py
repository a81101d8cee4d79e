"""`tools/list` as a client gets it: schemas that shortened results satisfy, and one tool more."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.mcp.form import FREE, Form, form_of, published
from headgate.mcp.wire import array_of, encoded, fields_of, items_of, loaded_object, object_of
from headgate.tool import NAME, definition


@dataclass(frozen=True, slots=True)
class KnownTool:
    """What a server said of one of its tools."""

    name: str
    raw: bytes
    arguments: frozenset[str] = frozenset()
    """Those it declares itself."""
    form: Form = FREE
    """What must stay of its structured results."""


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


def _known(raw: bytes) -> KnownTool:
    fields = loaded_object(raw)
    inputs, outputs = fields.get("inputSchema"), fields.get("outputSchema")
    properties = inputs.get("properties") if isinstance(inputs, dict) else None
    form = form_of(outputs) if isinstance(outputs, dict) else None
    return KnownTool(
        str(fields.get("name", "")),
        raw,
        frozenset(properties) if isinstance(properties, dict) else frozenset(),
        form or FREE,
    )
