"""The stand-in for Gemini: `:generateContent`, `:streamGenerateContent` and `:countTokens`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from headgate.check import check
from headgate.testing.answers import Answer, Json, State, deltas, dumps, objects
from headgate.testing.mint import digest_of
from headgate.testing.prompts import MESSAGE_TOKENS, Segment, canonical, tokens_of
from headgate.testing.refused import Refused, object_at
from headgate.testing.replies import Call, Reply, Request, Say, Think, Usage, Wire
from headgate.testing.wording_gemini import refusal

STOPS = MappingProxyType(
    {
        "end": "STOP",
        "calls": "STOP",
        "length": "MAX_TOKENS",
        "refusal": "SAFETY",
        "pause": "STOP",
    }
)
STATUSES = MappingProxyType(
    {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        413: "INVALID_ARGUMENT",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
    }
)

UNCHECKED = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
"""The signatures the provider documents for calls it never made."""


class GeminiApi:
    """Answers as the Gemini API does."""

    dialect = "gemini"

    def __init__(self, state: State) -> None:
        self._state = state

    def admit(self, request: Request) -> None:
        """Refuse a broken history, and signatures that were never given out."""
        body = _content_request(request)
        if "contents" not in body:
            raise Refused(400, "* GenerateContentRequest.contents: contents is not specified\n")
        violations = check(
            dumps(dict(body)).encode("utf-8", "surrogatepass"), self.dialect, model=request.model
        )
        if violations:
            raise refusal(violations, body)
        for part in _parts(body):
            signature = part.get("thoughtSignature", part.get("thought_signature"))
            if signature is None or signature in UNCHECKED:
                continue
            if self._state.sealer.open(_padded(signature)) is None:
                raise Refused(400, "Thought signature is not valid.")

    def segments(self, request: Request) -> list[Segment]:
        """Tools, the instruction, then the parts of every turn."""
        count = self._state.count_for(request.model)
        body = _content_request(request)
        found = [
            Segment(canonical(tool), tokens_of(tool, count), "tools")
            for tool in objects(body.get("tools"))
        ]
        instruction = body.get("systemInstruction", body.get("system_instruction"))
        if instruction is not None:
            found.append(Segment(canonical(instruction), tokens_of(instruction, count), "system"))
        for turn in objects(body.get("contents")):
            overhead = MESSAGE_TOKENS
            for part in objects(turn.get("parts")):
                key = f"{turn.get('role')}:{canonical(part)}"
                found.append(Segment(key, tokens_of(part, count) + overhead, "messages"))
                overhead = 0
        return found

    def bill(self, request: Request, segments: Sequence[Segment]) -> Usage:
        """Read whatever prefix was seen before."""
        least = 4_096 if _generation(request.model) >= 3 else 2_048
        bill = self._state.prefixes.bill
        return bill(request.model, segments, least_tokens=least, step_tokens=1)

    def render(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        """A response, or the chunks that build it up."""
        parts = [*self._parts(request, reply)]
        head: Json = {
            "modelVersion": request.model,
            "responseId": self._state.mint.letters("", 22),
        }
        finish = STOPS[reply.reason]
        body = {**_candidate(parts, finish), "usageMetadata": _usage(usage), **head}
        events = tuple(self._chunks(parts, finish, usage, head)) if request.streams else None
        return Answer(200, body, events, usage=usage, fault=reply.fault)

    def counted(self, tokens: int) -> Json:
        """The body of a count."""
        details = [{"modality": "TEXT", "tokenCount": tokens}]
        return {"totalTokens": tokens, "promptTokensDetails": details}

    def overflow(self, tokens: int, window_tokens: int) -> Refused:
        """A prompt that is longer than the window."""
        message = (
            f"The input token count ({tokens}) exceeds the maximum number of tokens allowed "
            f"({window_tokens})."
        )
        return Refused(400, message)

    def error(self, refused: Refused) -> Json:
        """An error with its code and status."""
        status = STATUSES.get(refused.status, "UNKNOWN")
        return {"error": {"code": refused.status, "message": refused.message, "status": status}}

    def break_off(self, refused: Refused, number: int) -> bytes:
        """The error in the middle of a stream."""
        return _chunk(self.error(refused))

    def _parts(self, request: Request, reply: Reply) -> Iterator[Json]:
        """The parts of a turn. The first call carries the signature, its siblings none."""
        signs = _generation(request.model) >= 3
        thought = "".join(piece.text for piece in reply.pieces if isinstance(piece, Think))
        config = object_at(request.json, "generationConfig.thinkingConfig")
        is_shown = config.get("includeThoughts", config.get("include_thoughts")) is True
        is_signed = not signs
        for piece in reply.pieces:
            if isinstance(piece, Think) and is_shown and not piece.redacted:
                yield {"text": piece.text, "thought": True}
            elif isinstance(piece, Say) and piece.text:
                yield {"text": piece.text}
            elif isinstance(piece, Wire):
                yield dict(piece.block)
            elif isinstance(piece, Call):
                part = self._call(piece, signs=signs)
                if not is_signed:
                    claims = {"model": request.model, "text": digest_of(thought)}
                    part["thoughtSignature"] = self._state.sealer.seal(claims)
                    is_signed = True
                yield part

    def _call(self, piece: Call, *, signs: bool) -> Json:
        call: Json = {"name": piece.tool, "args": dict(piece.arguments)}
        if signs:
            call["id"] = piece.id or self._state.mint.letters("", 8)
        return {"functionCall": call}

    def _chunks(
        self, parts: Sequence[Json], finish: str, usage: Usage, head: Json
    ) -> Iterator[bytes]:
        pieces = [
            piece
            for part in parts
            for piece in (
                [
                    {**part, "text": text}
                    for text in deltas(str(part["text"]), self._state.delta_chars)
                ]
                if "text" in part
                else [part]
            )
        ]
        so_far = _usage(Usage(usage.input_tokens, cache_read_tokens=usage.cache_read_tokens))
        for piece in pieces:
            yield _chunk({**_candidate([piece], None), "usageMetadata": so_far, **head})
        last = _candidate([{"text": ""}], finish)
        yield _chunk({**last, "usageMetadata": _usage(usage), **head})


def _candidate(parts: Sequence[Json], finish: str | None) -> Json:
    said: Json = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish is not None:
        said["finishReason"] = finish
    return {"candidates": [said]}


def _chunk(data: Mapping[str, object]) -> bytes:
    return f"data: {dumps(data)}\r\n\r\n".encode()


def _usage(usage: Usage) -> Json:
    said: Json = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens - usage.thinking_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input_tokens}],
    }
    if usage.thinking_tokens:
        said["thoughtsTokenCount"] = usage.thinking_tokens
    if usage.cache_read_tokens:
        said["cachedContentTokenCount"] = usage.cache_read_tokens
    return said


def _content_request(request: Request) -> Mapping[str, object]:
    """The request itself; a count may wrap it."""
    wrapped = request.json.get("generateContentRequest")
    return wrapped if isinstance(wrapped, Mapping) else request.json


def _parts(body: Mapping[str, object]) -> Iterator[Json]:
    for turn in objects(body.get("contents")):
        yield from objects(turn.get("parts"))


def _padded(signature: object) -> object:
    """Base64 as we sealed it; clients that hold it as bytes send it in the URL's alphabet."""
    if not isinstance(signature, str):
        return signature
    return signature.replace("-", "+").replace("_", "/")


def _generation(model: str) -> int:
    found = re.search(r"gemini-(\d+)", model)
    return int(found[1][:4]) if found else 0
