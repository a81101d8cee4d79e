"""Middleware for MCP servers written with fastmcp: every result passes the gate.

server = FastMCP("orders")
server.add_middleware(Headgate())                                    # our own policy
server.add_middleware(Headgate(max_tokens=2000, paginate_after=50))  # previews, pages, summaries
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from itertools import count

try:
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import get_access_token, get_http_request
    from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
    from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
    from mcp.shared.exceptions import MCPError
    from mcp_types import INTERNAL_ERROR, CallToolRequestParams, CallToolResult, ListToolsRequest
except ModuleNotFoundError as error:
    says = "the middleware needs the 'fastmcp' extra: pip install 'headgate[fastmcp]'"
    raise ModuleNotFoundError(says, name=error.name) from error

from headgate.errors import PolicyError
from headgate.gate import Gate
from headgate.mcp.form import published
from headgate.mcp.limited import limited_result
from headgate.mcp.listing import KnownTool, known_tool
from headgate.mcp.result import McpCall
from headgate.mcp.toolgate import ToolGate, reading_with, text_result
from headgate.policy import Policy
from headgate.presets import preset
from headgate.tool import NAME, definition
from headgate.types import tokens

MOST_CALLERS = 64
"""Gates that are held open, one for each caller; the one that asked longest ago is closed first.
Each holds ten files open, and of those many systems give a process 1,024."""


class Headgate(Middleware):
    """Lets each result in through a gate, and adds the tool that reads results back.

    Without a policy it is the default one. `max_tokens` and `paginate_after` choose the preset
    `delta` instead, with these numbers: a string over its budget becomes a preview, an array a page
    (`page` and `pageSize` in the arguments of a call turn it), an object a summary of its keys.
    Whatever the policy, an upstream's 429 becomes a result that says how long to wait.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        max_tokens: int | None = None,
        paginate_after: int | None = None,
        session: str = "fastmcp",
        state: str | os.PathLike[str] | None = None,
        reader: str = NAME,
    ) -> None:
        chosen = _policy(policy, max_tokens, paginate_after)
        self.policy = reading_with(chosen, reader)
        self.session = session
        self.reader = reader
        self._state = state
        self._gates: OrderedDict[str, ToolGate] = OrderedDict()
        self._run = secrets.token_hex(4)
        self._calls = count(1)

    async def on_list_tools(
        self,
        context: MiddlewareContext[ListToolsRequest],
        call_next: CallNext[ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """The tools with schemas that shortened results satisfy, and our own at the end."""
        tools = await call_next(context)
        if any(tool.name == self.reader for tool in tools):
            raise MCPError(
                INTERNAL_ERROR,
                f"the server has a tool {self.reader!r} of its own, and the middleware adds one of "
                "that name; give ours another: Headgate(reader='read_shortened')",
            )
        return [*map(_shown, tools), _reader_tool(self.reader)]

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Run a tool and let its result in; our own tool is answered here."""
        message = context.message
        arguments = dict(message.arguments or {})
        caller = _caller(context)
        gate = self._gate(caller)
        call_id = f"mcp_{self._run}_{next(self._calls)}"
        if message.name == self.reader:
            return _made(await asyncio.to_thread(gate.read, call_id, arguments))
        tool = await _known(context, message.name)
        asked = await asyncio.to_thread(gate.asked, tool, arguments)
        call = McpCall(call_id, tool.name, arguments, tool.form)
        # Who asks is not known: then what is stored may be another's, and the tool runs again.
        if asked.page is not None and caller is not None:
            page = await asyncio.to_thread(gate.page, call, asked)
            if page is not None:
                return _made(page)
        if len(asked.own) != len(arguments):
            own = message.model_copy(update={"arguments": dict(asked.own)})
            context = context.copy(message=own)
        try:
            result = await call_next(context)
        except ToolError as error:
            return await self._failed(gate, call, error)
        if type(result) is not ToolResult or isinstance(result, InputRequiredToolResult):
            return result  # input that is asked for, or a task that was begun
        raw = _written(result)
        admitted = await asyncio.to_thread(gate.admit, call, raw, asked)
        return result if admitted is raw else _made(admitted)

    async def _failed(self, gate: ToolGate, call: McpCall, error: ToolError) -> ToolResult:
        """A refusal for the time being as a result; any other error within its limit."""
        limited = limited_result(call, error, call.tool)
        if limited is not None:
            return _made(limited)
        raw = text_result(str(error), is_error=True)
        admitted = await asyncio.to_thread(gate.admit, call, raw)
        if admitted is raw:
            raise error
        return _made(admitted)

    def _gate(self, caller: str | None) -> ToolGate:
        """The gate of a caller: nobody reads what another was shown."""
        name = f"{self.session}-{caller}" if caller else self.session
        if name not in self._gates:
            gate = Gate(self.policy, session=name, state=self._state)
            self._gates[name] = ToolGate(gate, knows_caller=caller is not None)
            if len(self._gates) > MOST_CALLERS:
                self._gates.popitem(last=False)
        self._gates.move_to_end(name)
        return self._gates[name]


def _policy(policy: Policy | None, max_tokens: int | None, paginate_after: int | None) -> Policy:
    if max_tokens is None and paginate_after is None:
        return policy or Policy()
    if policy is not None:
        raise PolicyError("give a policy, or max_tokens and paginate_after; a policy has its own")
    delta = preset("delta")
    if max_tokens is not None:
        delta = delta.replace(result=tokens(max_tokens))
    return delta if paginate_after is None else delta.replace(page_items=paginate_after)


def _caller(context: MiddlewareContext[CallToolRequestParams]) -> str | None:
    """Who asks, as a part of a session's name; None: it cannot be told."""
    server = context.fastmcp_context
    if server is None or server.transport in (None, "stdio"):
        return ""  # there is but one
    token = get_access_token()
    if token is not None:
        return sha256(f"{token.client_id}\0{token.subject or ''}".encode()).hexdigest()[:12]
    session_id = get_http_request().headers.get("mcp-session-id")
    return sha256(session_id.encode()).hexdigest()[:12] if session_id else None


async def _known(context: MiddlewareContext[CallToolRequestParams], name: str) -> KnownTool:
    server = context.fastmcp_context
    tool = await server.fastmcp.get_tool(name) if server is not None else None
    if tool is None:
        return KnownTool(name, b"")
    return known_tool(name, b"", tool.parameters, tool.output_schema or {})


def _shown(tool: Tool) -> Tool:
    if not tool.output_schema:
        return tool
    schema = published(tool.output_schema)
    if schema is tool.output_schema:
        return tool
    return tool.model_copy(update={"output_schema": dict(schema)})


def _reader_tool(name: str) -> Tool:
    told = definition("mcp")
    return Tool.model_validate(
        {
            "name": name,
            "title": told["title"],
            "description": told["description"],
            "parameters": told["inputSchema"],
            "annotations": told["annotations"],
        }
    )


def _written(result: ToolResult) -> bytes:
    whole = result.to_mcp_result()
    if not isinstance(whole, CallToolResult):
        content, structured = whole if isinstance(whole, tuple) else (whole, None)
        whole = CallToolResult(content=content, structured_content=structured)
    return whole.model_dump_json(by_alias=True, exclude_none=True).encode()


def _made(raw: bytes) -> ToolResult:
    return ToolResult.from_mcp_result(CallToolResult.model_validate_json(raw))
