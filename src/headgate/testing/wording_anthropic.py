"""What Anthropic's Messages API says for each broken rule, as it was seen in the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from headgate.check import Violation
from headgate.testing.refused import Refused, dotted, object_at, value_at

UNANSWERED = (
    "messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
    "{ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
    "message."
)
UNEXPECTED = (
    "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` "
    "block must have a corresponding `tool_use` block in the previous message."
)
UNEXPECTED_SERVER = (
    "{path}: unexpected `tool_use_id` found in `{type}` blocks: {id}. Each `{type}` block must "
    "have a corresponding `server_tool_use` block before it."
)
WITHOUT_THINKING = (
    "{path}.type: Expected `thinking` or `redacted_thinking`, but found `{type}`. When `thinking` "
    "is enabled, a final `assistant` message must start with a thinking block (preceeding the "
    "lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking "
    "blocks from previous turns. To avoid this requirement, disable `thinking`."
)
LONGER_AFTER_SHORTER = (
    "{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
    "cache_control block. Note that blocks are processed in the following order: `tools`, "
    "`system`, `messages`."
)
NO_PREFILL = (
    "This model does not support assistant message prefill. The conversation must end with a "
    "user message."
)
NO_TOOLS = "Requests which include `tool_use` or `tool_result` blocks must define tools"
EMPTY_MESSAGE = (
    "{path}: all messages must have non-empty content except for the optional final assistant "
    "message"
)


def refusal(violations: Sequence[Violation], body: Mapping[str, object]) -> Refused:
    """The one error the provider answers with: it stops at the first rule that is broken."""
    first = violations[0]
    if first.rule in ("A2", "A5", "A6"):
        return Refused(400, _unanswered(first, violations, body))
    if first.rule == "A22" and first.where == "body":
        return Refused(413, "Request exceeds the maximum size", code="request_too_large")
    say = _SAYINGS.get(first.rule)
    message = say(first, body) if say else f"{dotted(first.where)}: {first.found}"
    code = None
    if first.rule == "A18":
        is_second = "second" in first.found
        code = "compaction_block_ambiguous" if is_second else "compaction_block_misplaced"
    return Refused(400, message, code=code)


def _unanswered(first: Violation, found: Sequence[Violation], body: Mapping[str, object]) -> str:
    """A call is looked for in the message after it, and that message is the one complained of."""
    place = _place(first.where)
    messages = value_at(body, "messages")
    block = object_at(body, first.where)
    if first.rule == "A2":
        together = [v for v in found if v.rule == "A2" and _place(v.where) == place]
        ids = [str(object_at(body, v.where).get("id")) for v in together]
        return UNANSWERED.format(place=place + 1, ids=", ".join(ids))
    if block.get("type") == "tool_result":
        return UNANSWERED.format(place=place, ids=block.get("tool_use_id"))
    content = messages[place].get("content") if isinstance(messages, list) else None
    blocks = content if isinstance(content, list) else []
    calls = [str(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
    return UNANSWERED.format(place=place + 1, ids=", ".join(calls))


def _place(where: str) -> int:
    found = re.search(r"\[(\d+)\]", where)
    return int(found[1]) if found else 0


def _unexpected(violation: Violation, body: Mapping[str, object]) -> str:
    id_ = object_at(body, violation.where).get("tool_use_id")
    return UNEXPECTED.format(path=dotted(violation.where), id=id_)


def _not_unique(violation: Violation, body: Mapping[str, object]) -> str:
    block = object_at(body, violation.where)
    path = dotted(violation.where)
    if block.get("type") == "tool_result":
        return (
            f"{path}: each tool_use must have a single result. Found multiple `tool_result` "
            f"blocks with id: {block.get('tool_use_id')}"
        )
    return f"{path}: `tool_use` ids must be unique"


def _bad_call(violation: Violation, body: Mapping[str, object]) -> str:
    block = object_at(body, violation.where)
    path = f"{dotted(violation.where)}.tool_use"
    if not isinstance(block.get("input"), dict):
        return f"{path}.input: Input should be a valid dictionary"
    id_ = block.get("id")
    if not isinstance(id_, str) or not re.fullmatch(r"[a-zA-Z0-9_-]+", id_):
        return f"{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"


def _blank(violation: Violation, body: Mapping[str, object]) -> str:
    value = value_at(body, violation.where)
    text = value.get("text") if isinstance(value, Mapping) and "type" in value else value
    if isinstance(text, str) and text.strip():
        return "messages: final assistant content cannot end with trailing whitespace"
    if isinstance(text, str) and text:
        return "messages: text content blocks must contain non-whitespace text"
    if isinstance(text, str):
        return "messages: text content blocks must be non-empty"
    return EMPTY_MESSAGE.format(path=dotted(violation.where))


def _thinking(violation: Violation, body: Mapping[str, object]) -> str:
    block = object_at(body, violation.where)
    path = dotted(violation.where)
    if block.get("type") not in ("thinking", "redacted_thinking"):
        return WITHOUT_THINKING.format(path=path, type=block.get("type"))
    if value_at(body, "thinking.type") == "disabled":
        return (
            "When thinking is disabled, an `assistant` message in the final position cannot "
            "contain `thinking`."
        )
    missing = next((k for k in ("thinking", "signature", "data") if k not in block), "signature")
    return f"{path}.{block['type']}.{missing}: Field required"


def _server(violation: Violation, body: Mapping[str, object]) -> str:
    block = object_at(body, violation.where)
    path = dotted(violation.where)
    kind = block.get("type")
    if isinstance(kind, str) and kind.endswith("_result"):
        return UNEXPECTED_SERVER.format(path=path, type=kind, id=block.get("tool_use_id"))
    name = block.get("name")
    if name is None:
        return f"{path}: {violation.found}"
    return (
        f"messages.{_place(violation.where)}: `{name}` tool use with id `{block.get('id')}` was "
        f"found without a corresponding `{name}_tool_result` block"
    )


def _marks(violation: Violation, body: Mapping[str, object]) -> str:
    block = object_at(body, violation.where)
    path = dotted(violation.where)
    if block.get("type") in ("thinking", "redacted_thinking"):
        return f"{path}.{block['type']}.cache_control: Extra inputs are not permitted"
    if block.get("type") == "text" and not block.get("text"):
        return f"{path}: cache_control cannot be set for empty text blocks"
    count = re.match(r"(\d+) blocks", violation.found)
    if count:
        return f"A maximum of 4 blocks with cache_control may be provided. Found {count[1]}."
    if value_at(block, "cache_control.ttl") == "1h":
        return LONGER_AFTER_SHORTER.format(path=path)
    return f"{path}.cache_control: Input should be ephemeral with a ttl of '5m' or '1h'"


def _tools(violation: Violation, body: Mapping[str, object]) -> str:
    return NO_TOOLS if violation.where == "tools" else "tools: Tool names must be unique."


def _shape(violation: Violation, body: Mapping[str, object]) -> str:
    if violation.where == "messages":
        return "messages: at least one message is required"
    role = object_at(body, violation.where).get("role")
    if role == "system":
        return (
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
            'parameter, not "system" as an input message role.'
        )
    return f"{dotted(violation.where)}: {violation.found}"


_SAYINGS: Mapping[str, Callable[[Violation, Mapping[str, object]], str]] = MappingProxyType(
    {
        "A1": _shape,
        "A3": _unexpected,
        "A4": _not_unique,
        "A7": _bad_call,
        "A8": _blank,
        "A11": _thinking,
        "A13": _server,
        "A14": _server,
        "A17": _marks,
        "A19": _tools,
        "A20": lambda violation, body: NO_PREFILL,
        "A22": lambda violation, body: (
            "The request body is not valid JSON: no low surrogate in string: line 1 column 1"
        ),
    }
)
