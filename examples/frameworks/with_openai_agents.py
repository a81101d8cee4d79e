"""The OpenAI Agents SDK: each request is prepared by the gate, and `read_result` is a tool."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from agents import Agent, FunctionTool, OpenAIResponsesModel, RunConfig, Runner, function_tool
from agents.run_config import CallModelData, ModelInputData
from agents.tool_context import ToolContext
from openai import AsyncOpenAI
from stand_in import QUESTION, host_log, provider

from headgate import AsyncGate, Gate, Policy, tokens
from headgate.tool import DESCRIPTION, NAME, schema

MODEL = "gpt-5.1"


def preparing(gate: Gate) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """A filter that makes each request ready to send; the session keeps results whole."""

    async def prepared(data: CallModelData[Any]) -> ModelInputData:
        told = data.model_data
        # With any id there, a result whose call is not at hand is no mistake.
        before = {"previous_response_id": "resp"} if is_held(told.input) else {}
        body = json.dumps({"input": told.input, **before}).encode()
        ready = await AsyncGate(gate).prepare(body, dialect="openai-responses", model=MODEL)
        return ModelInputData(json.loads(ready.body)["input"], told.instructions)

    return prepared


def is_held(items: Iterable[Mapping[str, Any]]) -> bool:
    """Whether OpenAI holds what came before: results are here, and their calls are not."""
    calls = {item["call_id"] for item in items if item.get("type") == "function_call"}
    results = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    return not results <= calls


def reader(gate: Gate) -> FunctionTool:
    """The tool that reads back."""

    async def read_result(context: ToolContext[Any], arguments: str) -> str:
        result = await AsyncGate(gate).read_result(context.tool_call_id, json.loads(arguments))
        return result.text

    return FunctionTool(NAME, DESCRIPTION, schema(strict=True), read_result)


async def ask(url: str, *, held: bool = False) -> None:
    """Ask one question; `held` lets OpenAI hold the history."""
    gate = Gate(Policy(result=tokens(220), batch=tokens(400)), session="frameworks")
    model = OpenAIResponsesModel(MODEL, AsyncOpenAI(base_url=url, api_key="key"))
    agent = Agent("helper", model=model, tools=[function_tool(host_log), reader(gate)])
    config = RunConfig(call_model_input_filter=preparing(gate), tracing_disabled=True)
    await Runner.run(agent, QUESTION, run_config=config, auto_previous_response_id=held)


if __name__ == "__main__":
    with provider("OPENAI_BASE_URL") as url:
        asyncio.run(ask(url))
