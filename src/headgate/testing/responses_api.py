"""The stand-in for OpenAI Responses: `/v1/responses`, stored responses, and its count of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from headgate.check import check
from headgate.testing.answers import (
    Answer,
    Json,
    State,
    arguments_of,
    deltas,
    dumps,
    objects,
    typed_event,
)
from headgate.testing.chat_api import (
    CACHE_STEP_TOKENS,
    LEAST_CACHED_TOKENS,
    error_body,
    request_id,
    require,
)
from headgate.testing.mint import digest_of
from headgate.testing.prompts import MESSAGE_TOKENS, Segment, canonical, tokens_of
from headgate.testing.refused import Refused, object_at
from headgate.testing.replies import Call, Reply, Request, Say, Think, Usage, Wire
from headgate.testing.responses_store import ResponsesStore
from headgate.testing.wording_openai import responses_refusal

ECHOED = (
    *("instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "reasoning"),
    *("previous_response_id", "store", "temperature", "text", "tool_choice", "tools", "top_p"),
)
"""Fields of a request that its response repeats."""

CUTS = MappingProxyType({"length": "max_output_tokens", "refusal": "content_filter"})
"""Why a response is incomplete."""


class ResponsesApi:
    """Answers as Responses does."""

    dialect = "openai-responses"

    def __init__(self, state: State) -> None:
        self._state = state
        self.store = ResponsesStore(state.sealer)

    def admit(self, request: Request) -> None:
        """Refuse a broken history: the one that is stored and the one that was sent, together."""
        require(request, "model", "input")
        items = self.store.whole_input(request.json)
        body = {**request.json, "input": items}
        body.pop("previous_response_id", None)
        found = check(dumps(body).encode("utf-8", "surrogatepass"), self.dialect)
        # Which item came from which reasoning is known here, and need not be guessed.
        violations = [v for v in found if v.rule != "R3" or _is_reasoning(body, v.where)]
        if violations:
            raise responses_refusal(violations, body)
        self.store.check_reasoning(items)

    def segments(self, request: Request) -> list[Segment]:
        """Tools, instructions, then every item."""
        count = self._state.count_for(request.model)
        found = [
            Segment(canonical(tool), tokens_of(tool, count), "tools")
            for tool in objects(request.json.get("tools"))
        ]
        instructions = request.json.get("instructions")
        if isinstance(instructions, str):
            found.append(Segment(instructions, count(instructions) + MESSAGE_TOKENS, "system"))
        for item in self.store.whole_input(request.json):
            # Sealed reasoning is billed by what it was, which only its seal says.
            shown = {k: v for k, v in item.items() if k != "encrypted_content"}
            tokens = tokens_of(shown, count) + MESSAGE_TOKENS
            found.append(Segment(canonical(shown), tokens, "messages"))
        return found

    def bill(self, request: Request, segments: Sequence[Segment]) -> Usage:
        """Read whatever prefix was seen before."""
        return self._state.prefixes.bill(
            request.model,
            segments,
            least_tokens=LEAST_CACHED_TOKENS,
            step_tokens=CACHE_STEP_TOKENS,
        )

    def render(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        """A response, or the events that build it up."""
        body = self._open(request)
        output = [*self._items(request, reply)]
        cut = CUTS.get(reply.reason)
        done: Json = {
            **body,
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": cut} if cut else None,
            "completed_at": int(self._state.clock()),
            "output": output,
            "usage": _usage(usage),
        }
        if request.json.get("store") is not False:
            self.store.keep(done, [*self.store.whole_input(request.json), *output])
        events = tuple(self._events(body, done)) if request.streams else None
        return Answer(200, done, events, request_id(self._state), usage, reply.fault)

    def counted(self, tokens: int) -> Json:
        """The body of a count."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def overflow(self, tokens: int, window_tokens: int) -> Refused:
        """A prompt that is longer than the window."""
        message = (
            "Your input exceeds the context window of this model. Please adjust your input and "
            "try again."
        )
        return Refused(400, message, code="context_length_exceeded", param="input")

    def error(self, refused: Refused) -> Json:
        """An error with its type, code and parameter."""
        return error_body(refused)

    def break_off(self, refused: Refused, number: int) -> bytes:
        """The error event of a stream."""
        said = {"code": refused.code, "message": refused.message, "param": refused.param}
        return typed_event({"type": "error", **said, "sequence_number": number})

    def _open(self, request: Request) -> Json:
        """A response that has just begun."""
        defaults: Json = {
            "metadata": {},
            "parallel_tool_calls": True,
            "store": True,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
        }
        echoed = {name: request.json.get(name, defaults.get(name)) for name in ECHOED}
        return {
            "id": self._state.mint.hexadecimal("resp_"),
            "object": "response",
            "created_at": int(self._state.clock()),
            "status": "in_progress",
            "background": False,
            "error": None,
            "incomplete_details": None,
            "model": request.model,
            "output": [],
            "truncation": "disabled",
            "usage": None,
            **echoed,
        }

    def _items(self, request: Request, reply: Reply) -> Iterator[Json]:
        tools = objects(request.json.get("tools"))
        custom = {tool.get("name") for tool in tools if tool.get("type") == "custom"}
        for piece in reply.pieces:
            if isinstance(piece, Think):
                yield self._reasoning(request, piece)
            elif isinstance(piece, Wire):
                yield dict(piece.block)
            elif isinstance(piece, Say):
                yield self._message(piece.text, is_last=not reply.calls)
            else:
                yield self._call(piece, is_custom=piece.tool in custom)

    def _reasoning(self, request: Request, piece: Think) -> Json:
        included = request.json.get("include")
        wants_summary = object_at(request.json, "reasoning").get("summary") is not None
        shown = [{"type": "summary_text", "text": piece.text}] if wants_summary else []
        item: Json = {
            "id": self._state.mint.hexadecimal("rs_"),
            "type": "reasoning",
            "summary": [] if piece.redacted else shown,
        }
        if isinstance(included, list) and "reasoning.encrypted_content" in included:
            claims = {"model": request.model, "text": digest_of(piece.text)}
            item["encrypted_content"] = self._state.sealer.seal(claims)
        return item

    def _message(self, text: str, *, is_last: bool) -> Json:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
        return {
            "id": self._state.mint.hexadecimal("msg_"),
            "type": "message",
            "status": "completed",
            "content": [part],
            "phase": "final_answer" if is_last else "commentary",
            "role": "assistant",
        }

    def _call(self, piece: Call, *, is_custom: bool) -> Json:
        call_id = piece.id or self._state.mint.letters("call_", 24)
        head: Json = {"status": "completed", "call_id": call_id, "name": piece.tool}
        if is_custom:
            id_ = self._state.mint.hexadecimal("ctc_")
            said = str(piece.arguments.get("input", ""))
            return {"id": id_, "type": "custom_tool_call", "input": said, **head}
        id_ = self._state.mint.hexadecimal("fc_")
        arguments = arguments_of(piece.arguments)
        return {"id": id_, "type": "function_call", "arguments": arguments, **head}

    def _events(self, body: Json, done: Json) -> Iterator[bytes]:
        found: list[Json] = [
            {"type": "response.created", "response": body},
            {"type": "response.in_progress", "response": body},
        ]
        for index, item in enumerate(objects(done["output"])):
            filled = _item_events(item, self._state.delta_chars)
            found += [{**data, "output_index": index} for data in filled]
        found.append({"type": f"response.{done['status']}", "response": done})
        for number, data in enumerate(found):
            yield typed_event({**data, "sequence_number": number})


