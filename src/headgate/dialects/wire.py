"""What the dialects do alike: from a body to its messages and back, and blocks of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from headgate.dialects.dialect import MessageReader
from headgate.dialects.heads import Head
from headgate.dialects.history import NEW, Form, History, Message, Part
from headgate.dialects.spans import (
    Misfit,
    Piece,
    changed_field,
    checked,
    fields_of,
    found_in,
    items_of,
    json_list,
    json_object,
    json_text,
    rebuilt_list,
    replaced_fields,
    text_in,
    text_of,
)
from headgate.errors import HistoryError
from headgate.slices import NotJson
from headgate.types import NOTHING, Block, Media, Text
from headgate.values import value_of

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ABSENT = msgspec.Raw(b"")
_NULL = b"null"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a body of one dialect is laid out: where its messages are, and which settings matter."""

    dialect: str
    key: str
    settings: tuple[str, ...]
    held_by: tuple[str, ...] = ()
    """Settings that say that the provider remembers earlier messages."""
    may_be_text: bool = False
    """Whether a plain string may stand in the place of the array; it holds no messages, and
    is kept among the settings."""
    decoder: msgspec.json.Decoder[msgspec.Struct] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        fields = [(name, msgspec.Raw, _ABSENT) for name in self.settings]
        struct = msgspec.defstruct("Body", [(self.key, list[msgspec.Raw]), *fields])
        object.__setattr__(self, "decoder", msgspec.json.Decoder(struct))


def read_history(
    body: bytes, layout: Layout, message: MessageReader, head: Head | None = None
) -> History:
    """Take a body or a bare array apart; raises `HistoryError` with the place.

    What stands in the `head` is not read again.
    """
    try:
        known = _read_on(body, layout, message, head) if head is not None else None
        if known is not None:
            return known
        form, elements, settings = _taken_apart(body, layout)
        messages = tuple(_messages(elements, layout.key, message))
        return _history(body, layout, form, messages, settings)
    except NotJson as error:
        raise HistoryError(f"not JSON: {error}") from None
    except Misfit as misfit:
        raise HistoryError(str(misfit)) from None


def _read_on(body: bytes, layout: Layout, message: MessageReader, head: Head) -> History | None:
    """Read what stands behind the head; None where all of it has to be read."""
    short, sign = head.shortened(body)
    try:
        form, elements, settings = _taken_apart(short, layout)
    except (NotJson, Misfit):
        return None
    if not elements or bytes(elements[0]) != sign:
        return None
    later = tuple(_messages(elements[1:], layout.key, message, len(head.messages)))
    history = _history(body, layout, form, head.messages + later, settings)
    return replace(history, starts=head.starts_with(body, later))


def _history(
    body: bytes,
    layout: Layout,
    form: Form,
    messages: tuple[Message, ...],
    settings: Mapping[str, bytes],
) -> History:
    model = text_in(settings.get("model", b""), "model")
    held = any(settings.get(name, _NULL) != _NULL for name in layout.held_by)
    return History(
        layout.dialect,
        layout.key,
        body,
        form,
        messages,
        settings,
        messages,
        settings,
        model,
        held,
    )


def _taken_apart(
    body: bytes, layout: Layout
) -> tuple[Form, list[msgspec.Raw], Mapping[str, bytes]]:
    start = body.lstrip(b" \t\r\n")[:1]
    if start == b"[":
        return "array", _elements(body), {}
    if start != b"{":
        wanted = f"a list, or an object with {layout.key!r}"
        found = found_in(checked(body)) if start else "nothing"
        raise Misfit("the body", wanted, found)
    try:
        taken = layout.decoder.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return _taken_apart_slowly(body, layout)
    values = msgspec.structs.asdict(taken)
    elements = values.pop(layout.key)
    return "body", elements, {name: bytes(raw) for name, raw in values.items() if len(raw)}


def _taken_apart_slowly(
    body: bytes, layout: Layout
) -> tuple[Form, list[msgspec.Raw], Mapping[str, bytes]]:
    fields = fields_of(checked(body))
    if layout.key not in fields:
        keys = ", ".join(sorted(fields)[:6]) or "nothing"
        raise Misfit("the body", f"{layout.key!r}, where {layout.dialect} keeps its history", keys)
    settings = {name: fields[name] for name in layout.settings if name in fields}
    array = fields[layout.key]
    if layout.may_be_text and array[:1] == b'"':
        return "body", [], {**settings, layout.key: array}
    return "body", items_of(array, layout.key), settings


def _elements(body: bytes) -> list[msgspec.Raw]:
    try:
        return _ARRAY.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return items_of(checked(body))


def _messages(
    elements: Sequence[msgspec.Raw], key: str, message: MessageReader, first: int = 0
) -> list[Message]:
    messages: list[Message] = []
    for place, element in enumerate(elements, first):
        try:
            messages.append(message(bytes(element), place))
        except Misfit as misfit:
            raise misfit.under(f"{key}[{place}]") from None
    return messages


