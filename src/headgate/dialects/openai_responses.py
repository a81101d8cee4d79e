"""OpenAI Responses: every call, result, message and piece of reasoning is an item of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import msgspec

from headgate.dialects.dialect import CannotAnswer, MessageReader, Rules
from headgate.dialects.heads import Head
from headgate.dialects.history import NEW, History, Message, Part, PartKind
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
    read_history,
    said_instead,
    with_items,
    write_history,
)
from headgate.types import NOTHING as NO_ARGUMENTS
from headgate.types import Block, Media, Text, ToolResult

name = "openai-responses"

rules = Rules(placing="anywhere")

prefix_settings = ("instructions", "tools")

LAYOUT = Layout(
    name,
    "input",
    settings=(
        *("model", "instructions", "tools", "store", "reasoning"),
        *("previous_response_id", "conversation"),
    ),
    held_by=("previous_response_id", "conversation"),
    may_be_text=True,
)

RESULT_OF = MappingProxyType(
    {
        "function_call": "function_call_output",
        "custom_tool_call": "custom_tool_call_output",
        "shell_call": "shell_call_output",
        "local_shell_call": "local_shell_call_output",
        "apply_patch_call": "apply_patch_call_output",
        "computer_call": "computer_call_output",
    }
)
"""The calls that the client answers, each with the item that answers it."""

RESULTS = frozenset(RESULT_OF.values())

ALIKE = frozenset({"function_call_output", "custom_tool_call_output"})
"""Results that differ in nothing but their type."""

KINDS: dict[str, PartKind] = {
    "input_text": "text",
    "output_text": "text",
    "input_image": "media",
    "input_file": "media",
    "input_audio": "media",
}

MEDIA = {"input_image": "image", "input_file": "document"}

ROLES = {"developer": "system"}


class _Item(msgspec.Struct):
    type: str = ""
    role: str = ""
    content: msgspec.Raw = NOTHING
    id: msgspec.Raw = NOTHING
    call_id: msgspec.Raw = NOTHING
    name: msgspec.Raw = NOTHING
    arguments: msgspec.Raw = NOTHING
    input: msgspec.Raw = NOTHING
    action: msgspec.Raw = NOTHING
    operation: msgspec.Raw = NOTHING
    output: msgspec.Raw = NOTHING


class _Part(msgspec.Struct):
    type: str = ""
    text: msgspec.Raw = NOTHING


_ITEM = msgspec.json.Decoder(_Item)
_PART = msgspec.json.Decoder(_Part)


def read(body: bytes, reader: MessageReader | None = None, head: Head | None = None) -> History:
    """Take a request body or a bare array apart; what is only referred to the provider holds."""
    history = read_history(body, LAYOUT, reader or message, head)
    if not history.server_held and any(map(_is_reference, history.messages)):
        return replace(history, server_held=True)
    return history


def _is_reference(item: Message) -> bool:
    return bool(item.parts) and item.parts[0].wire == "item_reference"


def write(history: History) -> bytes:
    """Put it together again; the very same bytes if nothing was changed."""
    return write_history(history)


def message(raw: bytes, at: int = NEW) -> Message:
    """Read one item; all but messages are one part."""
    fields, is_odd = pick(_ITEM, raw)
    wire = fields.type or ("message" if fields.role else "")
    if not wire:
        raise Misfit(".type", "a type", "nothing")
    if wire == "message":
        if not fields.role:
            raise Misfit(".role", "a role", "nothing")
        parts = tuple(_parts(fields.content))
        role = ROLES.get(fields.role, fields.role)
    else:
        role, part = _only_part(raw, wire, fields)
        parts = (part,)
    item_id = text_in(fields.id, ".id") if len(fields.id) else ""
    return Message(role, raw, parts, "", item_id, is_odd, at)


def _only_part(raw: bytes, wire: str, fields: _Item) -> tuple[str, Part]:
    if wire in RESULT_OF:
        said = fields.arguments or fields.input or fields.action or fields.operation
        call_id = text_in(fields.call_id, ".call_id")
        tool = text_in(fields.name, ".name") or wire.removesuffix("_call")
        return "assistant", Part("call", raw, wire, call_id, tool, said)
    if wire in RESULTS:
        call_id = text_in(fields.call_id, ".call_id")
        if not call_id and wire == "local_shell_call_output":
            call_id = text_in(fields.id, ".id")
        return "tool", Part("result", raw, wire, call_id, "", fields.output)
    if wire == "reasoning":
        return "assistant", Part("thinking", raw, wire)
    if wire.endswith(("_call", "_list_tools", "_request")):
        return "assistant", Part("server_call", raw, wire)
    return "other", Part("other", raw, wire)


def _parts(content: msgspec.Raw) -> list[Part]:
    start = first_of(content)
    if start == b'"':
        return [Part("text", content, value_view=content, at=0)]
    if start == b"[":
        return [_part_at(item, place) for place, item in enumerate(items_of(content))]
    if start in (b"", b"n"):
        return []
    raise Misfit(".content", "a list or a string", found_in(bytes(content)))


def _part_at(raw: msgspec.Raw, at: int) -> Part:
    try:
        fields, _ = pick(_PART, raw)
    except Misfit as misfit:
        raise misfit.under(f".content[{at}]") from None
    kind = KINDS.get(fields.type, "other")
    return Part(kind, raw, fields.type, value_view=fields.text, at=at)


def with_parts(old: Message, parts: Sequence[Part]) -> Message:
    """The item with other parts; all but messages are their only part."""
    if is_message(old):
        raw = with_items(old.raw, "content", [_as_block(part, old.role) for part in parts])
        return message(raw, old.at)
    [only] = parts
    return message(only.raw, old.at)


def is_message(item: Message) -> bool:
    """Whether an item is a message, not a call, a result or a piece of reasoning."""
    return not (len(item.parts) == 1 and item.parts[0].raw_view is item.raw)


def _as_block(given: Part, role: str) -> Part:
    if given.wire or given.kind != "text":
        return given
    wire = "output_text" if role == "assistant" else "input_text"
    raw = json_object({"type": json_text(wire), "text": given.raw})
    return Part("text", raw, wire, value_view=given.raw_view, at=given.at)


def carrying(parts: Sequence[Part]) -> list[Message]:
    """An item for each result; what is no result goes into one user message."""
    results = [message(part.raw) for part in parts if part.kind == "result"]
    others = [_as_block(part, "user").raw for part in parts if part.kind != "result"]
    if not others:
        return results
    fields = {"type": b'"message"', "role": b'"user"', "content": json_list(others)}
    return [*results, message(json_object(fields))]


def result(call: Part, text: str, *, is_error: bool) -> Part:
    """A new result item; an error is told in its text, or as the kind of call has it."""
    if call.wire == "computer_call":
        raise CannotAnswer(f"the result of computer_call {call.call_id!r} is a screenshot")
    said = json_text(error_text(text) if is_error else text)
    id_field = "id" if call.wire == "local_shell_call" else "call_id"
    fields = {"type": json_text(RESULT_OF[call.wire]), id_field: json_text(call.call_id)}
    if call.wire == "apply_patch_call":
        fields["status"] = b'"failed"' if is_error else b'"completed"'
    if call.wire == "shell_call":
        outcome = b'{"type":"timeout"}' if is_error else b'{"type":"exit","exit_code":0}'
        entry = {"stdout": b'""' if is_error else said, "stderr": said if is_error else b'""'}
        said = json_list([json_object({**entry, "outcome": outcome})])
    return message(json_object({**fields, "output": said})).parts[0]


def user_text(text: str) -> Part:
    """A new text of the user's."""
    said = json_text(text)
    return Part(
        "text", json_object({"type": b'"input_text"', "text": said}), "input_text", value_view=said
    )


