"""Runs inside a peer's own environment: texts in as JSON lines, what its default shows out.

    build/peers/fastmcp/bin/python bench/retention_peer.py fastmcp < items.jsonl

Nothing of ours is imported here.
"""

import asyncio
import json
import logging
import os
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from types import SimpleNamespace

os.environ.update(HEADROOM_BEACON="off", DO_NOT_TRACK="1", HF_HUB_OFFLINE="1", HEADROOM_OFFLINE="1")
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

FOLDER = tempfile.mkdtemp(prefix="peer-")


def headroom():
    from headroom import compress

    def show(one, number):
        call = {"name": one["tool"], "arguments": "{}"}
        messages = [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": one["ask"] or "Go on."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": one["text"]},
        ]
        shown = compress(messages, model="gpt-4o").messages
        return next(m["content"] for m in shown if m.get("role") == "tool")

    return show


def deepagents():
    from deepagents.backends import FilesystemBackend
    from deepagents.middleware.filesystem import FilesystemMiddleware
    from langchain_core.messages import ToolMessage

    backend = FilesystemBackend(root_dir=FOLDER, virtual_mode=True)
    middleware = FilesystemMiddleware(backend=backend)

    def show(one, number):
        message = ToolMessage(content=one["text"], tool_call_id=f"call_{number}", name="bash")
        return middleware._process_large_message(message, backend)[0].content

    return show


def pydantic_ai_harness():
    from pathlib import Path

    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai_harness.tool_output_limits import LocalFileStore, ToolOutputLimits

    def answer(messages, about):
        returned = any(isinstance(part, ToolReturnPart) for m in messages for part in m.parts)
        return ModelResponse(parts=[TextPart("done") if returned else ToolCallPart("bash", {})])

    async def ran(text):
        limits = ToolOutputLimits(store=LocalFileStore(Path(FOLDER)))
        agent = Agent(FunctionModel(answer), capabilities=[limits])

        @agent.tool_plain
        def bash() -> str:
            return text

        messages = (await agent.run("go")).all_messages()
        parts = [part for message in messages for part in message.parts]
        return str(next(part.content for part in parts if isinstance(part, ToolReturnPart)))

    return lambda one, number: asyncio.run(ran(one["text"]))


def strands():
    from strands.vended_plugins.context_offloader import ContextOffloader, FileStorage

    class Model:
        async def count_tokens(self, messages, **more):
            return len(json.dumps(messages)) // 4

    class Agent:
        model = Model()
        event_loop_metrics = SimpleNamespace(cycle_count=1)
        storage = None
        sandbox = None

    agent = Agent()
    offloader = ContextOffloader(storage=FileStorage(FOLDER))
    offload = type(offloader)._handle_tool_result
    offload = getattr(offload, "__wrapped__", offload)

    def show(one, number):
        result = {
            "toolUseId": f"t{number}",
            "status": "success",
            "content": [{"text": one["text"]}],
        }
        event = SimpleNamespace(
            cancel_message=None,
            tool_use={"name": "bash", "toolUseId": f"t{number}"},
            selected_tool=None,
            result=result,
            agent=agent,
        )
        asyncio.run(offload(offloader, event))
        return "\n".join(block.get("text", "") for block in event.result["content"])

    return show


def fastmcp():
    from fastmcp import Client, FastMCP
    from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware

    async def called(text):
        server = FastMCP("bench")
        server.add_middleware(ResponseLimitingMiddleware())

        @server.tool
        def bash() -> str:
            return text

        async with Client(server) as client:
            result = await client.call_tool("bash", {})
        return "".join(getattr(block, "text", "") for block in result.content)

    return lambda one, number: asyncio.run(called(one["text"]))


PEERS = {
    "headroom-ai": headroom,
    "deepagents": deepagents,
    "pydantic-ai-harness": pydantic_ai_harness,
    "strands-agents": strands,
    "fastmcp": fastmcp,
}


def main(package):
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What a peer prints must not stand between our lines.
    os.dup2(2, 1)
    show = PEERS[package]()
    for number, line in enumerate(sys.stdin.buffer):
        one = json.loads(line)
        started = time.perf_counter()
        shown = show(one, number)
        answer = {"version": version(package), "seconds": time.perf_counter() - started}
        if not isinstance(shown, str):
            shown = json.dumps(shown, default=str)
        print(json.dumps({**answer, "shown": shown}), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
