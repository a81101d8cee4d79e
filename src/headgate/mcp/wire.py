"""JSON of the wire: members as they are written, values where somebody must look inside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from headgate.slices import NotJson, items, key_text, members


def fields_of(raw: bytes) -> dict[str, bytes]:
    """The members of an object, each as it is written; none where it is no object."""
    if raw.lstrip()[:1] != b"{":
        return {}
    try:
        return {key_text(key): bytes(value) for key, value in members(raw)}
    except NotJson:
        return {}


def object_of(fields: Mapping[str, bytes]) -> bytes:
    """An object of members as they are written."""
    return b"{%b}" % b",".join(encoded(name) + b":" + value for name, value in fields.items())


def items_of(raw: bytes) -> list[bytes] | None:
    """The items of an array, each as it is written; None where it is no array."""
    if raw.lstrip()[:1] != b"[":
        return None
    try:
        return [bytes(item) for item in items(raw)]
    except NotJson:
        return None


def array_of(written_items: Iterable[bytes]) -> bytes:
    """An array of items as they are written."""
    return b"[%b]" % b",".join(written_items)


def loaded(raw: bytes) -> object:
    """The value of some JSON; None where it is none."""
    try:
        return json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return None


def loaded_object(raw: bytes) -> dict[str, object]:
    """The object of some JSON; an empty one where it is none."""
    value = loaded(raw)
    return value if isinstance(value, dict) else {}


def written(value: object) -> str:
    """A value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encoded(value: object) -> bytes:
    """A value as compact JSON in UTF-8."""
    try:
        return written(value).encode()
    except UnicodeEncodeError:
        # A lone surrogate is no UTF-8, but its escape is JSON.
        return json.dumps(value, separators=(",", ":")).encode()
