"""JSON taken apart into slices of its own bytes, and put together again around a change.

What is not changed keeps every byte: spaces, order of keys, escapes, spelling of numbers. It is
read one level at a time; the slices of what lies deeper are never looked into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from headgate.dialects.history import Slice
from headgate.slices import NotJson, is_json, items, key_text, members, offsets

Struct = TypeVar("Struct", bound=msgspec.Struct)

NOTHING = msgspec.Raw(b"")
"""The slice of a field that is not there."""

_FOUND = {
    **dict.fromkeys(b"{", "an object"),
    **dict.fromkeys(b"[", "a list"),
    **dict.fromkeys(b'"', "a string"),
    **dict.fromkeys(b"tf", "true or false"),
    **dict.fromkeys(b"n", "null"),
}
_WHITE = b" \t\r\n"
_NOT_WHITE = re.compile(rb"[^ \t\r\n]")
_TEXT = msgspec.json.Decoder(str)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])

Piece = tuple[int | None, bytes]
"""What stands in a rebuilt list: where it stood before (None: nowhere), and its bytes now."""


class Misfit(Exception):
    """A value of another type than its place asks for; the reader adds where that is."""

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(path, expected, found)
        self.path = path
        self.expected = expected
        self.found = found

    def under(self, path: str) -> Misfit:
        """The same, seen from one level further out."""
        return Misfit(path + self.path, self.expected, self.found)

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


def found_in(raw: bytes) -> str:
    """What a JSON value is, in words, by its first byte."""
    start = raw.lstrip(_WHITE)[:1]
    return _FOUND.get(start[0], "a number") if start else "nothing"


def first_of(raw: Slice) -> bytes:
    """The first byte of a value, which says what type it is; none if it is not there."""
    return bytes(memoryview(raw)[:1])


def pick(decoder: msgspec.json.Decoder[Struct], raw: Slice) -> tuple[Struct, bool]:
    """The fields of an object that `decoder` names, and whether strict JSON would refuse it.

    Texts come decoded, everything else as slices.
    """
    try:
        return decoder.decode(raw), False
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _pick_slowly(decoder.type, bytes(raw)), True


def _pick_slowly(struct: type[Struct], raw: bytes) -> Struct:
    values = fields_of(raw)
    given: dict[str, object] = {}
    for field in msgspec.structs.fields(struct):
        value = values.get(field.encode_name)
        if value is None:
            continue
        if field.type is msgspec.Raw:
            given[field.name] = msgspec.Raw(value)
        elif field.type is str:
            given[field.name] = text_in(value, f".{field.encode_name}")
        else:
            given[field.name] = items_of(value, f".{field.encode_name}")
    return struct(**given)


def fields_of(raw: bytes, path: str = "") -> dict[str, bytes]:
    """The members of an object; of equal keys the last counts, as for every reader of JSON."""
    try:
        return {name: bytes(value) for name, value in _OBJECT.decode(raw).items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _fields_slowly(raw, path)


def _fields_slowly(raw: bytes, path: str) -> dict[str, bytes]:
    if raw.lstrip(_WHITE)[:1] != b"{":
        raise Misfit(path, "an object", found_in(raw))
    return {key_text(key): bytes(value) for key, value in members(raw)}


def items_of(raw: Slice, path: str = "") -> list[msgspec.Raw]:
    """The items of a list, not copied."""
    try:
        return _ARRAY.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _items_slowly(bytes(raw), path)


def _items_slowly(raw: bytes, path: str) -> list[msgspec.Raw]:
    if raw.lstrip(_WHITE)[:1] != b"[":
        raise Misfit(path, "a list", found_in(raw))
    return items(raw)


def text_in(given: Slice, path: str = "") -> str:
    """The text of a string; null and nothing read as an empty one."""
    raw = bytes(given)
    if not raw or raw == b"null":
        return ""
    if raw[:1] != b'"':
        raise Misfit(path, "a string", found_in(raw))
    if raw.isascii() and b"\\" not in raw:
        return raw[1:-1].decode("ascii")
    return text_of(raw)


def text_of(raw: bytes) -> str:
    """What a JSON string says; bytes that are no UTF-8 read as lone surrogates."""
    try:
        return _TEXT.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return str(json.loads(raw.decode(errors="surrogateescape"), strict=False))


def json_text(text: str) -> bytes:
    """A text as a JSON string; a lone surrogate, which UTF-8 cannot carry, becomes U+FFFD."""
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:
        return msgspec.json.encode(
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )


def json_object(fields: Mapping[str, bytes]) -> bytes:
    """A new object of given slices, without spaces."""
    return b"{" + b",".join(json_text(key) + b":" + value for key, value in fields.items()) + b"}"


def json_list(values: Iterable[bytes]) -> bytes:
    """A new list of given slices, without spaces."""
    return b"[" + b",".join(values) + b"]"


def rebuilt_list(
    raw: bytes, pieces: Sequence[Piece], values: Sequence[bytes] | None = None
) -> bytes:
    """The list `raw` with other items; spaces and commas stay where neighbours stay neighbours.

    `values` are the items it has, where they are known.
    """
    values = items(raw) if values is None else values
    starts = offsets(raw, values)
    spans = [(start, start + len(value)) for start, value in zip(starts, values, strict=True)]
    return _rejoined(raw, spans, pieces)


def changed_field(raw: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The object `raw` with what `change` makes of one of its values."""
    start, stop = member_span(raw, name)
    return b"".join((raw[:start], change(raw[start:stop]), raw[stop:]))


