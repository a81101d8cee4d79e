"""The stand-in for OpenAI Chat Completions: `/v1/chat/completions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from headgate.check import check
from headgate.testing.answers import Answer, Json, State, arguments_of, deltas, event, objects
from headgate.testing.prompts import MESSAGE_TOKENS, Segment, canonical, tokens_of
from headgate.testing.refused import Refused, object_at
from headgate.testing.replies import Reply, Request, Usage
from headgate.testing.wording_openai import chat_refusal

STOPS = MappingProxyType(
    {
        "end": "stop",
        "calls": "tool_calls",
        "length": "length",
        "refusal": "content_filter",
        "pause": "stop",
    }
)

LEAST_CACHED_TOKENS = 1_024
CACHE_STEP_TOKENS = 128

DONE = b"data: [DONE]\n\n"


class ChatApi:
    """Answers as Chat Completions does."""

    dialect = "openai-chat"

    def __init__(self, state: State) -> None:
        self._state = state

    def admit(self, request: Request) -> None:
        """Refuse missing fields and a broken history."""
        require(request, "model", "messages")
        violations = check(request.body, self.dialect)
        if violations:
            raise chat_refusal(violations, request.json)

    def segments(self, request: Request) -> list[Segment]:
        """Tools, then messages."""
        count = self._state.count_for(request.model)
        tools = [
            Segment(canonical(tool), tokens_of(tool, count), "tools")
            for tool in objects(request.json.get("tools"))
        ]
        return tools + [
            Segment(canonical(message), tokens_of(message, count) + MESSAGE_TOKENS, "messages")
            for message in objects(request.json.get("messages"))
        ]

    def bill(self, request: Request, segments: Sequence[Segment]) -> Usage:
        """Read whatever prefix was seen before."""
        return self._state.prefixes.bill(
            request.model,
            segments,
            least_tokens=LEAST_CACHED_TOKENS,
            step_tokens=CACHE_STEP_TOKENS,
        )

    def render(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        """A completion, or the chunks that build it up."""
        calls = [
            self._call(call.tool, arguments_of(call.arguments), call.id) for call in reply.calls
        ]
        message: Json = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.reason == "refusal":
            message |= {"content": None, "refusal": reply.text}
        if calls:
            message["tool_calls"] = calls
        head: Json = {
            "id": self._state.mint.letters("chatcmpl-", 29),
            "created": int(self._state.clock()),
            "model": request.model,
            "service_tier": "default",
            "system_fingerprint": "fp_0000000000",
        }
        choice = {"index": 0, "message": message, "logprobs": None}
        choice["finish_reason"] = STOPS[reply.reason]
        body = {**head, "object": "chat.completion", "choices": [choice], "usage": _usage(usage)}
        events = tuple(self._chunks(request, head, choice, usage)) if request.streams else None
        return Answer(200, body, events, request_id(self._state), usage, reply.fault)

    def counted(self, tokens: int) -> Json:
        """Chat Completions counts nothing; this is what Responses would say."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def overflow(self, tokens: int, window_tokens: int) -> Refused:
        """A prompt that is longer than the window."""
        message = (
            f"This model's maximum context length is {window_tokens} tokens. However, your "
            f"messages resulted in {tokens} tokens. Please reduce the length of the messages."
        )
        return Refused(400, message, code="context_length_exceeded", param="messages")

    def error(self, refused: Refused) -> Json:
        """An error with its type, code and parameter."""
        return error_body(refused)

    def break_off(self, refused: Refused, number: int) -> bytes:
        """The error in the middle of a stream."""
        return event(error_body(refused))

    def _call(self, tool: str, arguments: str, id_: str) -> Json:
        return {
            "id": id_ or self._state.mint.letters("call_", 24),
            "type": "function",
            "function": {"name": tool, "arguments": arguments},
        }

    def _chunks(self, request: Request, head: Json, choice: Json, usage: Usage) -> Iterator[bytes]:
        asked = object_at(request.json, "stream_options").get("include_usage") is True
        chunk = {**head, "object": "chat.completion.chunk"}
        beside: Json = {"usage": None} if asked else {}

        def one(delta: Json, finish: object = None) -> bytes:
            said = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return event({**chunk, "choices": [said], **beside})

        for delta in _deltas(choice["message"], self._state.delta_chars):
            yield one(delta)
        yield one({}, choice["finish_reason"])
        if asked:
            yield event({**chunk, "choices": [], "usage": _usage(usage)})
        yield DONE


def require(request: Request, *names: str) -> None:
    """Refuse a request that lacks one of these fields."""
    for name in names:
        if name not in request.json:
            message = f"Missing required parameter: '{name}'."
            raise Refused(400, message, code="missing_required_parameter", param=name)


def request_id(state: State) -> dict[str, str]:
    """The header that names a request."""
    return {"x-request-id": state.mint.hexadecimal("req_", 32)}


def error_body(refused: Refused) -> Json:
    """An error in OpenAI's form."""
    kinds = {429: "rate_limit_error", 500: "server_error", 503: "server_error"}
    said: Json = {
        "message": refused.message,
        "type": kinds.get(refused.status, "invalid_request_error"),
        "param": refused.param,
        "code": refused.code,
    }
    return {"error": said}


def _deltas(message: object, chars: int) -> Iterator[Json]:
    said = message if isinstance(message, dict) else {}
    content, refusal = said.get("content"), said.get("refusal")
    yield {"role": "assistant", "content": "" if content else None, "refusal": None}
    for text in deltas(str(content or ""), chars):
        yield {"content": text}
    for text in deltas(str(refusal or ""), chars):
        yield {"refusal": text}
    for index, call in enumerate(objects(said.get("tool_calls"))):
        function = object_at(call, "function")
        opened = {"name": function.get("name"), "arguments": ""}
        yield {"tool_calls": [{**call, "index": index, "function": opened}]}
        for piece in deltas(str(function.get("arguments")), chars):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.thinking_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
