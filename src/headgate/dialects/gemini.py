"""Gemini `contents`: parts in turns, results as parts of the next user turn, in call order.

Field names are read in both spellings, `functionCall` and `function_call`, as the provider does.
"""

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
    items_of,
    json_list,
    json_object,
    json_text,
    pick,
    replaced_fields,
    text_in,
    text_of,
)
from headgate.dialects.wire import Layout, arguments_in, read_history, with_items, write_history
from headgate.slices import NotJson
from headgate.types import NOTHING as NO_ARGUMENTS
from headgate.types import Block, Json, Media, Text, ToolResult
from headgate.values import value_of

name = "gemini"

rules = Rules(
    placing="next", in_call_order=True, needs_ids=False, fills_messages=True, alternates=True
)

prefix_settings = ("systemInstruction", "system_instruction", "tools")

LAYOUT = Layout(
    name, "contents", settings=("model", "systemInstruction", "system_instruction", "tools")
)

ROLES = {"": "user", "model": "assistant", "function": "user"}

CALL = ("functionCall", "function_call")
RESULT = ("functionResponse", "function_response")
SIGNATURE = ("thoughtSignature", "thought_signature")

TEXT_KEYS = ("result", "output", "error", "content")
"""A response that is one text under one of these keys is that text."""


class _Turn(msgspec.Struct):
    role: str = ""
    parts: msgspec.Raw = NOTHING


class _Part(
    msgspec.Struct,
    rename={
        "camel_call": "functionCall",
        "camel_result": "functionResponse",
        "camel_inline": "inlineData",
        "camel_file": "fileData",
        "camel_code": "executableCode",
        "camel_ran": "codeExecutionResult",
    },
):
    text: msgspec.Raw = NOTHING
    thought: msgspec.Raw = NOTHING
    camel_call: msgspec.Raw = NOTHING
    function_call: msgspec.Raw = NOTHING
    camel_result: msgspec.Raw = NOTHING
    function_response: msgspec.Raw = NOTHING
    camel_inline: msgspec.Raw = NOTHING
    inline_data: msgspec.Raw = NOTHING
    camel_file: msgspec.Raw = NOTHING
    file_data: msgspec.Raw = NOTHING
    camel_code: msgspec.Raw = NOTHING
    executable_code: msgspec.Raw = NOTHING
    camel_ran: msgspec.Raw = NOTHING
    code_execution_result: msgspec.Raw = NOTHING


class _Said(msgspec.Struct):
    name: msgspec.Raw = NOTHING
    id: msgspec.Raw = NOTHING
    args: msgspec.Raw = NOTHING
    response: msgspec.Raw = NOTHING


class _Response(msgspec.Struct):
    error: msgspec.Raw = NOTHING


_RESPONSE = msgspec.json.Decoder(_Response)
_TURN = msgspec.json.Decoder(_Turn)
_PART = msgspec.json.Decoder(_Part)
_SAID = msgspec.json.Decoder(_Said)


def read(body: bytes, reader: MessageReader | None = None, head: Head | None = None) -> History:
    """Take a request body or a bare array apart."""
    return read_history(body, LAYOUT, reader or message, head)


def write(history: History) -> bytes:
    """Put it together again; the very same bytes if nothing was changed."""
    return write_history(history)


def message(raw: bytes, at: int = NEW) -> Message:
    """Read one turn; without a role it is the user's."""
    fields, is_odd = pick(_TURN, raw)
    role = ROLES.get(fields.role, fields.role)
    if first_of(fields.parts) in (b"", b"n"):
        return Message(role, raw, (), is_odd=is_odd, at=at)
    read_parts = tuple(
        _part_at(item, place) for place, item in enumerate(items_of(fields.parts, ".parts"))
    )
    return Message(role, raw, read_parts, is_odd=is_odd, at=at)


def _part_at(raw: Slice, at: int) -> Part:
    try:
        return part(raw, at)
    except Misfit as misfit:
        raise misfit.under(f".parts[{at}]") from None


def part(raw: Slice, at: int = NEW) -> Part:
    """Read one part."""
    fields, _ = pick(_PART, raw)
    for call in (fields.camel_call, fields.function_call):
        if len(call):
            return _called(raw, call, at)
    for answer in (fields.camel_result, fields.function_response):
        if len(answer):
            return _answered(raw, answer, at)
    if bytes(fields.thought) == b"true":
        return Part("thinking", raw, "thought", at=at)
    if len(fields.text):
        return Part("text", raw, "text", value_view=fields.text, at=at)
    return Part(_other_kind(fields), raw, "part", at=at)


