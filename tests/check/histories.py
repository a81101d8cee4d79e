"""Short ways to write the pieces of histories that the tests of the validators are made of."""

import json
from typing import Any

from headgate.check import check


def found(history: object, dialect: str, **how: Any) -> list[tuple[str, str]]:
    """Rule and place of everything the validator says."""
    body = json.dumps(history).encode()
    return [(violation.rule, violation.where) for violation in check(body, dialect, **how)]


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if _is_text(content) else list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content[0] if _is_text(content) else list(content)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def tool_use(id_: str, name: str = "ls", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": {}, **more}


def tool_result(id_: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def thinking(signature: str = "EqQBCg==", **more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "hm", "signature": signature, **more}


def chat_call(id_: str, name: str = "ls", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_calls(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [chat_call(id_) for id_ in ids]}


def tool(id_: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def function_call(call_id: str, **more: Any) -> dict[str, Any]:
    item = {"type": "function_call", "call_id": call_id, "name": "ls", "arguments": "{}"}
    return {**item, **more}


def function_call_output(call_id: str, output: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output, **more}


def said(role: str, part: str = "input_text") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": part, "text": "hi"}]}


def turn(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def gemini_call(name: str, **more: Any) -> dict[str, Any]:
    signature = {"thoughtSignature": more.pop("signature")} if "signature" in more else {}
    return {"functionCall": {"name": name, "args": {}, **more}, **signature}


def gemini_result(name: str, response: Any = None, **more: Any) -> dict[str, Any]:
    answer = {"output": "ok"} if response is None else response
    return {"functionResponse": {"name": name, "response": answer, **more}}


def _is_text(content: tuple[Any, ...]) -> bool:
    return len(content) == 1 and isinstance(content[0], str)


ASKED = user("list the files")
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
