"""The hash chain of a history: which conversation this is, without anybody naming it.

A link stands for everything before a message. It does not change when a client moves its cache
marks, writes the same content as a string or as one block, or writes the same JSON in other bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from headgate.dialects import dialect_named
from headgate.dialects.history import History
from headgate.slices import NotJson
from headgate.values import value_of

CACHE_MARK = "cache_control"

_TEXT_BLOCK = {"type", "text"}
_PACKED = msgspec.msgpack.Encoder(order="sorted").encode
"""Packing copies texts as they are; writing them as JSON would look at every character again."""
_WRITTEN = msgspec.json.Encoder(order="sorted").encode
"""For numbers of more than 64 bits, which cannot be packed."""


def digest_of(raw: bytes) -> bytes:
    """What a message or a setting says, whatever its bytes: of `canonical` the hash."""
    return hashlib.sha256(canonical(raw)).digest()


def chain(
    history: History,
    digest: Callable[[bytes], bytes] = digest_of,
    known: Sequence[bytes] = (),
) -> list[bytes]:
    """One link before each message, and one behind the last.

    `known` are the links of the messages it begins with, where it was made before; they hold if
    what the model reads before the messages is the same.
    """
    settings = dialect_named(history.dialect).prefix_settings
    start = hashlib.sha256(history.dialect.encode())
    for name in settings:
        start.update(digest(history.settings.get(name, b"")))
    first = start.digest()
    links = list(known) if known and known[0] == first else [first]
    link = links[-1]
    for message in history.messages[len(links) - 1 :]:
        link = hashlib.sha256(link + digest(message.raw)).digest()
        links.append(link)
    return links


def canonical(raw: bytes) -> bytes:
    """A message or a setting in one form: keys sorted, no cache marks, a lone text as a string."""
    if not raw:
        return b""
    try:
        value = value_of(raw)
        value = [_plain(item) for item in value] if isinstance(value, list) else _plain(value)
        return _PACKED(value)
    except OverflowError:
        return _WRITTEN(value)
    except (NotJson, RecursionError):
        # Half a surrogate pair, NaN, thousands of levels: the bytes speak for themselves.
        return raw


def _plain(block: object) -> object:
    """A block, or a message, without its cache mark, and those of the blocks it holds.

    Only blocks carry marks: what a call is given may have a field of the same name.
    """
    if not isinstance(block, dict):
        return block
    if CACHE_MARK in block:
        block = {name: value for name, value in block.items() if name != CACHE_MARK}
    content = block.get("content")
    if not isinstance(content, list):
        return block
    held = [_plain(item) for item in content]
    if len(held) == 1 and isinstance(held[0], dict) and held[0].keys() == _TEXT_BLOCK:
        return {**block, "content": held[0]["text"]}
    return {**block, "content": held}