def write_history(history: History) -> bytes:
    """Put a history together again: every byte of what was not changed, where it was."""
    if history.is_unchanged:
        return history.body
    body = history.body
    changes = {
        name: value
        for name, value in history.settings.items()
        if history.read_settings.get(name) != value
    }
    if changes:
        body = replaced_fields(body, changes)
    if history.messages is history.read_messages:
        return body
    if body is history.body and (spliced := _spliced(history)) is not None:
        return spliced
    if history.form == "array":
        return _with_messages(body, history)
    return changed_field(body, history.key, lambda array: _with_messages(array, history))


def _spliced(history: History) -> bytes | None:
    """The body with other bytes where messages are others; None if one was moved, or nobody knows
    where they stand."""
    before, now = history.read_messages, history.messages
    if history.starts is None or [new.at for new in now] != [old.at for old in before]:
        return None
    view, at = memoryview(history.body), 0
    pieces: list[bytes | memoryview] = []
    for start, old, new in zip(history.starts, before, now, strict=True):
        if new is not old:
            pieces += (view[at:start], new.raw)
            at = start + len(old.raw)
    return b"".join((*pieces, view[at:]))


def _with_messages(array: bytes, history: History) -> bytes:
    pieces = [(None if m.at == NEW else m.at, m.raw) for m in history.messages]
    return rebuilt_list(array, pieces, [m.raw for m in history.read_messages])


def pieces_of(parts: Sequence[Part]) -> list[Piece]:
    """Parts as pieces of the list they stood in."""
    return [(None if part.at == NEW else part.at, part.raw) for part in parts]


def list_of(held: bytes, parts: Sequence[Part]) -> bytes:
    """The list `held` with other parts; a new one if there was none."""
    if held[:1] == b"[":
        return rebuilt_list(held, pieces_of(parts))
    return json_list(part.raw for part in parts)


def with_items(raw: bytes, key: str, parts: Sequence[Part]) -> bytes:
    """The object `raw` whose list under `key` holds other parts."""
    return replaced_fields(raw, {key: list_of(fields_of(raw).get(key, b""), parts)})


def error_text(text: str) -> str:
    """How an error is told where there is no flag for it."""
    return f"Error: {text}"


def as_text(call: Part) -> bytes:
    """What a call is given as a JSON string, where it has to be one: nothing is an empty object."""
    given = call.value
    if given in (b"", _NULL):
        return b'""' if call.wire.startswith("custom") else b'"{}"'
    return json_text(given.decode("utf-8", "replace"))


def is_blank(raw: bytes) -> bool:
    """Whether a JSON string shows nothing: no letters, only spaces of any kind; null is nothing."""
    if raw[:1] != b'"':
        return raw in (b"", _NULL)
    # The first character decides for nearly every text, without decoding it.
    if len(raw) > 2 and 0x20 < raw[1] < 0x7F and raw[1] != 0x5C:
        return False
    return not text_of(raw).replace("\u200b", "").strip()


def said_instead(content: bytes, text: str, text_type: str) -> bytes:
    """What a result says, a string or a list of blocks, with another text; other blocks stay."""
    if content[:1] != b"[":
        return json_text(text)
    blocks = [bytes(item) for item in items_of(content)]
    kinds = [_type_of(block) for block in blocks]
    first = kinds.index(text_type) if text_type in kinds else None
    pieces: list[Piece] = []
    if first is None:
        pieces.append((None, json_object({"type": json_text(text_type), "text": json_text(text)})))
    for place, (block, kind) in enumerate(zip(blocks, kinds, strict=True)):
        if place == first:
            pieces.append((place, replaced_fields(block, {"text": json_text(text)})))
        elif kind != text_type:
            pieces.append((place, block))
    return rebuilt_list(content, pieces)


def blocks_in(
    content: bytes, text_types: Sequence[str], media: Mapping[str, str]
) -> tuple[Block, ...]:
    """What a result says as blocks: text to read, everything else to pass untouched."""
    if content[:1] == b'"':
        return (Text(text_of(content)),)
    if content[:1] != b"[":
        return (Text(""),)
    return tuple(_block(bytes(item), text_types, media) for item in items_of(content))


def _block(raw: bytes, text_types: Sequence[str], media: Mapping[str, str]) -> Block:
    kind = _type_of(raw)
    text = fields_of(raw).get("text", b"") if kind in text_types else b""
    if text[:1] == b'"':
        return Text(text_of(text))
    if media.get(kind) == "image":
        return Media("image", raw)
    return Media("document" if media.get(kind) == "document" else "opaque", raw)


def _type_of(raw: bytes) -> str:
    kind = fields_of(raw).get("type", b"") if raw[:1] == b"{" else b""
    return text_of(kind) if kind[:1] == b'"' else ""


def arguments_in(raw: bytes) -> Mapping[str, object]:
    """A call's arguments, an object or the JSON text of one; nothing if they are neither."""
    try:
        value = value_of(text_of(raw) if raw[:1] == b'"' else raw)
    except NotJson:
        return NOTHING
    return value if isinstance(value, dict) else NOTHING
