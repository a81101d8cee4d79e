"""claude-agent-sdk: a hook lets each result in, and `read_result` is a tool beside it."""

import asyncio
import tempfile
from typing import Any, cast

from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookContext,
    HookInput,
    HookMatcher,
    SdkMcpTool,
    create_sdk_mcp_server,
    query,
    tool,
)
from claude_agent_sdk.types import McpServerConfig, SyncHookJSONOutput
from stand_in import QUESTION, host_log, provider

from headgate import Gate, Policy, tokens
from headgate.hooks import claude_code
from headgate.hooks.answering import decided
from headgate.hooks.heard import Shown
from headgate.mcp.toolgate import reading_with
from headgate.tool import DESCRIPTION, NAME, schema

READER = f"mcp__headgate__{NAME}"
"""What Claude Code calls a tool of the server `headgate`."""


def hook(gate: Gate) -> HookMatcher:
    """Exchanges each result for what the gate shows, in the form its tool gave it."""

    async def after(
        event: HookInput, call_id: str | None, context: HookContext
    ) -> SyncHookJSONOutput:
        heard = claude_code.hear(cast(dict[str, object], event))
        if heard is None or heard.tool == READER:
            return {}
        texts = await asyncio.to_thread(lambda: dict(decided(gate, heard)))
        answer = claude_code.answer(cast(dict[str, object], event), Shown(texts, heard))
        return cast(SyncHookJSONOutput, answer) if texts else {}

    return HookMatcher(hooks=[after])


def reader(gate: Gate) -> SdkMcpTool[Any]:
    """The tool that reads back."""

    @tool(NAME, DESCRIPTION, schema())
    async def read_result(arguments: dict[str, object]) -> dict[str, Any]:
        result = await asyncio.to_thread(gate.read_result, "", arguments)
        return {"content": [{"type": "text", "text": result.text}], "is_error": result.is_error}

    return read_result


@tool("host_log", "The log of a host.", {"host": str})
async def log_tool(arguments: dict[str, str]) -> dict[str, Any]:
    """A tool of the program's own."""
    return {"content": [{"type": "text", "text": host_log(arguments["host"])}]}


async def main() -> None:
    """Ask one question."""
    gate = Gate(reading_with(Policy(result=tokens(220)), READER), session="frameworks")
    servers: dict[str, McpServerConfig] = {
        "hosts": create_sdk_mcp_server("hosts", tools=[log_tool]),
        "headgate": create_sdk_mcp_server("headgate", tools=[reader(gate)]),
    }
    named = provider("ANTHROPIC_BASE_URL", "mcp__hosts__", READER)
    with named as url, tempfile.TemporaryDirectory() as home:
        options = ClaudeAgentOptions(
            model="claude-sonnet-4-5",
            mcp_servers=servers,
            allowed_tools=["mcp__hosts__host_log", READER],
            hooks={"PostToolUse": [hook(gate)]},
            setting_sources=[],
            cwd=home,
            env={
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "key",
                "CLAUDE_CONFIG_DIR": home,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "ENABLE_TOOL_SEARCH": "false",
                "MAX_MCP_OUTPUT_TOKENS": "1000000",
            },
        )
        async for _ in query(prompt=QUESTION, options=options):
            pass


if __name__ == "__main__":
    asyncio.run(main())
