"""Tools as a request to a provider has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from types import MappingProxyType

from headgate.policy import Policy
from headgate.registry.tool import Tool
from headgate.tool import Dialect, definition


def definitions(tools: Iterable[Tool], dialect: Dialect, policy: Policy) -> list[dict[str, object]]:
    """One definition for each tool, and one for `read_result` where markers speak of it."""
    form = _FORMS[dialect]
    reads_back = policy.spill and policy.marker.reader == "tool"
    return [form(tool) for tool in tools] + ([definition(dialect)] if reads_back else [])


def _anthropic(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": deepcopy(tool.schema),
    }


def _openai_chat(tool: Tool) -> dict[str, object]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": deepcopy(tool.schema),
    }
    return {"type": "function", "function": function}


def _openai_responses(tool: Tool) -> dict[str, object]:
    # Strict is the default there, and wants every argument to be required.
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": deepcopy(tool.schema),
        "strict": False,
    }


def _gemini(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": deepcopy(tool.schema),
    }


def _mcp(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": deepcopy(tool.schema),
    }


_FORMS: Mapping[Dialect, Callable[[Tool], dict[str, object]]] = MappingProxyType(
    {
        "anthropic": _anthropic,
        "openai-chat": _openai_chat,
        "openai-responses": _openai_responses,
        "gemini": _gemini,
        "mcp": _mcp,
    }
)
