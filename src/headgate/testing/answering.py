"""From a request to an answer: who may ask, for what, of which provider, and what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from headgate.check.body import parse
from headgate.errors import HistoryError
from headgate.testing.answers import Answer, Api, Json, State
from headgate.testing.anthropic_api import AnthropicApi
from headgate.testing.chat_api import ChatApi, request_id
from headgate.testing.gemini_api import GeminiApi
from headgate.testing.prompts import total
from headgate.testing.refused import Refused
from headgate.testing.replies import Call, Failure, Reply, Request, Say, Think, Usage
from headgate.testing.responses_api import ResponsesApi
from headgate.testing.tokens import window_of
from headgate.testing.wording_openai import NOT_JSON as OPENAI_NOT_JSON

KNOWN_MODELS = (
    *("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-fable-5-1"),
    *("gpt-5.5", "gpt-5", "gpt-4o-mini", "gemini-3.6-flash", "gemini-2.5-pro"),
)
"""What `/v1/models` lists where the stand-in takes every model."""

NOT_JSON = MappingProxyType(
    {
        "anthropic": "The request body is not valid JSON: {why}",
        "gemini": "Invalid JSON payload received. {why}",
    }
)

GEMINI_PATH = re.compile(
    r"/v1(?:alpha|beta|beta1)?/models/([^/:]+):(?:generateContent|streamGenerateContent|countTokens)"
)

SAYS = MappingProxyType(
    {
        400: "Bad request.",
        429: "This request would exceed your rate limit. Please try again later.",
        500: "Internal server error",
        503: "The server is overloaded or not ready yet.",
        504: "The request timed out.",
        529: "Overloaded",
    }
)


class Desk:
    """Takes requests of all four dialects."""

    def __init__(
        self,
        state: State,
        *,
        models: Collection[str],
        keys: Collection[str],
        window_tokens: int | None,
    ) -> None:
        self._models = models
        self._keys = keys
        self._window_tokens = window_tokens
        self._state = state
        self._responses = ResponsesApi(state)
        self._anthropic, self._gemini = AnthropicApi(state), GeminiApi(state)
        self._chat = ChatApi(state)
        self._paths: Mapping[str, Api] = {
            "/v1/messages": self._anthropic,
            "/v1/messages/count_tokens": self._anthropic,
            "/v1/chat/completions": self._chat,
            "/v1/responses": self._responses,
            "/v1/responses/input_tokens": self._responses,
        }

    def answer(self, request: Request, take: Callable[[Request], Reply]) -> tuple[Answer, Request]:
        """The answer, and the request with what was read from it."""
        api = self._api_of(request)
        seen = replace(request, dialect=api.dialect if self._is_known(request) else "", status=0)
        try:
            if request.status == 413:
                raise Refused(413, "Request exceeds the maximum size", code="request_too_large")
            self._authorise(request, api)
            if request.method != "POST":
                return Answer(200, self._look_up(request, api)), seen
            if not self._is_known(request):
                raise Refused(404, f"Invalid URL ({request.method} {request.path})")
            seen = _read(seen)
            return self._post(seen, api, take), seen
        except Refused as refused:
            return self._refusal(api, refused), seen
        except RecursionError:
            return self._refusal(api, Refused(400, "The request body is nested too deep.")), seen

    def _post(self, request: Request, api: Api, take: Callable[[Request], Reply]) -> Answer:
        if self._models and request.model not in self._models:
            raise _unknown_model(request.model, api)
        api.admit(request)
        segments = api.segments(request)
        tokens = total(segments)
        window_tokens = self._window_tokens or window_of(request.model)
        if request.path.endswith(("/count_tokens", "/input_tokens", ":countTokens")):
            return Answer(200, api.counted(tokens))
        if tokens > window_tokens:
            raise api.overflow(tokens, window_tokens)
        reply = take(request)
        broken_off = b""
        if isinstance(reply.fault, Failure):
            refused = _failed(reply.fault)
            if not (request.streams and reply.fault.after_events):
                raise refused
            broken_off = api.break_off(refused, reply.fault.after_events)
        usage = self._with_output(api.bill(request, segments), request, reply)
        return replace(api.render(request, reply, usage), broken_off=broken_off)

    def _with_output(self, usage: Usage, request: Request, reply: Reply) -> Usage:
        count = self._state.count_for(request.model)
        thinking = sum(count(piece.text) for piece in reply.pieces if isinstance(piece, Think))
        said = sum(count(piece.text) for piece in reply.pieces if isinstance(piece, Say))
        called = sum(
            count(piece.tool + json.dumps(dict(piece.arguments)))
            for piece in reply.pieces
            if isinstance(piece, Call)
        )
        output = max(thinking + said + called, 1)
        return replace(usage, output_tokens=output, thinking_tokens=thinking)

    def _refusal(self, api: Api, refused: Refused) -> Answer:
        body = api.error(refused)
        named = body.get("request_id")
        id_ = {"request-id": str(named)} if named else request_id(self._state)
        headers = {**id_, **refused.headers}
        return Answer(refused.status, body, headers=headers, error=refused.message)

    def _api_of(self, request: Request) -> Api:
        """Who answers; what no dialect has is refused by whoever was meant."""
        if request.path in self._paths:
            return self._paths[request.path]
        if "anthropic-version" in request.headers:
            return self._anthropic
        if GEMINI_PATH.fullmatch(request.path) or "x-goog-api-key" in request.headers:
            return self._gemini
        return self._responses if request.path.startswith("/v1/responses") else self._chat

    def _is_known(self, request: Request) -> bool:
        return request.path in self._paths or GEMINI_PATH.fullmatch(request.path) is not None

    def _authorise(self, request: Request, api: Api) -> None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        named = request.headers.get("x-api-key") or request.headers.get("x-goog-api-key")
        key = named or request.query.get("key") or bearer
        if not key:
            raise _no_key(api)
        if self._keys and key not in self._keys:
            raise _wrong_key(api)

    def _look_up(self, request: Request, api: Api) -> Json:
        """Models and stored responses."""
        *_, folder, last = request.path.split("/")
        if folder == "responses" and request.method == "GET":
            return self._responses.store.body(last)
        if folder == "responses" and request.method == "DELETE":
            return self._responses.store.forget(last)
        models = [*(self._models or KNOWN_MODELS)]
        if last == "models":
            return _listed(models, api)
        if folder == "models" and last in models:
            return _model(last, api)
        if folder == "models":
            raise _unknown_model(last, api)
        raise Refused(404, f"Invalid URL ({request.method} {request.path})")


def _read(request: Request) -> Request:
    """The request with its body parsed and its model known."""
    try:
        value = parse(request.body)
    except HistoryError as error:
        said = NOT_JSON.get(request.dialect, OPENAI_NOT_JSON)
        raise Refused(400, said.format(why=error)) from None
    if not isinstance(value, dict):
        raise Refused(400, "The request body is no JSON object.")
    named = GEMINI_PATH.fullmatch(request.path)
    model = named[1] if named else value.get("model")
    return replace(request, json=value, model=model if isinstance(model, str) else "")


def _failed(failure: Failure) -> Refused:
    headers = {}
    if failure.retry_after_s is not None:
        headers["retry-after"] = f"{failure.retry_after_s:g}"
    code = "rate_limit_exceeded" if failure.status == 429 else None
    message = failure.message or SAYS.get(failure.status, "The request could not be answered.")
    return Refused(failure.status, message, code=code, headers=headers)


def _no_key(api: Api) -> Refused:
    if api.dialect == "anthropic":
        return Refused(401, "x-api-key header is required")
    if api.dialect == "gemini":
        message = (
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API."
        )
        return Refused(403, message)
    message = (
        "You didn't provide an API key. You need to provide your API key in an Authorization "
        "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
    )
    return Refused(401, message)


def _wrong_key(api: Api) -> Refused:
    if api.dialect == "anthropic":
        return Refused(401, "invalid x-api-key")
    if api.dialect == "gemini":
        return Refused(400, "API key not valid. Please pass a valid API key.")
    return Refused(401, "Incorrect API key provided.", code="invalid_api_key")


def _unknown_model(model: str, api: Api) -> Refused:
    if api.dialect == "anthropic":
        return Refused(404, f"model: {model}")
    if api.dialect == "gemini":
        message = (
            f"models/{model} is not found for API version v1beta, or is not supported for "
            "generateContent."
        )
        return Refused(404, message)
    message = f"The model `{model}` does not exist or you do not have access to it."
    return Refused(404, message, code="model_not_found")


def _listed(models: Sequence[str], api: Api) -> Json:
    found = [_model(model, api) for model in models]
    if api.dialect == "gemini":
        return {"models": found}
    if api.dialect == "anthropic":
        return {"data": found, "has_more": False, "first_id": models[0], "last_id": models[-1]}
    return {"object": "list", "data": found}


def _model(model: str, api: Api) -> Json:
    if api.dialect == "gemini":
        methods = ["generateContent", "countTokens"]
        return {"name": f"models/{model}", "supportedGenerationMethods": methods}
    if api.dialect == "anthropic":
        made = "2026-01-01T00:00:00Z"
        return {"type": "model", "id": model, "display_name": model, "created_at": made}
    return {"id": model, "object": "model", "created": 1_767_225_600, "owned_by": "stand-in"}
