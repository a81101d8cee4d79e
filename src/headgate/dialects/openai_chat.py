"""OpenAI Chat Completions: calls inside of assistant messages, results as messages of their own."""

from __future__ import annotations

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
    error_text,
    list_of,
    read_history,
    said_instead,
    write_history,
)
from headgate.types import NOTHING as NO_ARGUMENTS
from headgate.types import ToolResult

name = "openai-chat"

rules = Rules(placing="directly", steps_are_runs=False, id_chars=40)

prefix_settings = ("tools",)

LAYOUT = Layout(name, "messages", settings=("model", "tools"))

ROLES = {"developer": "system"}

KINDS: dict[str, PartKind] = {
    "text": "text",
    "image_url": "media",
    "input_audio": "media",
    "file": "media",
}

MEDIA = {"image_url": "image", "file": "document"}


class _Message(msgspec.Struct):
    role: str = ""
    content: msgspec.Raw = NOTHING
    tool_calls: msgspec.Raw = NOTHING
    tool_call_id: msgspec.Raw = NOTHING
    name: msgspec.Raw = NOTHING
    id: msgspec.Raw = NOTHING


class _Part(msgspec.Struct):
    type: str = ""
    text: msgspec.Raw = NOTHING


class _Call(msgspec.Struct):
    type: str = ""
    id: msgspec.Raw = NOTHING
    function: msgspec.Raw = NOTHING
    custom: msgspec.Raw = NOTHING


class _Said(msgspec.Struct):
    name: msgspec.Raw = NOTHING
    arguments: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING


_MESSAGE = msgspec.json.Decoder(_Message)
_PART = msgspec.json.Decoder(_Part)
_CALL = msgspec.json.Decoder(_Call)
_SAID = msgspec.json.Decoder(_Said)


def read(body: bytes, reader: MessageReader | None = None, head: Head | None = None) -> History:
    """Take a request body or a bare array apart."""
    return read_history(body, LAYOUT, reader or message, head)


def write(history: History) -> bytes:
    """Put it together again; the very same bytes if nothing was changed."""
    return write_history(history)


def message(raw: bytes, at: int = NEW) -> Message:
    """Read one message; a tool message is one result."""
    fields, is_odd = pick(_MESSAGE, raw)
    if not fields.role:
        raise Misfit(".role", "a role", "nothing")
    content = fields.content
    if first_of(content) not in (b'"', b"[", b"n", b""):
        raise Misfit(".content", "a list or a string", found_in(bytes(content)))
    role = ROLES.get(fields.role, fields.role)
    message_id = text_in(fields.id, ".id") if len(fields.id) else ""
    if role == "tool":
        call_id = text_in(fields.tool_call_id, ".tool_call_id")
        tool = text_in(fields.name, ".name")
        result_ = Part("result", raw, "tool", call_id, tool, content)
        return Message(role, raw, (result_,), message_id, "", is_odd, at)
    parts = _content_parts(content)
    calls = fields.tool_calls
    if first_of(calls) not in (b"", b"n"):
        parts += [
            _call_at(item, place) for place, item in enumerate(items_of(calls, ".tool_calls"))
        ]
    return Message(role, raw, tuple(parts), message_id, "", is_odd, at)


def _content_parts(content: msgspec.Raw) -> list[Part]:
    start = first_of(content)
    if start == b'"':
        return [Part("text", content, value_view=content, at=0)]
    if start != b"[":
        return []
    return [_part_at(item, place) for place, item in enumerate(items_of(content))]


def _part_at(raw: msgspec.Raw, at: int) -> Part:
    try:
        fields, _ = pick(_PART, raw)
    except Misfit as misfit:
        raise misfit.under(f".content[{at}]") from None
    kind = KINDS.get(fields.type, "other")
    return Part(kind, raw, fields.type, value_view=fields.text, at=at)