def _other_kind(fields: _Part) -> PartKind:
    if any(
        map(len, (fields.camel_inline, fields.inline_data, fields.camel_file, fields.file_data))
    ):
        return "media"
    if len(fields.camel_code) or len(fields.executable_code):
        return "server_call"
    if len(fields.camel_ran) or len(fields.code_execution_result):
        return "server_result"
    return "other"


def _called(raw: Slice, call: msgspec.Raw, at: int) -> Part:
    said = _said(call, CALL)
    call_id, tool = text_in(said.id, ".id"), text_in(said.name, ".name")
    return Part("call", raw, CALL[0], call_id, tool, said.args, at=at)


def _answered(raw: Slice, answer: msgspec.Raw, at: int) -> Part:
    said = _said(answer, RESULT)
    call_id, tool = text_in(said.id, ".id"), text_in(said.name, ".name")
    is_error = first_of(said.response) == b"{" and len(pick(_RESPONSE, said.response)[0].error) > 0
    return Part("result", raw, RESULT[0], call_id, tool, said.response, is_error, at=at)


def _said(raw: msgspec.Raw, names: tuple[str, str]) -> _Said:
    try:
        return pick(_SAID, raw)[0]
    except Misfit as misfit:
        raise misfit.under(f".{names[0]}") from None


def with_parts(old: Message, parts: Sequence[Part]) -> Message:
    """The turn with other parts."""
    return message(with_items(old.raw, "parts", parts), old.at)


def carrying(parts: Sequence[Part]) -> list[Message]:
    """One user turn that holds these parts."""
    held = json_list(part_.raw for part_ in parts)
    return [message(json_object({"role": b'"user"', "parts": held}))]


def result(call: Part, text: str, *, is_error: bool) -> Part:
    """A new result, under the name of its call and, where that has one, its id."""
    fields = {"name": json_text(call.name)}
    if call.call_id:
        fields["id"] = json_text(call.call_id)
    fields["response"] = json_object({"error" if is_error else "result": json_text(text)})
    return part(json_object({"functionResponse": json_object(fields)}))


def user_text(text: str) -> Part:
    """A new text of the user's."""
    return part(json_object({"text": json_text(text)}))


def with_text(given: Part, text: str) -> Part:
    """A result that says something else; text that is a JSON object becomes the response itself."""
    key = _text_key(given.value)
    if key is not None:
        response = replaced_fields(given.value, {key: json_text(text)})
    elif _is_object(text):
        response = text.strip().encode()
    else:
        response = json_object({"error" if given.is_error else "result": json_text(text)})
    return _with_said(given, {"response": response})


def with_id(given: Part, call_id: str) -> Part:
    """A call or a result under another id."""
    return _with_said(given, {"id": json_text(call_id)})


def answering(given: Part, call: Part) -> Part:
    """The result under the name of its call and, where that has one, its id."""
    changes: dict[str, bytes | None] = {}
    if given.name != call.name:
        changes["name"] = json_text(call.name)
    if call.call_id and given.call_id != call.call_id:
        changes["id"] = json_text(call.call_id)
    return _with_said(given, changes) if changes else given


def with_response(given: Part, response: bytes) -> Part:
    """A result whose response is another JSON object."""
    return _with_said(given, {"response": response})


def _with_said(given: Part, changes: dict[str, bytes | None]) -> Part:
    fields = fields_of(given.raw)
    names = CALL if given.kind == "call" else RESULT
    key = next(key for key in names if key in fields)
    said = replaced_fields(fields[key], changes)
    return part(replaced_fields(given.raw, {key: said}), given.at)


def _is_object(text: str) -> bool:
    try:
        return isinstance(value_of(text), dict)
    except NotJson:
        return False


def _text_key(response: bytes) -> str | None:
    """The key of a response that is nothing but one text."""
    fields = fields_of(response) if response[:1] == b"{" else {}
    if len(fields) != 1:
        return None
    [(key, value)] = fields.items()
    return key if key in TEXT_KEYS and value[:1] == b'"' else None


def tool_result(given: Part, call: Part | None) -> ToolResult:
    """A result as the gate takes it; a response of several fields is structured."""
    return ToolResult(
        given.call_id,
        given.name,
        _blocks(given),
        given.is_error,
        arguments_in(call.value) if call else NO_ARGUMENTS,
    )


def _blocks(given: Part) -> tuple[Block, ...]:
    key = _text_key(given.value)
    if key is not None:
        said: Block = Text(text_of(fields_of(given.value)[key]))
    else:
        said = Json(given.value.decode(errors="replace"))
    fields = fields_of(given.raw)
    answer = fields_of(next(fields[name] for name in RESULT if name in fields))
    media = items_of(answer["parts"]) if answer.get("parts", b"")[:1] == b"[" else []
    return (said, *(Media("opaque", bytes(item)) for item in media))