def _is_reasoning(body: Json, where: str) -> bool:
    return object_at(body, where).get("type") == "reasoning"


def _item_events(item: Json, chars: int) -> Iterator[Json]:
    added, inner = _opened(item, chars)
    yield {"type": "response.output_item.added", "item": added}
    for data in inner:
        yield {**data, "item_id": item.get("id")}
    yield {"type": "response.output_item.done", "item": item}


def _opened(item: Json, chars: int) -> tuple[Json, list[Json]]:
    """An item as it stands at its start, and the events that fill it."""
    kind = item.get("type")
    if kind == "message":
        parts = objects(item["content"])
        filled = [e for index, part in enumerate(parts) for e in _part_events(part, index, chars)]
        return {**item, "status": "in_progress", "content": []}, filled
    if kind == "function_call":
        said = str(item["arguments"])
        name = "response.function_call_arguments"
        events: list[Json] = [{"type": f"{name}.delta", "delta": d} for d in deltas(said, chars)]
        events.append({"type": f"{name}.done", "arguments": said})
        return {**item, "status": "in_progress", "arguments": ""}, events
    if kind == "custom_tool_call":
        said = str(item["input"])
        name = "response.custom_tool_call_input"
        typed: list[Json] = [{"type": f"{name}.delta", "delta": d} for d in deltas(said, chars)]
        typed.append({"type": f"{name}.done", "input": said})
        return {**item, "status": "in_progress", "input": ""}, typed
    if kind == "reasoning":
        parts = objects(item["summary"])
        summed = [e for index, part in enumerate(parts) for e in _summary(part, index, chars)]
        return {**item, "summary": []}, summed
    return item, []


def _part_events(part: Json, index: int, chars: int) -> Iterator[Json]:
    text = str(part["text"])
    place = {"content_index": index}
    yield {"type": "response.content_part.added", "part": {**part, "text": ""}, **place}
    for delta in deltas(text, chars):
        yield {"type": "response.output_text.delta", "delta": delta, "logprobs": [], **place}
    yield {"type": "response.output_text.done", "text": text, "logprobs": [], **place}
    yield {"type": "response.content_part.done", "part": part, **place}


def _summary(part: Json, index: int, chars: int) -> Iterator[Json]:
    text = str(part["text"])
    place = {"summary_index": index}
    yield {"type": "response.reasoning_summary_part.added", "part": {**part, "text": ""}, **place}
    for delta in deltas(text, chars):
        yield {"type": "response.reasoning_summary_text.delta", "delta": delta, **place}
    yield {"type": "response.reasoning_summary_text.done", "text": text, **place}
    yield {"type": "response.reasoning_summary_part.done", "part": part, **place}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": 0,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
