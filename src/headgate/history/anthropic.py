"""What only Anthropic refuses inside of a message: blank text, inputs that are no objects, media in
errors."""

from __future__ import annotations

import re

from headgate.dialects.anthropic import part, with_parts
from headgate.dialects.history import Message, Part
from headgate.dialects.spans import (
    fields_of,
    items_of,
    json_object,
    json_text,
    rebuilt_list,
    replaced_fields,
    text_of,
)
from headgate.dialects.wire import is_blank
from headgate.history.report import Fix, Unrepairable
from headgate.slices import NotJson
from headgate.values import value_of

HOISTED = ("image", "document", "search_result")
"""Blocks that may stand beside a result; others of an error are taken out."""

_EMPTY = re.compile(rb':\s*+""')

NOTHING_LEFT = "(the error came without text)"
"""An error may not be empty."""


def tidied(old: Message, where: str) -> tuple[Message, list[Fix]]:
    """The message without blank text, with an object for every input and only text in errors."""
    if all(map(_is_tidy, old.parts)):
        return old, []
    fixes: list[Fix] = []
    parts: list[Part] = []
    hoisted: list[Part] = []
    has_thinking = old.has_thinking
    for given in old.parts:
        if given.kind == "text" and is_blank(given.value):
            fixes.append(Fix("blank", where, "a text that shows nothing is taken out"))
        elif given.kind == "call" and given.opening != b"{":
            if has_thinking:
                raise Unrepairable("the input of a call beside thinking is no object")
            fixes.append(Fix("content", where, "the input is made an object", given.call_id))
            parts.append(_with_object(given))
        elif given.kind == "result" and not _is_tidy(given):
            mended, media = _mended(given)
            what = f"{len(media)} blocks are moved out of an error" if media else "blank text goes"
            fixes.append(Fix("hoisted" if media else "blank", where, what, given.call_id))
            parts.append(mended)
            hoisted += media
        else:
            parts.append(given)
    return with_parts(old, [*parts, *hoisted]), fixes


def _is_tidy(given: Part) -> bool:
    kind = given.kind
    if kind == "text":
        return not is_blank(given.value)
    if kind == "call":
        return given.opening == b"{"
    if kind == "result" and given.opening == b"[":
        if given.is_error:
            return all(_type_of(block) == "text" and _says(block) for block in _blocks(given))
        # An empty text is looked for only where its bytes are.
        return not _EMPTY.search(given.value) or all(map(_says, _blocks(given)))
    return True


def _mended(given: Part) -> tuple[Part, list[Part]]:
    """A result of which nothing is refused, and the media that have to stand beside it."""
    blocks = _blocks(given)
    kept = [
        (place, block)
        for place, block in enumerate(blocks)
        if _says(block) and (not given.is_error or _type_of(block) == "text")
    ]
    content = rebuilt_list(given.value, kept)
    if given.is_error and not kept:
        content = json_text(NOTHING_LEFT)
    media = [part(block) for block in blocks if given.is_error and _type_of(block) in HOISTED]
    return part(replaced_fields(given.raw, {"content": content}), given.at), media


def _with_object(given: Part) -> Part:
    """A call whose input is an object: the one its text spells, or one that holds what it was."""
    value = given.value
    if value[:1] == b'"' and _spells_object(text_of(value)):
        spelled = text_of(value).encode()
    elif value in (b"", b"null"):
        spelled = b"{}"
    else:
        spelled = json_object({"_raw": value})
    return part(replaced_fields(given.raw, {"input": spelled}), given.at)


def _spells_object(text: str) -> bool:
    try:
        return isinstance(value_of(text), dict)
    except NotJson:
        return False


def _blocks(given: Part) -> list[bytes]:
    return [bytes(item) for item in items_of(given.value)]


def _type_of(block: bytes) -> str:
    kind = fields_of(block).get("type", b"") if block[:1] == b"{" else b""
    return text_of(kind) if kind[:1] == b'"' else ""


def _says(block: bytes) -> bool:
    """Whether a block of a result is anything but an empty text."""
    return _type_of(block) != "text" or fields_of(block).get("text") != b'""'
