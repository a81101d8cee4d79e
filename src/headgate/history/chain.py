"""The hash chain of a history: which conversation this is, without anybody naming it.

A link stands for everything before a message. It does not change when a client moves its cache
marks, writes the same content as a string or as one block, or writes the same JSON in other bytes.
"""

from __future__ import annotations

import hashlib

import msgspec

from headgate.dialects import dialect_named
from headgate.dialects.history import History

CACHE_MARK = "cache_control"
ENCODER = msgspec.json.Encoder(order="sorted")


def chain(history: History) -> list[bytes]:
    """One link before each message, and one behind the last."""
    settings = dialect_named(history.dialect).prefix_settings
    start = hashlib.sha256(history.dialect.encode())
    for name in settings:
        start.update(hashlib.sha256(canonical(history.settings.get(name, b""))).digest())
    links = [start.digest()]
    for message in history.messages:
        digest = hashlib.sha256(canonical(message.raw)).digest()
        links.append(hashlib.sha256(links[-1] + digest).digest())
    return links


def canonical(raw: bytes) -> bytes:
    """JSON in one form: keys sorted, no cache marks, a lone text block as its string."""
    if not raw:
        return b""
    try:
        value = msgspec.json.decode(raw)
        if CACHE_MARK.encode() in raw:
            value = _unmarked(value)
        return ENCODER.encode(_plain(value))
    except (msgspec.DecodeError, RecursionError):
        # Half a surrogate pair, NaN, thousands of levels: the bytes speak for themselves.
        return raw


def _unmarked(value: object) -> object:
    if isinstance(value, dict):
        return {name: _unmarked(item) for name, item in value.items() if name != CACHE_MARK}
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    return value


def _plain(value: object) -> object:
    """A message whose content is one block of nothing but text, with the text as its content."""
    if not isinstance(value, dict):
        return value
    content = value.get("content")
    if isinstance(content, list) and len(content) == 1:
        block = content[0]
        if isinstance(block, dict) and block.keys() == {"type", "text"}:
            return {**value, "content": block["text"]}
    return value
