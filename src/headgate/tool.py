"""The one tool a model gets: `read_result`, defined for each provider.

A definition is the same bytes in every session: it stands at the start of each request, and a
provider's cache holds only as long as that start does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

Dialect = Literal["anthropic", "openai-chat", "openai-responses", "gemini", "mcp"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

NAME = "read_result"

TITLE = "Read a shortened result"

DESCRIPTION = (
    "Reads back a tool result that was shortened. Such a result has a marker that says what is "
    'missing and how to see it: read_result(ref="r_...", lines="401-800"). Use this instead of '
    "running the tool again. Give one of lines, search, path, page or bytes; without any of them "
    "it shows the beginning. Each answer ends with what it shows and how to go on."
)

Argument: TypeAlias = tuple[Literal["string", "integer"], str]
Arguments: TypeAlias = Mapping[str, Argument]

ARGUMENTS: Arguments = MappingProxyType(
    {
        "ref": ("string", "Which result: the ref in its marker. Left out: the last one kept."),
        "tool": ("string", "Without ref: the last result of the tool with this name."),
        "lines": (
            "string",
            'Lines, counted from 1: "401-800", "401-" to the end, "-50" for the last 50.',
        ),
        "search": (
            "string",
            "Regular expression (RE2). Shows the matching lines with their numbers; a pattern "
            "without capitals ignores case. With lines: looks only there.",
        ),
        "path": ("string", 'Part of a JSON result: "$.items[3].name", "$.items[0:20]", "$..id".'),
        "page": (
            "integer",
            "Page of a JSON array, or of a text by lines, from 1. With path: page of its values.",
        ),
        "page_size": ("integer", "Items or lines on a page."),
        "bytes": (
            "string",
            'Bytes, counted from 0: "1048576-". To go on inside of one very long line.',
        ),
        "max_tokens": ("integer", "The most tokens the answer may have."),
    }
)
"""Each argument with its type and what it is for, in the order a model reads them."""


SQL_ARGUMENTS: Arguments = MappingProxyType(
    {
        **ARGUMENTS,
        "sql": (
            "string",
            "Query over a JSON or CSV result, which is the table result: "
            '"SELECT status, count(*) FROM result GROUP BY ALL". With page: page of its rows.',
        ),
    }
)
"""With the one for who has the extra `sql` installed."""


def definition(dialect: Dialect, *, sql: bool = False) -> Any:
    """The tool as it stands in a request, a dict; for Gemini, in `functionDeclarations`.

    `sql` offers queries: for whoever has the extra `sql` where the calls are answered.
    """
    # Any: each client has a type of its own for it, and takes no dict in its place.
    if dialect not in _FORMS:
        raise ValueError(f"dialect is {dialect!r}; there is {', '.join(DIALECTS)}")
    return _FORMS[dialect](SQL_ARGUMENTS if sql else ARGUMENTS)


def schema(*, strict: bool = False, sql: bool = False) -> dict[str, object]:
    """The arguments alone as a JSON schema, for frameworks that make the definition themselves.

    `strict` is as OpenAI wants it: every argument is named, and null where it is left out.
    """
    arguments = SQL_ARGUMENTS if sql else ARGUMENTS
    return _strict(arguments) if strict else _schema(arguments)


def _anthropic(arguments: Arguments) -> dict[str, object]:
    return {"name": NAME, "description": DESCRIPTION, "input_schema": _schema(arguments)}


def _openai_chat(arguments: Arguments) -> dict[str, object]:
    function = {
        "name": NAME,
        "description": DESCRIPTION,
        "parameters": _strict(arguments),
        "strict": True,
    }
    return {"type": "function", "function": function}


def _openai_responses(arguments: Arguments) -> dict[str, object]:
    return {
        "type": "function",
        "name": NAME,
        "description": DESCRIPTION,
        "parameters": _strict(arguments),
        "strict": True,
    }


def _gemini(arguments: Arguments) -> dict[str, object]:
    properties = {
        name: {"type": kind.upper(), "description": use} for name, (kind, use) in arguments.items()
    }
    parameters = {"type": "OBJECT", "properties": properties}
    return {"name": NAME, "description": DESCRIPTION, "parameters": parameters}


def _mcp(arguments: Arguments) -> dict[str, object]:
    return {
        "name": NAME,
        "title": TITLE,
        "description": DESCRIPTION,
        "inputSchema": _schema(arguments),
        "annotations": {"title": TITLE, "readOnlyHint": True, "openWorldHint": False},
    }


def _schema(arguments: Arguments) -> dict[str, object]:
    properties = {
        name: {"type": kind, "description": use} for name, (kind, use) in arguments.items()
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _strict(arguments: Arguments) -> dict[str, object]:
    # Strict mode wants every property in `required`: what may be left out is what may be null.
    properties = {
        name: {"type": [kind, "null"], "description": use}
        for name, (kind, use) in arguments.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_FORMS: Mapping[Dialect, Callable[[Arguments], dict[str, object]]] = MappingProxyType(
    {
        "anthropic": _anthropic,
        "openai-chat": _openai_chat,
        "openai-responses": _openai_responses,
        "gemini": _gemini,
        "mcp": _mcp,
    }
)
