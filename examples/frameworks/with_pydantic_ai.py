"""pydantic-ai: a capability that lets every batch of results in, and offers `read_result`."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import Agent, FunctionToolset, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from stand_in import QUESTION, host_log, provider

from headgate import Gate, Policy, ToolResult, tokens
from headgate.tool import DESCRIPTION, NAME, schema


@dataclass
class Headgate(AbstractCapability[Any]):
    """Sends each result as the gate shows it; the agent's own history keeps it whole."""

    gate: Gate

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Exchange the results of a request; those decided before come out as the same bytes."""
        request_context.messages = await asyncio.to_thread(self.shown, request_context.messages)
        return request_context

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tool that reads back."""

        def read_result(ctx: RunContext[Any], **arguments: object) -> str:
            return self.gate.read_result(ctx.tool_call_id or "", arguments).text

        tool = Tool[Any].from_schema(read_result, NAME, DESCRIPTION, schema(), takes_ctx=True)
        return FunctionToolset([tool])

    def shown(self, messages: list[ModelMessage]) -> list[ModelMessage]:
        """The messages, with all results of one message let in as one batch."""
        asked: dict[str, dict[str, Any]] = {}
        out: list[ModelMessage] = []
        for message in messages:
            if isinstance(message, ModelResponse):
                asked = {call.tool_call_id: call.args_as_dict() for call in message.tool_calls}
            elif any(isinstance(part, ToolReturnPart) for part in message.parts):
                message = self.admitted(message, asked)
            out.append(message)
        return out

    def admitted(self, message: ModelRequest, asked: dict[str, dict[str, Any]]) -> ModelRequest:
        """One message with its results as the model may see them; what was read back fits."""
        batch = [
            ToolResult.of(
                part.tool_name,
                part.model_response_str(wrap_if_error=False),
                call_id=part.tool_call_id,
                is_error=part.outcome in ("failed", "retried"),
                arguments=asked.get(part.tool_call_id, {}),
            )
            for part in message.parts
            if isinstance(part, ToolReturnPart)
            and part.tool_name != NAME
            and part.tool_kind is None  # else its form is the framework's own
        ]
        results = self.gate.admit(batch)
        texts = {r.call_id: r.text for r in results if r.verdict.text is not None}
        parts = [
            with_text(part, texts[part.tool_call_id])
            if isinstance(part, ToolReturnPart) and part.tool_call_id in texts
            else part
            for part in message.parts
        ]
        return replace(message, parts=parts)


def with_text(part: ToolReturnPart[Any], text: str) -> ToolReturnPart[Any]:
    """A result with another text; images that came with it stay."""
    return replace(part, content=[text, *part.files] if part.files else text)


def main() -> None:
    """Ask one question."""
    gate = Gate(Policy(result=tokens(220), batch=tokens(400)), session="frameworks")
    with provider("OPENAI_BASE_URL") as url:
        model = OpenAIChatModel("gpt-5.1", provider=OpenAIProvider(base_url=url, api_key="key"))
        agent = Agent(model, tools=[host_log], capabilities=[Headgate(gate)])
        agent.run_sync(QUESTION)


if __name__ == "__main__":
    main()