def member_span(raw: bytes, name: str) -> tuple[int, int]:
    """Where the value of a member stands in the object `raw`; of equal keys the last counts."""
    spans, keys = _member_spans(raw)
    place = max(place for place, key in enumerate(keys) if key == name)
    return spans[place][1:]


def replaced_fields(raw: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """The object `raw` with other values; None takes a field out, a new one goes to the end."""
    spans, keys = _member_spans(raw)
    last = {key: place for place, key in enumerate(keys)}
    pieces: list[Piece] = []
    for place, (key, (start, value, stop)) in enumerate(zip(keys, spans, strict=True)):
        if key not in changes:
            pieces.append((place, raw[start:stop]))
            continue
        # Of equal keys the last counts; the others stay unless the field is to go.
        change = changes[key] if last[key] == place else changes[key] and raw[value:stop]
        if change:
            pieces.append((place, raw[start:value] + change))
    colon = _colon(raw, spans)
    for key, change in changes.items():
        if change and key not in last:
            pieces.append((None, json_text(key) + colon + change))
    return _rejoined(raw, [(start, stop) for start, _, stop in spans], pieces)


def _member_spans(raw: bytes) -> tuple[list[tuple[int, int, int]], list[str]]:
    """Where each member's key begins, its value begins, and its value ends; and the keys."""
    spans: list[tuple[int, int, int]] = []
    keys: list[str] = []
    at = 0
    for key, value in members(raw):
        start = raw.index(key, at)
        colon = raw.index(b":", start + len(key))
        first = _first(raw, colon + 1)
        at = first + len(value)
        spans.append((start, first, at))
        keys.append(key_text(key))
    return spans, keys


def _first(raw: bytes, at: int) -> int:
    found = _NOT_WHITE.search(raw, at)
    if found is None:
        raise NotJson(f"nothing after byte {at}")
    return found.start()


def _colon(raw: bytes, spans: Sequence[tuple[int, int, int]]) -> bytes:
    """The colon as this writer writes it."""
    if not spans:
        return b":"
    start, value, _ = spans[0]
    return b": " if raw[start:value].endswith(b": ") else b":"


def _rejoined(raw: bytes, spans: Sequence[tuple[int, int]], pieces: Sequence[Piece]) -> bytes:
    opening = _first(raw, 0) + 1
    closing = len(raw.rstrip(_WHITE)) - 1
    if not pieces:
        return raw[:opening] + raw[closing:] if spans else raw
    if not spans:
        return raw[:opening] + b",".join(piece for _, piece in pieces) + raw[closing:]
    lead = raw[opening : spans[0][0]]
    comma = raw[spans[0][1] : spans[1][0]] if len(spans) > 1 else b"," + lead
    out = [raw[:opening], lead]
    before: int | None = None
    for number, (place, piece) in enumerate(pieces):
        if number:
            adjacent = before is not None and place == before + 1
            out.append(raw[spans[place - 1][1] : spans[place][0]] if adjacent and place else comma)
        out.append(piece)
        before = place
    out += [raw[spans[-1][1] : closing], raw[closing:]]
    return b"".join(out)


def checked(body: bytes) -> bytes:
    """`body` itself if it is JSON; of any depth, with NaN and lone surrogates allowed."""
    if not is_json(body):
        raise NotJson(_what_is_wrong(body))
    return body


def _what_is_wrong(body: bytes) -> str:
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except RecursionError:
        return "brackets that do not match"
    except msgspec.DecodeError as error:
        said = str(error).removeprefix("JSON is malformed: ")
        return "it ends too early" if said == "Input data was truncated" else said
    return "bytes that no reader takes"
