"""A count by the provider itself, for those who want one: its counting endpoint, else a small call.

Nothing here opens a connection: whoever wants the count brings a way to post. What could not be
counted so is estimated, and the answer says which of the three it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from headgate.dialects import dialect_named
from headgate.dialects.history import History
from headgate.dialects.spans import fields_of, json_object, json_text
from headgate.errors import HistoryError
from headgate.history.count import Accounting, Count
from headgate.history.count import count as estimate_count
from headgate.history.usage import usage_of
from headgate.measure.models import counted_as
from headgate.slices import NotJson
from headgate.values import value_of

Platform = Literal["first-party", "vertex", "vertex-global", "bedrock"]
"""Where the models run; `vertex-global` is Vertex in a global region."""

Endpoint: TypeAlias = Callable[[str, bytes], tuple[int, bytes]]
"""Posts JSON to a path of the provider's own API and answers with status and body; raises `OSError`
where nobody answers. A client for another platform turns path and model into its own."""

HAIKU = ("claude-haiku-4-5", "claude-haiku-5")
SONNET = ("claude-sonnet-4-6", "claude-sonnet-5")
"""By generation: the one that counts like the model in question is taken."""

SMALL_MODELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "openai-chat": ("gpt-4.1-nano",),
        "openai-responses": ("gpt-4.1-nano",),
        "gemini": ("gemini-2.5-flash-lite",),
    }
)
"""Which do not think before they answer with one token. Anthropic's depends on the platform."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request that leads to a count."""

    path: str
    body: bytes
    by: str
    """What answers, in words."""
    model: str
    counts_thinking: bool = True
    field: str = ""
    """Where the number stands; empty: in the usage of a response."""


@dataclass(frozen=True, slots=True)
class ExactCount:
    """The tokens of a history, and who counted them."""

    tokens: int
    exact: bool
    """Whether the model's own vocabulary was used on all of it."""
    by: str
    failures: tuple[str, ...] = ()
    """What was tried before, and why it gave no number."""
    estimate: Count | None = None
    """Where nobody else counted."""


def exact_count(
    history: History,
    post: Endpoint,
    accounting: Accounting,
    *,
    model: str = "",
    platform: Platform = "first-party",
    small_model: str = "",
) -> ExactCount:
    """Count through the provider; `model` where the history names none.

    First its counting endpoint, then a call for one token on a small model, then the estimate.
    """
    model = model or history.model
    failures: list[str] = []
    for ask in asks(history, model=model, platform=platform, small_model=small_model):
        try:
            status, answer = post(ask.path, ask.body)
        except OSError as error:
            failures.append(f"{ask.by}: {error or type(error).__name__}")
            continue
        counted = tokens_in(ask, status, answer)
        if counted is not None:
            return _as_counted(history, ask, counted, model, tuple(failures))
        failures.append(f"{ask.by}: status {status}, and no count in {len(answer)} bytes")
    estimated = estimate_count(history, accounting)
    return ExactCount(estimated.tokens, False, "estimate", tuple(failures), estimated)


def asks(
    history: History, *, model: str, platform: Platform = "first-party", small_model: str = ""
) -> list[Ask]:
    """The requests to try in turn, each as it is sent."""
    if not model:
        raise HistoryError("the history names no model; say which one to count for")
    fields = _fields(history)
    thinks = any(message.has_thinking for message in history.messages)
    small = small_model or small_model_for(history.dialect, model, platform, thinks=thinks)
    call = _CALLS[history.dialect](fields, small)
    endpoint = _ENDPOINTS.get(history.dialect)
    return [endpoint(fields, model, platform), call] if endpoint else [call]


def small_model_for(dialect: str, model: str, platform: Platform, *, thinks: bool) -> str:
    """The cheapest model that can count this history where it runs.

    Haiku is not in Vertex's global regions, and on Bedrock it may refuse thinking; there it is
    Sonnet. Of each, the generation is taken whose vocabulary is nearest to the model's.
    """
    needs_sonnet = platform == "vertex-global" or (platform == "bedrock" and thinks)
    names = SMALL_MODELS.get(dialect) or (SONNET if needs_sonnet else HAIKU)
    multiplier = counted_as(model).multiplier
    return min(names, key=lambda name: abs(counted_as(name).multiplier - multiplier))


def tokens_in(ask: Ask, status: int, answer: bytes) -> int | None:
    """The number in an answer; None where there is none."""
    if status != 200:
        return None
    try:
        said = value_of(answer)
    except NotJson:
        return None
    if not isinstance(said, dict):
        return None
    if not ask.field:
        usage = usage_of(said)
        return usage.prompt if usage and usage.prompt else None
    tokens = said.get(ask.field)
    if isinstance(tokens, bool) or not isinstance(tokens, int):
        return None
    return tokens if tokens >= 0 else None


