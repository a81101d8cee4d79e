"""One JSON-RPC message: its bytes, and what a proxy needs to know of it, no more decoded."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import msgspec

from headgate.mcp.wire import loaded
from headgate.slices import NotJson, items, key_text, members

MOST_BYTES = 64 << 20
"""A longer message is not held; its sender is told."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
SERVER_GONE = -32000

_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,256}"|-?[0-9]{1,18})')


class _Envelope(msgspec.Struct, gc=False):
    id: msgspec.Raw = msgspec.Raw()
    method: str = ""
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(_Envelope)


@dataclass(frozen=True, slots=True)
class Message:
    """A request, a notification, or the answer to a request."""

    raw: bytes
    id: bytes = b""
    """As it is written, so that `1` and `"1"` stay two; empty: a notification."""
    method: str = ""
    """Empty: an answer."""
    params: bytes = b""
    result: bytes = b""
    error: bytes = b""

    @property
    def is_request(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self.method and self.id)

    @property
    def is_answer(self) -> bool:
        """Whether somebody waited for this."""
        return not self.method and bool(self.id)


class Unreadable(Exception):
    """Bytes that are no message; `id` is whom to tell, where it could be found."""

    def __init__(self, reason: str, id: bytes = b"") -> None:  # noqa: A002  # JSON-RPC's word
        super().__init__(reason)
        self.id = id


def messages_of(raw: bytes) -> list[Message]:
    """The message in some bytes, or those of a batch, one by one."""
    if raw.lstrip()[:1] != b"[":
        return [message_of(raw)]
    try:
        return [message_of(bytes(each)) for each in items(raw)]
    except NotJson as error:
        raise Unreadable(f"not JSON: {error}") from error


def message_of(raw: bytes) -> Message:
    """Read the envelope of one message."""
    try:
        read = _DECODER.decode(raw)
    except RecursionError as error:
        raise Unreadable("nested too deep", find_id(raw)) from error
    except msgspec.DecodeError:
        return _leniently(raw)
    return Message(
        raw,
        _id(bytes(read.id)),
        read.method,
        bytes(read.params),
        bytes(read.result),
        bytes(read.error),
    )


def find_id(text: bytes) -> bytes:
    """The id of a message that cannot be read whole: near its start, or near its end."""
    found = _ID.search(text[:4_096]) or _ID.search(text[-4_096:])
    return found[1] if found else b""


def answer(id: bytes, result: bytes) -> Message:  # noqa: A002  # JSON-RPC's word
    """The answer to a request."""
    raw = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id, result)
    return Message(raw, id, result=result)


def refusal(id: bytes, code: int, text: str) -> Message:  # noqa: A002  # JSON-RPC's word
    """The answer to a request that cannot be met."""
    error = json.dumps({"code": code, "message": text}).encode()
    return Message(
        b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id or b"null", error), id, error=error
    )


def request(method: str, params: bytes = b"", id: bytes = b"") -> Message:  # noqa: A002  # ditto
    """A request of our own; without an id, a notification."""
    parts = [b'"jsonrpc":"2.0"']
    parts += [b'"id":' + id] if id else []
    parts.append(b'"method":' + json.dumps(method).encode())
    parts += [b'"params":' + params] if params else []
    return Message(b"{%b}" % b",".join(parts), id, method, params)


def with_result(message: Message, result: bytes) -> Message:
    """The same answer with another result; nothing else of it changes."""
    return _spliced(message, b'"result"', result)


def with_params(message: Message, params: bytes) -> Message:
    """The same request with other params."""
    return _spliced(message, b'"params"', params)


def with_id(message: Message, id: bytes) -> Message:  # noqa: A002  # JSON-RPC's word
    """The same message under another id."""
    return _spliced(message, b'"id"', id)


def _leniently(raw: bytes) -> Message:
    """What msgspec refuses and clients do not: lone surrogates, NaN, an odd `method`."""
    try:
        fields = {key_text(key): bytes(value) for key, value in members(raw)}
    except NotJson as error:
        raise Unreadable(f"not JSON: {error}", find_id(raw)) from error
    method = loaded(fields.get("method", b'""'))
    if not isinstance(method, str):
        raise Unreadable("its method is no text", find_id(raw))
    return Message(
        raw,
        _id(fields.get("id", b"")),
        method,
        fields.get("params", b""),
        fields.get("result", b""),
        fields.get("error", b""),
    )


def _id(raw: bytes) -> bytes:
    return b"" if raw == b"null" else raw


def _spliced(message: Message, name: bytes, value: bytes) -> Message:
    parts = []
    for key, old in members(message.raw):
        parts.append(key + b":" + (value if key == name else bytes(old)))
    if not any(part.startswith(name + b":") for part in parts):
        parts.append(name + b":" + value)
    return message_of(b"{%b}" % b",".join(parts))