def _call_at(item: msgspec.Raw, at: int) -> Part:
    try:
        return call_of(item, at)
    except Misfit as misfit:
        raise misfit.under(f".tool_calls[{at}]") from None


def call_of(raw: Slice, at: int = NEW) -> Part:
    """Read one call."""
    fields, _ = pick(_CALL, raw)
    is_custom = fields.type == "custom"
    said, _ = pick(_SAID, (fields.custom if is_custom else fields.function) or b"{}")
    value = said.input if is_custom else said.arguments
    call_id, tool = text_in(fields.id, ".id"), text_in(said.name, ".name")
    return Part("call", raw, "custom" if is_custom else "function", call_id, tool, value, at=at)


def with_parts(old: Message, parts: Sequence[Part]) -> Message:
    """The message with other parts; without any content it says null beside calls, else nothing."""
    if old.role == "tool":
        [only] = parts
        return message(only.raw, old.at)
    said = [part for part in parts if part.kind != "call"]
    calls = [part for part in parts if part.kind == "call"]
    changes: dict[str, bytes | None] = {}
    if calls != old.of_kind("call"):
        held = fields_of(old.raw).get("tool_calls", b"")
        changes["tool_calls"] = list_of(held, calls) if calls else None
    if said != [part for part in old.parts if part.kind != "call"]:
        changes["content"] = _content_of(old, said) or (b"null" if calls else b'""')
    return message(replaced_fields(old.raw, changes), old.at)


def _content_of(old: Message, said: Sequence[Part]) -> bytes:
    if not said:
        return b""
    held = fields_of(old.raw).get("content", b"")
    return list_of(held, [_as_block(part) for part in said])


def _as_block(given: Part) -> Part:
    return given if given.wire or given.kind != "text" else user_text_block(given.raw)


def user_text_block(text: bytes) -> Part:
    """A text part that says what the JSON string `text` says."""
    raw = json_object({"type": b'"text"', "text": text})
    return Part("text", raw, "text", value_view=text)


def carrying(parts: Sequence[Part]) -> list[Message]:
    """A tool message for each result; what is no result goes into one user message."""
    results = [message(part.raw) for part in parts if part.kind == "result"]
    others = [_as_block(part).raw for part in parts if part.kind != "result"]
    if not others:
        return results
    # One text goes as a string: servers that only speak this dialect often take nothing else.
    is_text = len(parts) == 1 and parts[0].kind == "text"
    content = parts[0].value if is_text else json_list(others)
    return [*results, message(json_object({"role": b'"user"', "content": content}))]


def result(call: Part, text: str, *, is_error: bool) -> Part:
    """A new tool message; an error is told in its text, the dialect has no flag for it."""
    said = error_text(text) if is_error else text
    fields = {
        "role": b'"tool"',
        "tool_call_id": json_text(call.call_id),
        "content": json_text(said),
    }
    return message(json_object(fields)).parts[0]


def user_text(text: str) -> Part:
    """A new text of the user's."""
    return user_text_block(json_text(text))


def with_text(given: Part, text: str) -> Part:
    """A result that says something else; its other fields stay."""
    content = said_instead(given.value, text, "text")
    return message(replaced_fields(given.raw, {"content": content})).parts[0]


def with_id(given: Part, call_id: str) -> Part:
    """A call or a result under another id."""
    if given.kind == "call":
        return call_of(replaced_fields(given.raw, {"id": json_text(call_id)}), given.at)
    return message(replaced_fields(given.raw, {"tool_call_id": json_text(call_id)})).parts[0]


def answering(given: Part, call: Part) -> Part:
    """The result under the id of its call."""
    return given if given.call_id == call.call_id else with_id(given, call.call_id)


def tool_result(given: Part, call: Part | None) -> ToolResult:
    """A result as the gate takes it."""
    return ToolResult(
        given.call_id,
        call.name if call else given.name,
        blocks_in(given.value, ("text",), MEDIA),
        arguments=arguments_in(call.value) if call else NO_ARGUMENTS,
    )
