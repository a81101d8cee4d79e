"""Anthropic Messages: blocks in messages, results as blocks of the next user message."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from headgate.dialects.dialect import MessageReader, Rules
from headgate.dialects.heads import Head
from headgate.dialects.history import NEW, History, Message, Part, PartKind, Slice
from headgate.dialects.spans import (
    NOTHING,
    Misfit,
    fields_of,
    first_of,
    found_in,
    items_of,
    json_list,
    json_object,
    json_text,
    pick,
    replaced_fields,
    text_in,
)
from headgate.dialects.wire import (
    Layout,
    arguments_in,
    blocks_in,
    read_history,
    said_instead,
    with_items,
    write_history,
)
from headgate.types import NOTHING as NO_ARGUMENTS
from headgate.types import ToolResult

name = "anthropic"

rules = Rules(
    placing="next",
    results_first=True,
    unique_ids=True,
    id_illegal=re.compile(r"[^a-zA-Z0-9_-]"),
    fills_messages=True,
    may_end_empty=True,
    rewrites_held=False,
)

prefix_settings = ("tools", "system")

LAYOUT = Layout(
    name,
    "messages",
    settings=("model", "system", "tools", "thinking", "cache_control", "thread"),
    held_by=("thread",),
)

KINDS: dict[str, PartKind] = {
    "text": "text",
    "tool_use": "call",
    "tool_result": "result",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "image": "media",
    "document": "media",
    "server_tool_use": "server_call",
    "mcp_tool_use": "server_call",
}

MEDIA = {"image": "image", "document": "document"}


class _Message(msgspec.Struct):
    role: str = ""
    content: msgspec.Raw = NOTHING
    id: msgspec.Raw = NOTHING


class _ListedMessage(msgspec.Struct):
    """A message as nearly all are: its content is a list, whose items are found on the way."""

    content: list[msgspec.Raw]
    role: str = ""
    id: msgspec.Raw = NOTHING


class _Block(msgspec.Struct):
    type: str = ""
    id: msgspec.Raw = NOTHING
    name: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    tool_use_id: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING
    is_error: msgspec.Raw = NOTHING
    text: msgspec.Raw = NOTHING
    cache_control: msgspec.Raw = NOTHING


_LISTED = msgspec.json.Decoder(_ListedMessage)
_MESSAGE = msgspec.json.Decoder(_Message)
_BLOCK = msgspec.json.Decoder(_Block)


def read(body: bytes, reader: MessageReader | None = None, head: Head | None = None) -> History:
    """Take a request body or a bare array apart."""
    return read_history(body, LAYOUT, reader or message, head)


def write(history: History) -> bytes:
    """Put it together again; the very same bytes if nothing was changed."""
    return write_history(history)


def message(raw: bytes, at: int = NEW) -> Message:
    """Read one message."""
    try:
        listed, is_odd = _LISTED.decode(raw), False
        role, id_, parts = listed.role, listed.id, _blocks(listed.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Content that is no list, or something that strict JSON refuses.
        fields, is_odd = pick(_MESSAGE, raw)
        role, id_, parts = fields.role, fields.id, _parts(fields.content)
    if not role:
        raise Misfit(".role", "a role", "nothing")
    message_id = text_in(id_, ".id") if len(id_) else ""
    return Message(role, raw, tuple(parts), message_id, "", is_odd, at)


def _parts(content: msgspec.Raw) -> list[Part]:
    start = first_of(content)
    if start == b"[":
        return _blocks(items_of(content))
    if start == b'"':
        return [Part("text", content, value_view=content, at=0)] if len(content) > 2 else []
    if start in (b"", b"n"):
        return []
    raise Misfit(".content", "a list or a string", found_in(bytes(content)))


def _blocks(items: Sequence[msgspec.Raw]) -> list[Part]:
    return [_part_at(item, place) for place, item in enumerate(items)]


def _part_at(raw: Slice, at: int) -> Part:
    try:
        return part(raw, at)
    except Misfit as misfit:
        raise misfit.under(f".content[{at}]") from None


def part(raw: Slice, at: int = NEW) -> Part:
    """Read one block."""
    block, _ = pick(_BLOCK, raw)
    wire = block.type
    kind = KINDS.get(wire)
    marked = len(block.cache_control) > 0
    if kind == "result":
        content = block.content
        if first_of(content) not in (b'"', b"[", b"n", b""):
            raise Misfit(".content", "a list or a string", found_in(bytes(content)))
        call_id = text_in(block.tool_use_id, ".tool_use_id")
        is_error = bytes(block.is_error) == b"true"
        return Part("result", raw, wire, call_id, "", content, is_error, marked, at)
    if kind == "call":
        call_id, tool = text_in(block.id, ".id"), text_in(block.name, ".name")
        return Part("call", raw, wire, call_id, tool, block.input, False, marked, at)
    if kind == "text":
        return Part("text", raw, wire, value_view=block.text, is_marked=marked, at=at)
    if kind == "server_call":
        call_id = text_in(block.id, ".id")
        return Part(kind, raw, wire, call_id, is_marked=marked, at=at)
    if wire.endswith("_tool_result"):
        call_id = text_in(block.tool_use_id, ".tool_use_id")
        return Part("server_result", raw, wire, call_id, is_marked=marked, at=at)
    return Part(kind or "other", raw, wire, is_marked=marked, at=at)


def with_parts(old: Message, parts: Sequence[Part]) -> Message:
    """The message with other parts; a content that was a plain string becomes a list of blocks."""
    raw = with_items(old.raw, "content", [_as_block(given) for given in parts])
    return message(raw, old.at)


def _as_block(given: Part) -> Part:
    if given.wire or given.kind != "text":
        return given
    return msgspec.structs.replace(given, raw_view=_text_block(given.raw), wire="text")


def _text_block(text: bytes) -> bytes:
    return json_object({"type": b'"text"', "text": text})


def carrying(parts: Sequence[Part]) -> list[Message]:
    """One user message that holds these blocks."""
    content = json_list(_as_block(given).raw for given in parts)
    return [message(json_object({"role": b'"user"', "content": content}))]


def result(call: Part, text: str, *, is_error: bool) -> Part:
    """A new result; it repeats the toolset of its call, which the provider compares."""
    fields = {"type": b'"tool_result"', "tool_use_id": json_text(call.call_id)}
    toolset = fields_of(call.raw).get("toolset_name")
    if toolset is not None:
        fields["toolset_name"] = toolset
    fields["content"] = json_text(text)
    if is_error:
        fields["is_error"] = b"true"
    return part(json_object(fields))


def user_text(text: str) -> Part:
    """A new text of the user's."""
    return part(_text_block(json_text(text)))


def with_text(given: Part, text: str) -> Part:
    """A result that says something else; images, flags and cache marks stay."""
    content = said_instead(given.value, text, "text")
    return part(replaced_fields(given.raw, {"content": content}), given.at)


def with_id(given: Part, call_id: str) -> Part:
    """A call or a result under another id."""
    field = "tool_use_id" if given.kind == "result" else "id"
    return part(replaced_fields(given.raw, {field: json_text(call_id)}), given.at)


def answering(given: Part, call: Part) -> Part:
    """The result under the id and the toolset of its call."""
    changes = {} if given.call_id == call.call_id else {"tool_use_id": json_text(call.call_id)}
    if b"toolset_name" in call.raw:
        toolset = fields_of(call.raw).get("toolset_name")
        if toolset is not None and fields_of(given.raw).get("toolset_name") != toolset:
            changes["toolset_name"] = toolset
    return part(replaced_fields(given.raw, changes), given.at) if changes else given


def tool_result(given: Part, call: Part | None) -> ToolResult:
    """A result as the gate takes it."""
    return ToolResult(
        given.call_id,
        call.name if call else "",
        blocks_in(given.value, ("text",), MEDIA),
        given.is_error,
        arguments_in(call.value) if call else NO_ARGUMENTS,
    )
