"""OpenAI Chat Completions, and the many servers that speak it, through the `openai` package."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Final

import msgspec

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
    {"tool_calls": "calls", "length": "length", "content_filter": "refusal"}
)

COUNTED: Final[Mapping[str, object]] = MappingProxyType({"stream_options": {"include_usage": True}})
"""Without it a stream does not say what it cost."""


@dataclass(frozen=True, slots=True)
class OpenAIChatModel:
    """A model behind Chat Completions; `client` is `openai.OpenAI()`, or any of its kind."""

    client: object
    name: str
    system: str = ""
    settings: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    """Further fields of the request; None takes one of ours out."""
    dialect: Dialect = field(default="openai-chat", init=False)

    def body(self, messages: Sequence[Wire], tools: Sequence[Wire]) -> Wire:
        """The request for a history."""
        body: Wire = {"model": self.name, **COUNTED, "tools": list(tools)}
        first: list[Wire] = [{"role": "system", "content": self.system}] if self.system else []
        return {**with_settings(body, self.settings), "messages": [*first, *messages]}

    def user(self, text: str) -> Wire:
        """A message of the user's."""
        return {"role": "user", "content": text}

    def answers(self, results: Sequence[ToolResult]) -> list[Wire]:
        """A message for each result."""
        return [
            {"role": "tool", "tool_call_id": result.call_id, "content": content_of(result)}
            for result in results
        ]

    async def send(self, body: Wire) -> AsyncIterator[Said | Reply]:
        """Ask the model."""
        building = Building()
        create = attrgetter("chat.completions.create")(self.client)
        async for event in events(self.client, create, body):
            if text := building.take(event):
                yield Said(text)
        yield building.reply()


@dataclass(slots=True)
class Building:
    """A message, put together from the chunks of its stream."""

    message: Wire = field(default_factory=dict)
    calls: dict[int, Wire] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)
    """Where calls stand whose place was taken."""
    usage: Wire = field(default_factory=dict)
    stop: str = ""

    def take(self, chunk: Wire) -> str:
        """Take the next chunk; gives what is said in it."""
        self.usage = object_in(chunk, "usage") or self.usage
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        self.stop = text_in(choice, "finish_reason") or self.stop
        delta = object_in(choice, "delta")
        for call in _calls(delta):
            self._add(call)
        for name, value in delta.items():
            if name in ("role", "tool_calls") or value is None:
                continue
            # What others put beside the text, such as their reasoning, is kept for them.
            self.message[name] = _joined(self.message.get(name), value)
        return _text(delta.get("content"))

    def _add(self, delta: Wire) -> None:
        call = self._call(delta)
        function, more = object_in(call, "function"), object_in(delta, "function")
        call |= {name: value for name, value in delta.items() if name != "index" and value}
        call["function"] = {
            **function,
            **{name: value for name, value in more.items() if value is not None},
            "arguments": text_in(function, "arguments") + _arguments(more.get("arguments")),
        }

    def _call(self, delta: Wire) -> Wire:
        """The call that a piece goes on with."""
        place = delta.get("index")
        if not isinstance(place, int):
            return self.calls.setdefault(len(self.calls), {})
        index = self.moved.get(place, place)
        # Some servers give every call the same place, and some every piece an id of its own.
        begins = text_in(delta, "id") and text_in(object_in(delta, "function"), "name")
        if begins and text_in(self.calls.get(index, {}), "id") not in ("", delta["id"]):
            index = self.moved[place] = max(self.calls) + 1
        return self.calls.setdefault(index, {})

    def reply(self) -> Reply:
        """The whole reply; raises where the stream ended before it was complete."""
        if not self.stop:
            raise ModelError("the stream ended before the reply was complete")
        calls = _told_apart([call for _, call in sorted(self.calls.items())])
        message: Wire = {"role": "assistant", "content": None, **self.message}
        if calls:
            message["tool_calls"] = [_sent_again(call) for call in calls]
        text = _text(message["content"])
        stop = "calls" if calls and self.stop == "stop" else STOPS.get(self.stop, "end")
        refused = bool(text_in(message, "refusal"))
        return Reply(
            (message,) if text or calls or refused else (),
            text,
            tuple(_call(call) for call in calls),
            "refusal" if refused else stop,
            self.usage,
        )


def _joined(before: object, more: object) -> object:
    """A field that comes in pieces: texts go on, and so do lists of parts."""
    if isinstance(before, str) and isinstance(more, str):
        return before + more
    if isinstance(before, list) or (before and isinstance(more, list)):
        return [*_parts(before), *_parts(more)]
    return more


def _parts(content: object) -> list[object]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _text(content: object) -> str:
    """What is said in content of any form."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "".join(text_in(part, "text") for part in content if isinstance(part, dict))


def _arguments(given: object) -> str:
    """Arguments as the text they should have come as."""
    if given is None or isinstance(given, str):
        return given or ""
    return msgspec.json.encode(given).decode()


def _calls(delta: Wire) -> list[Wire]:
    calls = delta.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _told_apart(calls: list[Wire]) -> list[Wire]:
    """The calls with an id each; some servers give none, or the same one twice."""
    taken: set[str] = set()
    for call in calls:
        if text_in(call, "id") in taken | {""}:
            call["id"] = f"call_{secrets.token_hex(12)}"
        taken.add(text_in(call, "id"))
    return calls


def _sent_again(call: Wire) -> Wire:
    """A call as it is accepted again."""
    function = object_in(call, "function")
    return {**call, "function": {**function, "name": legal_name(text_in(function, "name"))}}


def _call(call: Wire) -> Call:
    function = object_in(call, "function")
    return Call(text_in(call, "id"), text_in(function, "name"), text_in(function, "arguments"))