def with_text(given: Part, text: str) -> Part:
    """A result that says something else; its other fields and its images stay.

    A screenshot says nothing, and stays as it is.
    """
    if given.wire == "computer_call_output":
        return given
    if given.wire == "shell_call_output" and given.value[:1] == b"[":
        output = _shell_output(given.value, text)
    else:
        output = said_instead(given.value, text, "input_text")
    return message(replaced_fields(given.raw, {"output": output})).parts[0]


def _shell_output(output: bytes, text: str) -> bytes:
    """The commands of one shell call become one, which ended as the last of them did."""
    entries = [bytes(item) for item in items_of(output)]
    last = entries[-1] if entries else b"{}"
    return json_list([replaced_fields(last, {"stdout": json_text(text), "stderr": b'""'})])


def with_id(given: Part, call_id: str) -> Part:
    """A call or a result under another id."""
    by_id = given.wire == "local_shell_call_output" and "call_id" not in fields_of(given.raw)
    changes = {"id" if by_id else "call_id": json_text(call_id)}
    return message(replaced_fields(given.raw, changes)).parts[0]


def answering(given: Part, call: Part) -> Part:
    """The result under the id of its call, as the kind of item that answers it."""
    wire = RESULT_OF[call.wire]
    answer = given if given.call_id == call.call_id else with_id(given, call.call_id)
    if answer.wire == wire:
        return answer
    if {answer.wire, wire} <= ALIKE:
        return message(replaced_fields(answer.raw, {"type": json_text(wire)})).parts[0]
    raise CannotAnswer(f"{answer.wire} answers {call.wire} {call.call_id!r}")


def tool_result(given: Part, call: Part | None) -> ToolResult:
    """A result as the gate takes it."""
    if given.wire == "shell_call_output" and given.value[:1] == b"[":
        blocks: tuple[Block, ...] = _shell_texts(given.value)
    else:
        blocks = blocks_in(given.value, ("input_text", "output_text", "text"), MEDIA)
    arguments = arguments_in(call.value) if call else NO_ARGUMENTS
    return ToolResult(given.call_id, call.name if call else "", blocks, arguments=arguments)


def _shell_texts(output: bytes) -> tuple[Block, ...]:
    """What the commands of a shell call said; an output of another form is left alone."""
    texts: list[Block] = []
    try:
        for item in items_of(output):
            fields = fields_of(bytes(item))
            said = [text_in(fields.get(stream, b"")) for stream in ("stdout", "stderr")]
            texts += [Text(text) for text in said if text]
    except Misfit:
        return (Media("opaque", output),)
    return tuple(texts)
