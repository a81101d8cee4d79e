"""The stand-in for Anthropic Messages: `/v1/messages` and `/v1/messages/count_tokens`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from headgate.check import check
from headgate.testing.answers import Answer, Json, State, arguments_of, deltas, objects, typed_event
from headgate.testing.prompts import MESSAGE_TOKENS, Count, Segment, canonical, tokens_of
from headgate.testing.refused import Refused, object_at
from headgate.testing.replies import Call, Reply, Request, Think, Usage, Wire
from headgate.testing.wording_anthropic import refusal

STOPS = MappingProxyType(
    {
        "end": "end_turn",
        "calls": "tool_use",
        "length": "max_tokens",
        "refusal": "refusal",
        "pause": "pause_turn",
    }
)
KINDS = MappingProxyType(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        504: "timeout_error",
        529: "overloaded_error",
    }
)

LEAST_CACHED_TOKENS = (
    (512, ("claude-opus-5", "claude-fable-5", "claude-mythos-5")),
    (2_048, ("claude-opus-4-7",)),
    (4_096, ("claude-opus-4-6", "claude-opus-4-5", "claude-haiku-4-5")),
)
"""The shortest prefix that is kept, by model; 1,024 for the others."""

STRICTER_SINCE = "2026-10-21"
"""The version of the API since which sampling parameters and some blocks are refused."""

LIVES_S = MappingProxyType({"5m": 300, "1h": 3_600})


class AnthropicApi:
    """Answers as the Messages API does."""

    dialect = "anthropic"

    def __init__(self, state: State) -> None:
        self._state = state

    def admit(self, request: Request) -> None:
        """Refuse missing fields, a broken history, and thinking that was tampered with."""
        if "anthropic-version" not in request.headers:
            raise Refused(400, "anthropic-version: header is required")
        wanted: dict[str, type] = {"model": str, "messages": list}
        if not request.path.endswith("/count_tokens"):
            wanted["max_tokens"] = int
        for name, kind in wanted.items():
            if name not in request.json:
                raise Refused(400, f"{name}: Field required")
            if not isinstance(request.json[name], kind):
                raise Refused(400, f"{name}: Input should be a valid {kind.__name__}")
        violations = check(request.body, self.dialect)
        if violations:
            raise refusal(violations, request.json)
        if request.headers["anthropic-version"] >= STRICTER_SINCE:
            _newer_rules(request.json)
        self._transformations(request)

    def segments(self, request: Request) -> list[Segment]:
        """Tools, system, messages: one segment for each block."""
        count = self._state.count_for(request.model)
        body = request.json
        system = body.get("system")
        blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
        found = [_segment(tool, "tools", count) for tool in objects(body.get("tools"))]
        found += [_segment(block, "system", count) for block in objects(blocks)]
        # A changed setting leaves tools and system cached, and no message.
        part = "messages" + canonical([body.get("tool_choice"), body.get("thinking")])
        for message in objects(body.get("messages")):
            content = message.get("content")
            said = [{"type": "text", "text": content}] if isinstance(content, str) else content
            overhead = MESSAGE_TOKENS
            for block in objects(said):
                made = _segment(block, part, count, role=str(message.get("role")))
                found.append(replace(made, tokens=made.tokens + overhead))
                overhead = 0
        top = _life_s(body)
        if top and found:
            found[-1] = replace(found[-1], lives_s=top)
        return found

    def bill(self, request: Request, segments: Sequence[Segment]) -> Usage:
        """Read and write the prefixes that the request marks."""
        least = next(
            (tokens for tokens, names in LEAST_CACHED_TOKENS if request.model.startswith(names)),
            1_024,
        )
        return self._state.breakpoints.bill(request.model, segments, least)

    def render(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        """A message, or the events that build it up."""
        id_ = self._state.mint.letters("msg_01", 22)
        message: Json = {
            "model": request.model,
            "id": id_,
            "type": "message",
            "role": "assistant",
            "content": [*self._blocks(request, reply, id_)],
            "stop_reason": STOPS[reply.reason],
            "stop_sequence": None,
            "stop_details": None,
            "usage": _usage(usage),
        }
        if reports := self._transformations(request):
            message["input_transformations"] = reports
        headers = {"request-id": self._state.mint.letters("req_011", 21)}
        events = tuple(self._events(message, usage)) if request.streams else None
        return Answer(200, message, events, headers, usage, reply.fault)

    def counted(self, tokens: int) -> Json:
        """The body of a count."""
        return {"input_tokens": tokens}

    def overflow(self, tokens: int, window_tokens: int) -> Refused:
        """A prompt that is longer than the window."""
        return Refused(400, f"prompt is too long: {tokens} tokens > {window_tokens} maximum")

    def error(self, refused: Refused) -> Json:
        """An error with its type, its words, and a stable code where there is one."""
        said: Json = {"type": KINDS.get(refused.status, "api_error"), "message": refused.message}
        if refused.code and refused.status == 400:
            said["details"] = {"error_code": refused.code}
        id_ = self._state.mint.letters("req_011", 21)
        return {"type": "error", "error": said, "request_id": id_}

    def break_off(self, refused: Refused, number: int) -> bytes:
        """The error event of a stream."""
        return typed_event(self.error(refused))

    def _transformations(self, request: Request) -> list[Json]:
        betas = request.headers.get("anthropic-beta", "")
        return self._state.bindings.check(request.json, betas)

    def _blocks(self, request: Request, reply: Reply, id_: str) -> Iterator[Json]:
        thoughts = [piece for piece in reply.pieces if isinstance(piece, Think)]
        place = 0
        for piece in reply.pieces:
            if isinstance(piece, Think):
                yield self._thought(request, piece, id_, place, len(thoughts))
                place += 1
            elif isinstance(piece, Wire):
                yield dict(piece.block)
            elif isinstance(piece, Call):
                yield self._call(piece)
            elif piece.text:
                yield {"type": "text", "text": piece.text}

    def _thought(self, request: Request, piece: Think, reply: str, place: int, of: int) -> Json:
        is_hidden = (
            piece.redacted or object_at(request.json, "thinking").get("display") == "omitted"
        )
        shown = "" if is_hidden else piece.text
        sign = self._state.bindings.sign
        signature = sign(request.json, shown, reply=reply, place=place, of=of)
        if piece.redacted:
            return {"type": "redacted_thinking", "data": signature}
        return {"type": "thinking", "thinking": shown, "signature": signature}

    def _call(self, piece: Call) -> Json:
        return {
            "type": "tool_use",
            "id": piece.id or self._state.mint.letters("toolu_01", 22),
            "name": piece.tool,
            "input": dict(piece.arguments),
            "caller": {"type": "direct"},
        }

    def _events(self, message: Json, usage: Usage) -> Iterator[bytes]:
        start = {**message, "content": [], "stop_reason": None}
        start["usage"] = {**_usage(usage), "output_tokens": 1}
        yield typed_event({"type": "message_start", "message": start})
        for index, block in enumerate(objects(message["content"])):
            for data in _block_events(block, index, self._state.delta_chars):
                yield typed_event(data)
            if index == 0:
                yield typed_event({"type": "ping"})
        stop = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
        said = {key: value for key, value in _usage(usage).items() if key.endswith("_tokens")}
        yield typed_event({"type": "message_delta", "delta": stop, "usage": said})
        yield typed_event({"type": "message_stop"})


def _newer_rules(body: Mapping[str, object]) -> None:
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            raise Refused(400, f"{name}: Extra inputs are not permitted")
    for place, message in enumerate(objects(body.get("messages"))):
        for spot, block in enumerate(objects(message.get("content"))):
            path = f"messages.{place}.content.{spot}"
            said = (message.get("role"), block.get("type"))
            if said == ("assistant", "document"):
                raise Refused(400, f"{path}: document blocks are not permitted in assistant turns")
            if said == ("user", "text") and block.get("citations"):
                raise Refused(400, f"{path}.text.citations: Extra inputs are not permitted")


def _block_events(block: Json, index: int, chars: int) -> Iterator[Json]:
    empty, parts = _opened(block, chars)
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in parts:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _opened(block: Json, chars: int) -> tuple[Json, list[Json]]:
    """A block as it stands at its start, and the deltas that fill it."""
    kind = block.get("type")
    if kind == "text":
        texts = deltas(str(block["text"]), chars)
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in texts]
    if kind == "thinking":
        said = deltas(str(block["thinking"]), chars)
        thought: list[Json] = [{"type": "thinking_delta", "thinking": t} for t in said]
        thought.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": "thinking", "thinking": "", "signature": ""}, thought
    if kind == "tool_use":
        arguments = block["input"] if isinstance(block["input"], dict) else {}
        # The provider opens every call with an empty piece.
        pieces = ["", *deltas(arguments_of(arguments), chars)]
        filled: list[Json] = [{"type": "input_json_delta", "partial_json": p} for p in pieces]
        return {**block, "input": {}}, filled
    return block, []


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.fresh_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m_tokens,
            "ephemeral_1h_input_tokens": usage.cache_write_1h_tokens,
        },
        "output_tokens": usage.output_tokens,
        "service_tier": "standard",
    }


def _segment(block: Json, part: str, count: Count, role: str = "") -> Segment:
    nested = [_life_s(inner) for inner in objects(block.get("content"))]
    life_s = _life_s(block) or max(nested, default=0)
    return Segment(f"{role}:{canonical(block)}", tokens_of(block, count), part, life_s)


def _life_s(carrier: Mapping[str, object]) -> int:
    mark = carrier.get("cache_control")
    if not isinstance(mark, dict):
        return 0
    return LIVES_S.get(str(mark.get("ttl", "5m")), 0)
