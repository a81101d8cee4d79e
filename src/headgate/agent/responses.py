"""OpenAI Responses, through the `openai` package.

The history is ours: nothing is stored at the provider, and reasoning comes back sealed, so that a
conversation can be shortened, resumed elsewhere and read again.
"""

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
from headgate.tool import Dialect
from headgate.types import NOTHING, Call, ToolResult

STOPS: Final[Mapping[str, Stop]] = MappingProxyType(
    {"max_output_tokens": "length", "content_filter": "refusal"}
)

OURS: Final[Mapping[str, object]] = MappingProxyType(
    {"store": False, "include": ["reasoning.encrypted_content"]}
)
"""What is not stored cannot be referred to, so reasoning has to come along."""


@dataclass(frozen=True, slots=True)
class OpenAIResponsesModel:
    """A model behind Responses; `client` is `openai.OpenAI()`, or any of its kind, or async."""

    client: object
    name: str
    system: str = ""
    settings: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    """Further fields of the request; None takes one of ours out, as `include` where no model
    reasons."""
    dialect: Dialect = field(default="openai-responses", init=False)

    def body(self, messages: Sequence[Wire], tools: Sequence[Wire]) -> Wire:
        """The request for a history."""
        body: Wire = {"model": self.name, **OURS, "instructions": self.system or None}
        body |= {"tools": list(tools)}
        return {**with_settings(body, self.settings), "input": list(messages)}

    def user(self, text: str) -> Wire:
        """An item of the user's."""
        return {"role": "user", "content": text}

    def answers(self, results: Sequence[ToolResult]) -> list[Wire]:
        """An item for each result."""
        return [
            {
                "type": "function_call_output",
                "call_id": result.call_id,
                "output": content_of(result, "input_text"),
            }
            for result in results
        ]

    async def send(self, body: Wire) -> AsyncIterator[Said | Reply]:
        """Ask the model."""
        building = Building()
        create = attrgetter("responses.create")(self.client)
        async for event in events(self.client, create, body):
            if text := building.take(event):
                yield Said(text)
        yield building.reply()


@dataclass(slots=True)
class Building:
    """A response, put together from the events of its stream."""

    items: dict[int, Wire] = field(default_factory=dict)
    """As they were when they were done: only then is reasoning sealed."""
    response: Wire = field(default_factory=dict)

    def take(self, event: Wire) -> str:
        """Take the next event; gives what is said in it."""
        kind, index = text_in(event, "type"), event.get("output_index")
        if kind == "response.output_text.delta":
            return text_in(event, "delta")
        if kind == "response.output_item.done" and isinstance(index, int):
            self.items[index] = object_in(event, "item")
        elif kind in ("response.completed", "response.incomplete"):
            self.response = object_in(event, "response")
        elif kind in ("response.failed", "error"):
            error = object_in(object_in(event, "response"), "error") or event
            raise ModelError(text_in(error, "message"), text_in(error, "code"))
        return ""

    def reply(self) -> Reply:
        """The whole reply; raises where the stream ended before it was complete."""
        if not self.response:
            raise ModelError("the stream ended before the reply was complete")
        items = tuple(item for _, item in sorted(self.items.items()))
        calls = tuple(_call(item) for item in items if item.get("type") == "function_call")
        reason = text_in(object_in(self.response, "incomplete_details"), "reason")
        stop = STOPS.get(reason, "calls" if calls else "end")
        if any(part.get("type") == "refusal" for part in _parts(items)):
            stop = "refusal"
        messages = tuple(_sent_again(item) for item in items)
        return Reply(messages, _text(items), calls, stop, object_in(self.response, "usage"))


def _sent_again(item: Wire) -> Wire:
    """An item as it is accepted again."""
    if item.get("type") != "function_call":
        return item
    return {**item, "name": legal_name(text_in(item, "name"))}


def _call(item: Wire) -> Call:
    return Call(text_in(item, "call_id"), text_in(item, "name"), text_in(item, "arguments"))


def _text(items: Sequence[Wire]) -> str:
    return "".join(text_in(part, "text") for part in _parts(items))


def _parts(items: Sequence[Wire]) -> list[Wire]:
    """What the messages among the items are made of."""
    found: list[Wire] = []
    for item in items:
        parts = item.get("content") if item.get("type") == "message" else None
        found += (
            [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        )
    return found
