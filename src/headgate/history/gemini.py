"""What only Gemini refuses: empty parts, responses that are no objects, lost signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from headgate.dialects.gemini import SIGNATURE, carrying, part, user_text, with_parts, with_response
from headgate.dialects.history import History, Message, Part
from headgate.dialects.spans import fields_of, json_object, replaced_fields, text_of
from headgate.history.report import Case, Fix

SAYS_NOTHING = frozenset({"text", "thought"})
"""Fields of a part that may be thrown away with an empty text; any other is kept as it came."""

UNSIGNED = b'"skip_thought_signature_validator"'
"""What the provider accepts for a signature that was lost."""

OPENING = "(the beginning of this conversation is not shown)"

_SIGNING = re.compile(r"gemini-(?:[3-9]|\d\d)")


def tidied(old: Message, where: str) -> tuple[Message, list[Fix]]:
    """The turn without empty parts, and with an object for every response."""
    fixes: list[Fix] = []
    parts: list[Part] = []
    for given in old.parts:
        if _is_empty(given):
            fixes.append(Fix("blank", where, "a part that holds nothing is taken out"))
        elif given.kind == "result" and given.opening != b"{":
            fixes.append(Fix("content", where, "the response is made an object", given.call_id))
            response = json_object({"result": given.value or b"null"})
            parts.append(with_response(given, response))
        else:
            parts.append(given)
    return (with_parts(old, parts), fixes) if fixes else (old, [])


def _is_empty(given: Part) -> bool:
    if given.kind == "text" and given.value != b'""':
        return False
    if given.kind not in ("text", "thinking", "other") or len(given.raw) > 200:
        return False
    fields = fields_of(given.raw)
    return fields.keys() <= SAYS_NOTHING and fields.get("text", b'""') == b'""'


def settled(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Mend what concerns more than one turn."""
    history, opened = _opened(history)
    history, signed = _signed(history)
    return history, opened + signed


def _opened(history: History) -> tuple[History, list[Fix]]:
    """A call needs a turn of the user's before it."""
    first = history.messages[0] if history.messages else None
    if first is None or first.role != "assistant" or not first.of_kind("call"):
        return history, []
    what = "a call cannot come first: a turn of the user's is put before it"
    return history.with_messages((*carrying([user_text(OPENING)]), *history.messages)), [
        Fix("tail", history.where(first), what)
    ]


def _signed(history: History) -> tuple[History, list[Fix]]:
    """In the turn that is under way, the first call of each step is signed."""
    if not _wants_signatures(history):
        return history, []
    fixes: list[Fix] = []
    messages = list(history.messages)
    for number in _current(history.messages):
        old = messages[number]
        first = next((given for given in old.parts if given.kind == "call"), None)
        if first is None or _is_signed(first):
            continue
        signed = part(replaced_fields(first.raw, {SIGNATURE[0]: UNSIGNED}), first.at)
        messages[number] = with_parts(old, [signed if p is first else p for p in old.parts])
        what = "a call whose signature was lost says so"
        fixes.append(Fix("signature", history.where(old), what, first.call_id))
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _wants_signatures(history: History) -> bool:
    if history.model:
        return _SIGNING.search(history.model) is not None
    if not any(name.encode() in history.body for name in SIGNATURE):
        return False
    return any(_is_signed(call) for old in history.messages for call in old.of_kind("call"))


def _is_signed(call: Part) -> bool:
    if not any(name.encode() in call.raw for name in SIGNATURE):
        return False
    fields = fields_of(call.raw)
    return any(text_of(fields[name]) for name in SIGNATURE if fields.get(name, b"")[:1] == b'"')


def _current(messages: Sequence[Message]) -> Iterator[int]:
    """The model's turns since the user last said something."""
    for number in reversed(range(len(messages))):
        old = messages[number]
        if old.role == "user" and not old.of_kind("result"):
            return
        if old.role == "assistant":
            yield number
