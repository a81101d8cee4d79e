"""Anthropic Messages, through the client of the `anthropic` package."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from headgate.agent.streams import events
from headgate.model import (
    ModelError,
    Reply,
    Said,
    Stop,
    Wire,
    content_of,
    legal_name,
    object_in,
    text_in,
    with_settings,
)
from headgate.slices import NotJson
from headgate.tool import Dialect
from headgate.types import NOTHING, Call, ToolResult
from headgate.values import value_of

STOPS: Final[Mapping[str, Stop]] = MappingProxyType(
    {
        "tool_use": "calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refusal",
        "pause_turn": "pause",
    }
)

CACHED: Final[Mapping[str, object]] = MappingProxyType({"cache_control": {"type": "ephemeral"}})
"""The provider moves the mark along: each request reads what the last one wrote."""


@dataclass(frozen=True, slots=True)
class AnthropicModel:
    """A model of Anthropic's; `client` is `anthropic.Anthropic()`, or any of its kind, or async."""

    client: object
    name: str
    system: str = ""
    max_tokens: int = 16_000
    """Of one reply."""
    settings: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    """Further fields of the request, such as `thinking`; None takes one of ours out, and `tools`
    are the provider's own beside ours."""
    dialect: Dialect = field(default="anthropic", init=False)

    def body(self, messages: Sequence[Wire], tools: Sequence[Wire]) -> Wire:
        """The request for a history."""
        body: Wire = {"model": self.name, "max_tokens": self.max_tokens, **CACHED}
        body |= {"system": self.system or None, "tools": list(tools)}
        return {**with_settings(body, self.settings), "messages": list(messages)}

    def user(self, text: str) -> Wire:
        """A message of the user's."""
        return {"role": "user", "content": text}

    def answers(self, results: Sequence[ToolResult]) -> list[Wire]:
        """One message with all results."""
        return [{"role": "user", "content": [_block(result) for result in results]}]

    async def send(self, body: Wire) -> AsyncIterator[Said | Reply]:
        """Ask the model."""
        building = Building()
        async for event in events(self.client, attrgetter("messages.create")(self.client), body):
            if text := building.take(event):
                yield Said(text)
        yield building.reply()


@dataclass(slots=True)
class Building:
    """A message, put together from the events of its stream."""

    blocks: dict[int, Wire] = field(default_factory=dict)
    inputs: dict[int, str] = field(default_factory=dict)
    """The JSON of each call's arguments, as far as it came."""
    usage: Wire = field(default_factory=dict)
    stop: str = ""
    is_done: bool = False

    def take(self, event: Wire) -> str:
        """Take the next event; gives what is said in it."""
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start":
            self.usage |= object_in(object_in(event, "message"), "usage")
        elif kind == "content_block_start" and isinstance(index, int):
            self.blocks[index] = object_in(event, "content_block")
            return text_in(self.blocks[index], "text")
        elif kind == "content_block_delta" and isinstance(index, int):
            return self._add(index, object_in(event, "delta"))
        elif kind == "message_delta":
            self.stop = text_in(object_in(event, "delta"), "stop_reason")
            reported = object_in(event, "usage").items()
            self.usage |= {name: value for name, value in reported if value is not None}
        elif kind == "message_stop":
            self.is_done = True
        return ""

    def _add(self, index: int, delta: Wire) -> str:
        block = self.blocks.setdefault(index, {})
        kind = text_in(delta, "type")
        if kind == "input_json_delta":
            self.inputs[index] = self.inputs.get(index, "") + text_in(delta, "partial_json")
        elif kind == "citations_delta":
            cited = block.get("citations")
            block["citations"] = [*(cited if isinstance(cited, list) else []), delta["citation"]]
        elif kind == "signature_delta":
            block["signature"] = delta.get("signature")
        elif kind in ("text_delta", "thinking_delta"):
            name = kind.removesuffix("_delta")
            block[name] = text_in(block, name) + text_in(delta, name)
        return text_in(delta, "text") if kind == "text_delta" else ""

    def reply(self) -> Reply:
        """The whole reply; raises where the stream ended before it was complete."""
        if not self.is_done:
            raise ModelError("the stream ended before the reply was complete")
        calls = [
            self._call(i) for i, b in sorted(self.blocks.items()) if b.get("type") == "tool_use"
        ]
        content = [self._filled(index) for index in sorted(self.blocks)]
        said = "".join(text_in(b, "text") for b in content if b.get("type") == "text")
        messages: tuple[Wire, ...] = ({"role": "assistant", "content": content},)
        stop = STOPS.get(self.stop, "end")
        return Reply(messages if content else (), said, tuple(calls), stop, self.usage)

    def _call(self, index: int) -> Call:
        block = self.blocks[index]
        arguments = self.inputs.get(index) or object_in(block, "input")
        return Call(text_in(block, "id"), text_in(block, "name"), arguments)

    def _filled(self, index: int) -> Wire:
        """A block as it is accepted again: with a name that is one, and an object as its input.

        Input that broke off is empty.
        """
        block = self.blocks[index]
        if block.get("type") == "tool_use":
            block = {**block, "name": legal_name(text_in(block, "name"))}
        if not self.inputs.get(index):
            return block
        try:
            read = value_of(self.inputs[index])
        except NotJson:
            read = {}
        return {**block, "input": read if isinstance(read, dict) else {}}


def _block(result: ToolResult) -> Wire:
    content = content_of(result)
    block: Wire = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
    return {**block, "is_error": True} if result.is_error else block
