"""Real conversations as the requests that were made of them, in the dialect they were sent in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DATA = Path("../shared/data")
FILE = Path("A_conversations") / "conversations.jsonl.gz"

DIALECTS = {
    "anthropic": "anthropic",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "gemini": "gemini",
}
RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")

Message = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages that grew request by request."""

    name: str
    dialect: str
    model: str
    messages: tuple[Message, ...]
    encoded: tuple[bytes, ...]
    """Each message as a client writes it, the same in every request."""

    @property
    def requests(self) -> list[int]:
        """How many messages each request had: those before the model spoke, and in the end all."""
        spoke = [is_models(message) for message in self.messages]
        starts = [i for i in range(1, len(spoke)) if spoke[i] and not spoke[i - 1]]
        return starts if spoke[-1:] == [True] else [*starts, len(spoke)]

    def body(self, count: int) -> bytes:
        """The request with the first `count` messages."""
        return b"[%b]" % b",".join(self.encoded[:count])


def conversations(data: Path) -> Iterator[Conversation]:
    """All of them, and every sixth once more as Gemini, of which there are none."""
    with gzip.open(data / FILE, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            one = json.loads(line)
            dialect, model = DIALECTS[one["format"]], str(one["meta"].get("model") or "")
            yield conversation(one["id"], dialect, model, one["messages"])
            if number % 6 == 0 and dialect != "openai-responses" and not one["wire_errors"]:
                contents = as_gemini(one["messages"], with_ids=number % 12 == 0)
                yield conversation(f"{one['id']}, as gemini", "gemini", "gemini-3-pro", contents)


def conversation(name: str, dialect: str, model: str, messages: Sequence[Message]) -> Conversation:
    """Encode every message once."""
    encoded = tuple(json.dumps(m, ensure_ascii=False).encode("utf-8", "replace") for m in messages)
    return Conversation(name, dialect, model, tuple(messages), encoded)


def is_models(message: Message) -> bool:
    """Whether the model said it; items of a response have no role."""
    role = message.get("role")
    if role is not None:
        return role in ("assistant", "model")
    return message.get("type") not in RESULTS


def sampled(requests: Sequence[int], most: int) -> list[int]:
    """At most `most` of the requests, evenly spread, always with the last."""
    if len(requests) <= most:
        return list(requests)
    step = (len(requests) - 1) / (most - 1)
    return [requests[round(i * step)] for i in range(most)]


def as_gemini(messages: Sequence[Message], *, with_ids: bool) -> list[Message]:
    """Tell a conversation in Gemini's words: turns alternate, results name their calls."""
    turns: list[tuple[str, list[Message]]] = []
    names: dict[str, str] = {}
    for message in messages:
        role = "model" if message["role"] == "assistant" else "user"
        parts = [*_parts(message, names, with_ids=with_ids)]
        if not parts or message["role"] == "system":
            continue
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(parts)
        else:
            turns.append((role, parts))
    return [{"role": role, "parts": parts} for role, parts in turns]


def _parts(message: Message, names: dict[str, str], *, with_ids: bool) -> Iterator[Message]:
    content = message.get("content")
    if message["role"] == "tool":
        yield _answered(str(message["tool_call_id"]), content, names, with_ids=with_ids)
        return
    if isinstance(content, str) and content.strip():
        yield {"text": content}
    for block in content if isinstance(content, list) else []:
        if block["type"] == "text" and block["text"].strip():
            yield {"text": block["text"]}
        elif block["type"] == "tool_use":
            yield _called(block["id"], block["name"], block["input"], names, with_ids=with_ids)
        elif block["type"] == "tool_result":
            said = block.get("content")
            yield _answered(block["tool_use_id"], said, names, with_ids=with_ids)
    for call in message.get("tool_calls") or []:
        arguments = json.loads(call["function"]["arguments"] or "{}")
        name = call["function"]["name"]
        yield _called(call["id"], name, arguments, names, with_ids=with_ids)


def _called(
    id_: str, name: str, arguments: object, names: dict[str, str], *, with_ids: bool
) -> Message:
    names[id_] = name
    call = {"name": name, "args": arguments if isinstance(arguments, dict) else {}}
    return {"functionCall": {"id": id_, **call} if with_ids else call}


def _answered(id_: str, content: object, names: Mapping[str, str], *, with_ids: bool) -> Message:
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    text = "\n".join(str(block["text"]) for block in blocks if block["type"] == "text")
    response = {"name": names[id_], "response": {"result": text}}
    return {"functionResponse": {"id": id_, **response} if with_ids else response}
