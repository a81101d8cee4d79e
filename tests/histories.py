"""Small conversations in every dialect, for tests: the same story, told in four wire formats."""

import json
from collections.abc import Sequence

DIALECTS = ("anthropic", "openai-chat", "openai-responses", "gemini")
KEYS = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}


def user(dialect: str, text: str) -> list[dict]:
    if dialect == "gemini":
        return [{"role": "user", "parts": [{"text": text}]}]
    return [{"role": "user", "content": text}]


def calls(dialect: str, *asked: tuple[str, str, dict]) -> list[dict]:
    """One assistant message that calls tools: (id, tool, arguments) each."""
    if dialect == "anthropic":
        blocks = [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in asked]
        return [{"role": "assistant", "content": blocks}]
    if dialect == "openai-chat":
        made = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in asked
        ]
        return [{"role": "assistant", "content": None, "tool_calls": made}]
    if dialect == "openai-responses":
        return [
            {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)}
            for i, n, a in asked
        ]
    parts = [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in asked]
    return [{"role": "model", "parts": parts}]


def results(dialect: str, *given: tuple[str, str, str]) -> list[dict]:
    """The results of one assistant message: (id, tool, text) each."""
    if dialect == "anthropic":
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": t} for i, _, t in given]
        return [{"role": "user", "content": blocks}]
    if dialect == "openai-chat":
        return [{"role": "tool", "tool_call_id": i, "content": t} for i, _, t in given]
    if dialect == "openai-responses":
        return [{"type": "function_call_output", "call_id": i, "output": t} for i, _, t in given]
    parts = [
        {"functionResponse": {"id": i, "name": n, "response": {"result": t}}} for i, n, t in given
    ]
    return [{"role": "user", "parts": parts}]


def said(dialect: str, text: str) -> list[dict]:
    if dialect == "gemini":
        return [{"role": "model", "parts": [{"text": text}]}]
    return [{"role": "assistant", "content": text}]


def body(dialect: str, messages: Sequence[dict], **more: object) -> bytes:
    """A request body with these messages."""
    return json.dumps({**more, KEYS[dialect]: list(messages)}, ensure_ascii=False).encode()


def round_of(dialect: str, number: int, *texts: str, tool: str = "grep") -> list[dict]:
    """A step of the model: it calls tools in parallel, and these are their results."""
    names = [f"call_{number}_{i}" for i in range(len(texts))]
    asked = [(name, tool, {"pattern": f"p{number}-{i}"}) for i, name in enumerate(names)]
    given = [(name, tool, text) for name, text in zip(names, texts, strict=True)]
    return calls(dialect, *asked) + results(dialect, *given)
