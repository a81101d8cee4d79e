"""What only Chat Completions refuses: content that is nothing, media in results, too many calls."""

from __future__ import annotations

import msgspec

from headgate.dialects.history import NEW, History, Message, Part
from headgate.dialects.openai_chat import call_of, carrying, message, user_text, with_parts
from headgate.dialects.spans import (
    fields_of,
    items_of,
    json_text,
    rebuilt_list,
    replaced_fields,
    text_of,
)
from headgate.dialects.wire import as_text
from headgate.history.report import Case, Fix, Unrepairable

MOST_CALLS = 128

SPEAKS_OTHERWISE = ("function_call", "refusal", "audio")
"""Fields that may stand in an assistant message in the place of content and calls."""

MEDIA_OF = "(from the result of {name})"


def tidied(old: Message, where: str) -> tuple[Message, list[Fix]]:
    """The message with a text where null or an empty list stands, and no empty list of calls."""
    old, spelled = _spelled(old, where)
    if not _may_be_untidy(old):
        return old, spelled
    fields = fields_of(old.raw)
    changes: dict[str, bytes | None] = {}
    if fields.get("tool_calls") == b"[]" or _is_empty(fields.get("tool_calls", b"")):
        changes["tool_calls"] = None
    content = fields.get("content", b"null")
    if content == b"null":
        if not old.of_kind("call") and not _speaks_otherwise(old, fields):
            changes["content"] = b'""'
    elif _is_empty(content):
        changes["content"] = b"null" if old.of_kind("call") else b'""'
    if not changes:
        return old, spelled
    what = f"{' and '.join(changes)} said nothing in a way that is refused"
    mended = message(replaced_fields(old.raw, changes), old.at)
    return mended, [*spelled, Fix("content", where, what)]


def _spelled(old: Message, where: str) -> tuple[Message, list[Fix]]:
    """The message with a text for the arguments of every call: an object is written as one."""
    odd = [given for given in old.parts if _is_unspelled(given)]
    if not odd:
        return old, []
    parts = [_with_text(given) if _is_unspelled(given) else given for given in old.parts]
    what = "the arguments are made a text"
    return with_parts(old, parts), [Fix("content", where, what, given.call_id) for given in odd]


def _is_unspelled(given: Part) -> bool:
    if given.kind != "call" or given.opening == b'"':
        return False
    return fields_of(given.raw).get(given.wire, b"")[:1] == b"{"


def _with_text(call: Part) -> Part:
    said = fields_of(call.raw)[call.wire]
    name = "input" if call.wire == "custom" else "arguments"
    said = replaced_fields(said, {name: as_text(call)})
    return call_of(replaced_fields(call.raw, {call.wire: said}), call.at)


def _may_be_untidy(old: Message) -> bool:
    """Whether it has to be looked at: nearly every message says something."""
    if not old.parts:
        return old.role != "function"  # It may say null.
    if old.role == "tool":
        return old.parts[0].opening not in (b'"', b"[")
    return (old.role == "assistant" and b"[]" in old.raw) or _has_empty_calls(old)


def _has_empty_calls(old: Message) -> bool:
    return old.role == "assistant" and b"tool_calls" in old.raw and not old.of_kind("call")


def _is_empty(raw: bytes) -> bool:
    return raw[:1] == b"[" and not items_of(raw)


def _speaks_otherwise(old: Message, fields: dict[str, bytes]) -> bool:
    if old.role != "assistant":
        return False
    return any(fields.get(key, b"null") not in (b"null", b'""') for key in SPEAKS_OTHERWISE)


def settled(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Mend what concerns more than one message."""
    history, hoisted = _hoisted(history)
    history, split = _split(history)
    return history, hoisted + split


def _hoisted(history: History) -> tuple[History, list[Fix]]:
    """Results hold only text: their media follow in a user message behind the last of them."""
    fixes: list[Fix] = []
    messages: list[Message] = []
    media: list[Part] = []
    for old in history.messages:
        if media and old.role != "tool":
            messages += carrying(media)
            media = []
        held = _media_in(old) if old.role == "tool" else []
        if not held:
            messages.append(old)
            continue
        [given] = old.parts
        media += [user_text(MEDIA_OF.format(name=given.name or given.call_id)), *held]
        messages.append(_only_text(old))
        what = f"{len(held)} parts that are no text follow in a message of the user's"
        fixes.append(Fix("hoisted", history.where(old), what, given.call_id))
    messages += carrying(media) if media else []
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _media_in(old: Message) -> list[Part]:
    [given] = old.parts
    if given.opening != b"[":
        return []
    blocks = [bytes(item) for item in items_of(given.value)]
    if any(block[:1] != b"{" for block in blocks):
        raise Unrepairable("a part of a result is no object")
    return [Part("media", block, "media") for block in blocks if not _is_text(block)]


def _only_text(old: Message) -> Message:
    content = old.parts[0].value
    blocks = [bytes(item) for item in items_of(content)]
    kept = [(place, block) for place, block in enumerate(blocks) if _is_text(block)]
    said = rebuilt_list(content, kept) if kept else json_text("(see the next message)")
    return message(replaced_fields(old.raw, {"content": said}), old.at)


def _is_text(block: bytes) -> bool:
    kind = fields_of(block).get("type", b"") if block[:1] == b"{" else b""
    return kind[:1] == b'"' and text_of(kind) == "text"


def _split(history: History) -> tuple[History, list[Fix]]:
    """More calls than one message may have become several messages, each with its results."""
    if all(len(old.parts) <= MOST_CALLS for old in history.messages):
        return history, []
    fixes: list[Fix] = []
    messages: list[Message] = []
    answers: dict[str, Message] = {}
    for number, old in enumerate(history.messages):
        calls = old.of_kind("call")
        if len(calls) <= MOST_CALLS:
            if not (old.role == "tool" and old.parts[0].call_id in answers):
                messages.append(old)
                answers = answers if old.role == "tool" else {}
            continue
        following = history.messages[number + 1 : number + 1 + len(calls)]
        answers = {m.parts[0].call_id: m for m in following if m.role == "tool"}
        messages += _in_batches(old, calls, answers)
        what = f"{len(calls)} calls in one message, at most {MOST_CALLS}: they are split"
        fixes.append(Fix("split", history.where(old), what))
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _in_batches(old: Message, calls: list[Part], answers: dict[str, Message]) -> list[Message]:
    said = [given for given in old.parts if given.kind != "call"]
    first = with_parts(old, [*said, *calls[:MOST_CALLS]])
    messages: list[Message] = []
    for start in range(0, len(calls), MOST_CALLS):
        batch = calls[start : start + MOST_CALLS]
        if start == 0:
            messages.append(first)
        else:
            # Made from the first of them: the whole message would be read for every batch.
            split = with_parts(first, [call.elsewhere() for call in batch])
            messages.append(msgspec.structs.replace(split, at=NEW))
        messages += [answers[call.call_id] for call in batch if call.call_id in answers]
    return messages
