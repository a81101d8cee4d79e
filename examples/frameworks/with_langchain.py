"""langchain: a middleware that lets every batch of results in, and offers `read_result`."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from stand_in import QUESTION, host_log, provider

from headgate import Gate, Media, Policy, ShownResult, Text, ToolResult, tokens
from headgate.tool import DESCRIPTION, NAME, schema


class Headgate(AgentMiddleware[Any, Any, Any]):
    """Sends each result as the gate shows it; the agent's own state keeps it whole."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.tools = [reader(gate)]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Exchange the results of a request; those decided before come out as the same bytes."""
        return handler(request.override(messages=shown(self.gate, request.messages)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The same for `ainvoke`: langchain wants both."""
        messages = await asyncio.to_thread(shown, self.gate, request.messages)
        return await handler(request.override(messages=messages))


def reader(gate: Gate) -> BaseTool:
    """The tool that reads back."""

    def read_result(**arguments: object) -> str:
        return gate.read_result("", arguments).text

    return StructuredTool.from_function(
        read_result, name=NAME, description=DESCRIPTION, args_schema=schema()
    )


def shown(gate: Gate, messages: list[AnyMessage]) -> list[AnyMessage]:
    """The messages, with all results that stand together let in as one batch."""
    asked: dict[str | None, dict[str, Any]] = {}
    out: list[AnyMessage] = []
    for are_results, group in groupby(messages, lambda m: isinstance(m, ToolMessage)):
        some = list(group)
        asked |= {
            c["id"]: c["args"] for m in some if isinstance(m, AIMessage) for c in m.tool_calls
        }
        out += admitted(gate, some, asked) if are_results else some
    return out


def admitted(
    gate: Gate, messages: list[AnyMessage], asked: dict[str | None, dict[str, Any]]
) -> list[AnyMessage]:
    """The results of one batch as the model may see them; what was read back fits already."""
    batch = [
        ToolResult.of(
            m.name or "tool",
            blocks_of(m.content),
            call_id=m.tool_call_id,
            is_error=m.status == "error",
            arguments=asked.get(m.tool_call_id, {}),
        )
        for m in messages
        if isinstance(m, ToolMessage) and m.name != NAME
    ]
    results = {r.call_id: content_of(r) for r in gate.admit(batch) if r.verdict.text is not None}
    return [
        m.model_copy(update={"content": results[m.tool_call_id]})
        if isinstance(m, ToolMessage) and m.tool_call_id in results
        else m
        for m in messages
    ]


def blocks_of(content: str | list[str | dict[str, Any]]) -> list[Text | Media]:
    """The texts of a result as texts, and its images as they are."""
    blocks = [content] if isinstance(content, str) else content
    texts = [b["text"] if isinstance(b, dict) and b.get("type") == "text" else b for b in blocks]
    return [Text(b) if isinstance(b, str) else Media("opaque", b) for b in texts]


def content_of(result: ShownResult) -> str | list[Any]:
    """What the gate shows, as langchain writes it."""
    media = [block.value for block in result.blocks if isinstance(block, Media)]
    return [{"type": "text", "text": result.text}, *media] if media else result.text


def agent_at(url: str) -> Runnable[Any, Any]:
    """An agent with one tool of its own."""
    gate = Gate(Policy(result=tokens(220), batch=tokens(400)), session="frameworks")
    model = ChatOpenAI(model="gpt-5.1", base_url=url, api_key=SecretStr("key"))
    return create_agent(model, [host_log], middleware=[Headgate(gate)])


if __name__ == "__main__":
    with provider("OPENAI_BASE_URL") as url:
        agent_at(url).invoke({"messages": [{"role": "user", "content": QUESTION}]})
