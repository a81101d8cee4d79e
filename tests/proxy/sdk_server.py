"""A server of the MCP SDK with one of each: `python sdk_server.py [PORT]`."""

import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

server = MCPServer("one of each", log_level="ERROR")


class Row(BaseModel):
    id: int


class Report(BaseModel):
    rows: list[Row]
    title: str


@server.tool()
def report(rows: int) -> Report:
    return Report(rows=[Row(id=i) for i in range(rows)], title="t")


@server.tool()
async def slow(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half")
    await ctx.report_progress(2, 2, "done")
    return "done"


class Answer(BaseModel):
    word: str


@server.tool(structured_output=False)
async def ask(ctx: Context) -> Any:
    if ctx.protocol_version != "2026-07-28":
        return (await ctx.elicit("which word?", Answer)).data.word
    if not ctx.input_responses:
        schema = Answer.model_json_schema()
        params = ElicitRequestFormParams(message="which word?", requested_schema=schema)
        return InputRequiredResult(input_requests={"q": ElicitRequest(params=params)})
    return ctx.input_responses["q"].content["word"]


@server.prompt()
def greet() -> str:
    return "hello"


@server.resource("notes://one")
def note() -> str:
    return "a note"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