def _as_counted(
    history: History, ask: Ask, tokens: int, model: str, failures: tuple[str, ...]
) -> ExactCount:
    """The count in the tokens of the model that was meant."""
    meant, asked = counted_as(model), counted_as(ask.model)
    alike = (meant.vocab, meant.multiplier) == (asked.vocab, asked.multiplier)
    if not alike:
        tokens = round(tokens * meant.multiplier / asked.multiplier)
    thinks = any(message.has_thinking for message in history.messages)
    exact = alike and (ask.counts_thinking or not thinks)
    return ExactCount(tokens, exact, ask.by, failures)


def _fields(history: History) -> Mapping[str, bytes]:
    body = dialect_named(history.dialect).write(history)
    return fields_of(body) if history.form == "body" else {history.key: body}


def _body(fields: Mapping[str, bytes], names: tuple[str, ...], **more: bytes) -> bytes:
    """The fields that the endpoint knows; it refuses a request that has others."""
    return json_object({name: fields[name] for name in names if name in fields} | more)


_MESSAGES = ("messages", "system", "tools")
_COUNTED_MESSAGES = (
    *(*_MESSAGES, "tool_choice", "thinking", "cache_control"),
    *("output_config", "mcp_servers", "context_management"),
)
_INPUT = ("input", "instructions", "tools", "previous_response_id", "conversation")
_COUNTED_INPUT = (*_INPUT, "tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation")
_CONTENTS = (
    *("contents", "systemInstruction", "system_instruction", "tools", "toolConfig"),
    *("tool_config", "cachedContent", "cached_content"),
)


def _count_messages(fields: Mapping[str, bytes], model: str, platform: Platform) -> Ask:
    path = "/v1/messages/count_tokens"
    body = _body(fields, _COUNTED_MESSAGES, model=json_text(model))
    return Ask(path, body, f"count_tokens of {model}", model, field="input_tokens")


def _count_input(fields: Mapping[str, bytes], model: str, platform: Platform) -> Ask:
    path = "/v1/responses/input_tokens"
    body = _body(fields, _COUNTED_INPUT, model=json_text(model))
    return Ask(path, body, f"input_tokens of {model}", model, field="input_tokens")


def _count_contents(fields: Mapping[str, bytes], model: str, platform: Platform) -> Ask:
    name = model.removeprefix("models/")
    body = _body(fields, _CONTENTS)
    if platform == "first-party":
        request = _body(fields, _CONTENTS, model=json_text(f"models/{name}"))
        body = json_object({"generateContentRequest": request})
    path = f"/v1beta/models/{name}:countTokens"
    return Ask(path, body, f"countTokens of {model}", model, field="totalTokens")


def _call_messages(fields: Mapping[str, bytes], small: str) -> Ask:
    body = _body(fields, _MESSAGES, model=json_text(small), max_tokens=b"1")
    by = f"a call for one token on {small}"
    # Thinking is not switched on for it, and the provider then leaves old thinking out.
    return Ask("/v1/messages", body, by, small, counts_thinking=False)


def _call_chat(fields: Mapping[str, bytes], small: str) -> Ask:
    names = ("messages", "tools")
    body = _body(fields, names, model=json_text(small), max_completion_tokens=b"1")
    return Ask("/v1/chat/completions", body, f"a call for one token on {small}", small)


def _call_input(fields: Mapping[str, bytes], small: str) -> Ask:
    # The API takes no smaller limit than 16.
    more = {"max_output_tokens": b"16", "store": b"false"}
    body = _body(fields, _INPUT, model=json_text(small), **more)
    by = f"a call for few tokens on {small}"
    return Ask("/v1/responses", body, by, small, counts_thinking=False)


def _call_contents(fields: Mapping[str, bytes], small: str) -> Ask:
    body = _body(fields, _CONTENTS, generationConfig=b'{"maxOutputTokens":1}')
    path = f"/v1beta/models/{small}:generateContent"
    return Ask(path, body, f"a call for one token on {small}", small)


_ENDPOINTS: Mapping[str, Callable[[Mapping[str, bytes], str, Platform], Ask]] = MappingProxyType(
    {
        "anthropic": _count_messages,
        "openai-responses": _count_input,
        "gemini": _count_contents,
    }
)
"""Chat Completions has none."""

_CALLS = MappingProxyType(
    {
        "anthropic": _call_messages,
        "openai-chat": _call_chat,
        "openai-responses": _call_input,
        "gemini": _call_contents,
    }
)
