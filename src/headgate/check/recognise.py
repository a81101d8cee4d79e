"""Which dialect a history is written in, by what only that dialect has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from headgate.check.openai_responses import CALL_OF, RESULT_OF

ANTHROPIC_FIELDS = frozenset({"system", "anthropic_version", "mcp_servers", "stop_sequences"})
CHAT_FIELDS = frozenset(
    {
        *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "n", "stop"),
        *("parallel_tool_calls", "presence_penalty", "reasoning_effort", "response_format"),
        *("seed", "stream_options", "functions"),
    }
)
ANTHROPIC_BLOCKS = frozenset(
    {
        *("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"),
        *("mcp_tool_use", "document", "image", "search_result", "container_upload", "compaction"),
    }
)
CHAT_PARTS = frozenset({"image_url", "input_audio", "file", "refusal"})
CHAT_ROLES = ("tool", "function", "developer")
CHAT_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call", "reasoning_content"})
RESPONSES_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text"})
RESPONSES_ITEMS = (*RESULT_OF, *CALL_OF, "message", "reasoning", "item_reference", "compaction")


def recognise(value: object) -> list[str]:
    """The dialects that a parsed body or bare array may be written in; the sure one alone.

    A list of plain messages fits `anthropic` and `openai-chat` alike: both are given. A bare list
    is taken for `openai-responses` only where an item says so. Nothing: this is no history.
    """
    if isinstance(value, list):
        return _of_array(value)
    if not isinstance(value, dict):
        return []
    found = [
        *(["openai-responses"] if isinstance(value.get("input"), str | list) else []),
        *(["gemini"] if isinstance(value.get("contents"), list) else []),
    ]
    messages = value.get("messages")
    if isinstance(messages, list):
        signs = {*_signs_of_fields(value), *_signs_of_messages(messages)}
        found += _sure_or_both(signs or {*_signs_of_model(value)})
    return found


def _of_array(items: Sequence[object]) -> list[str]:
    objects = [item for item in items if isinstance(item, dict)]
    if not objects:
        return []
    found = []
    if any(_is_responses_item(item) for item in objects):
        found.append("openai-responses")
    if any("parts" in item for item in objects):
        found.append("gemini")
    if found:
        return found
    if not any("role" in item for item in objects):
        return []
    return _sure_or_both({*_signs_of_messages(objects)})


def _sure_or_both(signs: set[str]) -> list[str]:
    both = ["anthropic", "openai-chat"]
    return [dialect for dialect in both if dialect in signs] or both


def _is_responses_item(item: Mapping[str, object]) -> bool:
    if item.get("type") in RESPONSES_ITEMS:
        return True
    return any(part.get("type") in RESPONSES_PARTS for part in _parts(item))


def _signs_of_fields(body: Mapping[str, object]) -> Iterator[str]:
    if body.keys() & ANTHROPIC_FIELDS or isinstance(body.get("thinking"), dict):
        yield "anthropic"
    if body.keys() & CHAT_FIELDS:
        yield "openai-chat"
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, dict) and "input_schema" in tool:
            yield "anthropic"
        if isinstance(tool, dict) and "function" in tool:
            yield "openai-chat"


def _signs_of_messages(messages: Sequence[object]) -> Iterator[str]:
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            continue
        role = message.get("role")
        is_first_system = role == "system" and place == 0
        says_nothing = role == "assistant" and message.get("content", "") is None
        has_key = bool(message.keys() & CHAT_KEYS)
        if role in CHAT_ROLES or is_first_system or says_nothing or has_key:
            yield "openai-chat"
        for part in _parts(message):
            if part.get("type") in ANTHROPIC_BLOCKS:
                yield "anthropic"
            if part.get("type") in CHAT_PARTS:
                yield "openai-chat"


def _signs_of_model(body: Mapping[str, object]) -> Iterator[str]:
    model = body.get("model")
    if isinstance(model, str) and model.startswith("claude"):
        yield "anthropic"
    elif isinstance(model, str) and model:
        yield "openai-chat"


def _parts(item: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    content = item.get("content")
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and isinstance(part.get("type"), str):
            yield part
