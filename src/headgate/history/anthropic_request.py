"""What only Anthropic refuses in a request as a whole: order, server tools, tail, marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from headgate.dialects.anthropic import carrying, message, part, user_text, with_parts
from headgate.dialects.history import History, Message, Part
from headgate.dialects.spans import fields_of, json_text, replaced_fields, text_of
from headgate.history.lasting import in_order
from headgate.history.marks import within_marks
from headgate.history.report import Case, Fix, Unrepairable

REFUSES_TAIL = (
    *("claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-4-6"),
    *("claude-opus-5", "claude-sonnet-5", "claude-haiku-5", "claude-fable-5", "claude-mythos"),
)
"""Models, by how their names begin, that refuse a history that ends with the assistant."""

GO_ON = "Continue."
"""What the user says at the end of a history that may not end with the assistant."""

Step = Callable[[History, Case], tuple[History, list[Fix]]]


def settled(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Mend what concerns more than one message."""
    fixes: list[Fix] = []
    for step in _STEPS:
        history, done = step(history, case)
        fixes += done
    return history, fixes


def _calls_last(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Text behind a call parts it from its result: in each turn, calls come last."""
    messages: list[Message] = []
    fixes: list[Fix] = []
    for role, group in groupby(history.messages, key=lambda message_: message_.role):
        run = list(group)
        if role != "assistant" or not _text_after_call(run):
            messages += run
            continue
        if any(message_.has_thinking for message_ in run):
            raise Unrepairable("text stands behind a call beside thinking")
        parts = [given for message_ in run for given in message_.parts]
        said = [given for given in parts if given.kind != "call"]
        calls = [given for given in parts if given.kind == "call"]
        if len(run) > 1:
            said, calls = [given.elsewhere() for given in said], [c.elsewhere() for c in calls]
        messages.append(with_parts(run[0], [*said, *calls]))
        what = "text behind a call is put before it"
        fixes.append(Fix("moved", history.where(run[0]), what))
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _text_after_call(run: Sequence[Message]) -> bool:
    called = False
    for message_ in run:
        for given in message_.parts:
            if called and given.kind == "text":
                return True
            called = called or given.kind == "call"
    return False


def _server_pairs(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Halves of what the provider's own tools did are refused, but for one that still runs."""
    halves = _halves(history)
    if not halves:
        return history, []
    fixes: list[Fix] = []
    messages = list(history.messages)
    for number, places in halves.items():
        old = messages[number]
        thinking = [place for place, given in enumerate(old.parts) if given.kind == "thinking"]
        if thinking and min(places) < max(thinking):
            raise Unrepairable("half of a server tool's pair stands before thinking")
        for place in sorted(places):
            given = old.parts[place]
            what = f"{given.wire} without its other half is taken out"
            fixes.append(Fix("server", history.where(old), what, given.call_id))
        kept = [given for place, given in enumerate(old.parts) if place not in places]
        messages[number] = with_parts(old, kept)
    return history.with_messages(tuple(messages)), fixes


def _halves(history: History) -> dict[int, set[int]]:
    """Where calls of server tools stand without result, results without call, and copies.

    A half without an id has no other, and none can be made up: the ids are the provider's.
    """
    halves: dict[int, set[int]] = {}
    waiting: dict[str, tuple[int, int]] = {}
    known: set[str] = set()
    copied: set[str] = set()
    for number, place, given in _server_parts(history):
        if not given.call_id:
            halves.setdefault(number, set()).add(place)
        elif given.kind == "server_call" and given.call_id not in known:
            waiting[given.call_id] = (number, place)
            known.add(given.call_id)
        elif given.kind == "server_call":
            copied.add(given.call_id)
            halves.setdefault(number, set()).add(place)
        elif given.call_id in waiting:
            del waiting[given.call_id]
        elif given.call_id not in known or given.call_id in copied:
            halves.setdefault(number, set()).add(place)
    running = _still_running(history) if waiting else set()
    for call_id, (number, place) in waiting.items():
        if call_id not in running:
            halves.setdefault(number, set()).add(place)
    return halves


def _server_parts(history: History) -> Iterator[tuple[int, int, Part]]:
    for number, message_ in enumerate(history.messages):
        if message_.role != "assistant":
            continue
        for place, given in enumerate(message_.parts):
            if given.kind in ("server_call", "server_result"):
                yield number, place, given


def _still_running(history: History) -> set[str]:
    """Server tools that the last turn of the assistant waits for, itself or through its calls."""
    turns = [message_ for message_ in history.messages if message_.role != "system"]
    end = len(turns)
    while end and turns[end - 1].role != "assistant":
        end -= 1
    start = end
    while start and turns[start - 1].role == "assistant":
        start -= 1
    last = turns[start:end]
    if end == len(turns):
        return {given.call_id for message_ in last for given in message_.of_kind("server_call")}
    return {_caller_of(call) for message_ in last for call in message_.of_kind("call")}


def _caller_of(call: Part) -> str:
    """The server tool whose code made a call."""
    caller = fields_of(call.raw).get("caller", b"") if b'"caller"' in call.raw else b""
    tool = fields_of(caller).get("tool_id", b"") if caller[:1] == b"{" else b""
    return text_of(tool) if tool[:1] == b'"' else ""


def _trimmed_tail(history: History, case: Case) -> tuple[History, list[Fix]]:
    """What the assistant is to go on from may not end in white space."""
    last = history.messages[-1] if history.messages else None
    given = last.parts[-1] if last and last.role == "assistant" and last.parts else None
    if last is None or given is None or given.kind != "text" or given.opening != b'"':
        return history, []
    text = text_of(given.value)
    if text == text.rstrip():
        return history, []
    if last.has_thinking:
        raise Unrepairable("the last text of the assistant, beside thinking, ends in white space")
    trimmed = json_text(text.rstrip())
    if given.wire:
        ending = part(replaced_fields(given.raw, {"text": trimmed}), given.at)
        mended = with_parts(last, [*last.parts[:-1], ending])
    else:
        mended = message(replaced_fields(last.raw, {"content": trimmed}), last.at)
    what = "white space at the end of the assistant's last text is taken out"
    return history.with_messages((*history.messages[:-1], mended)), [
        Fix("blank", history.where(last), what)
    ]


def _user_at_the_end(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Newer models refuse to go on from the assistant's own words."""
    last = history.messages[-1] if history.messages else None
    if last is None or last.role != "assistant" or not _refuses_tail(history.model):
        return history, []
    waits = case.pending and last.of_kind("call")
    if waits or last.of_kind("server_call", "server_result"):
        return history, []
    what = f"{history.model} wants the user to speak last: {GO_ON!r} is put at the end"
    said = carrying([user_text(GO_ON)])
    return history.with_messages((*history.messages, *said)), [
        Fix("tail", history.where(last), what)
    ]


def _refuses_tail(model: str) -> bool:
    name = model.lower().rpartition("/")[2].replace(".", "-")
    start = name.find("claude-")
    return start >= 0 and name[start:].startswith(REFUSES_TAIL)


def _thinking_matches(history: History, case: Case) -> tuple[History, list[Fix]]:
    """With thinking on, a turn that is under way begins with it; lost, it is switched off."""
    setting = history.settings.get("thinking", b"")
    if setting[:1] != b"{" or fields_of(setting).get("type") != b'"enabled"':
        return history, []
    opening = _opening(history.messages)
    if opening is None or opening.kind not in ("text", "call"):
        return history, []
    what = "the turn under way began without thinking; it is switched off for this request"
    return history.with_setting("thinking", b'{"type":"disabled"}'), [
        Fix("thinking", "thinking", what)
    ]


def _opening(messages: Sequence[Message]) -> Part | None:
    """The first part of the turn whose tools have just answered."""
    dialogue = [message_ for message_ in messages if message_.role != "system"]
    if not dialogue or not _answers(dialogue[-1]):
        return None
    opening: Message | None = None
    for message_ in reversed(dialogue):
        if message_.role == "assistant":
            opening = message_
        elif not _answers(message_):
            break
    return opening.parts[0] if opening is not None and opening.parts else None


def _answers(message_: Message) -> bool:
    return message_.role == "user" and any(given.kind == "result" for given in message_.parts)


_STEPS: tuple[Step, ...] = (
    _calls_last,
    _server_pairs,
    _trimmed_tail,
    _user_at_the_end,
    _thinking_matches,
    within_marks,
    in_order,
)
