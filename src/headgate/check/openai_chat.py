"""The rules of OpenAI Chat Completions, C1 to C8, as far as a request alone shows them.

C7 is no rule but an absence (there is no `is_error`). C9 belongs to servers that only speak this
dialect; what they refuse beyond C1 and C2 is not judged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headgate.check.body import Request
from headgate.check.violations import Violation, shown

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
LONGEST_ID = 40
MOST_CALLS = 128
MOST_TOOLS = 128
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

SPEAKS_WITHOUT_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
"""Any of these may stand in an assistant message in the place of its content."""


@dataclass(slots=True)
class _Batch:
    """The calls of one assistant message, and which of them were answered so far."""

    place: int
    calls: dict[str, str] = field(default_factory=dict)
    """Id to the place of the call."""
    answered: set[str] = field(default_factory=set)

    def missing(self) -> Iterator[Violation]:
        for id_, where in self.calls.items():
            if id_ not in self.answered:
                yield Violation("C1", where, f"no tool message for {shown(id_)} right after it")


def violations(request: Request, *, pending: bool) -> Iterator[Violation]:
    """Every rule that this request breaks."""
    if not request.items:
        yield Violation("C8", "messages", "there is no message")
    tools = request.fields.get("tools")
    if isinstance(tools, list) and len(tools) > MOST_TOOLS:
        yield Violation("C6", "tools", f"{len(tools)} tools, at most {MOST_TOOLS}")
    for place, item in enumerate(request.items):
        yield from _shape(item, f"messages[{place}]")
    yield from _pairs(request.items, pending=pending)


def _shape(item: object, where: str) -> Iterator[Violation]:
    if not isinstance(item, dict):
        yield Violation("C8", where, f"{shown(item)} is no message")
        return
    role = item.get("role")
    if role not in ROLES:
        yield Violation("C8", where, f"the role is {shown(role)}")
    elif role == "tool":
        yield from _tool_content(item, where)
    elif role == "assistant":
        yield from _assistant(item, where)
    elif role != "function":
        yield from _content(item.get("content"), where)


def _content(content: object, where: str) -> Iterator[Violation]:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        yield Violation("C4", where, f"the content is {shown(content)}, not text or parts")
        return
    for place, part in enumerate(content):
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            found = f"{shown(part)} is no part with a type"
            yield Violation("C4", f"{where}.content[{place}]", found)


def _tool_content(item: Mapping[str, object], where: str) -> Iterator[Violation]:
    content = item.get("content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        yield Violation("C3", where, f"the content is {shown(content)}, not text or text parts")
        return
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else part
        if kind != "text":
            found = f"{shown(kind)} where only text parts may stand"
            yield Violation("C3", f"{where}.content[{place}]", found)


def _assistant(item: Mapping[str, object], where: str) -> Iterator[Violation]:
    content, calls = item.get("content"), item.get("tool_calls")
    if content is not None:
        yield from _content(content, where)
    elif not any(item.get(key) for key in SPEAKS_WITHOUT_CONTENT):
        yield Violation("C4", where, "the content is null and there are no tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield Violation("C4", where, f"tool_calls is {'empty' if calls == [] else shown(calls)}")
        return
    if len(calls) > MOST_CALLS:
        yield Violation("C6", where, f"{len(calls)} tool_calls, at most {MOST_CALLS}")
    for place, call in enumerate(calls):
        yield from _call(call, f"{where}.tool_calls[{place}]")


def _call(call: object, where: str) -> Iterator[Violation]:
    if not isinstance(call, dict):
        yield Violation("C6", where, f"{shown(call)} is no call")
        return
    id_ = call.get("id")
    if not isinstance(id_, str) or not id_:
        yield Violation("C6", where, f"the id is {shown(id_)}")
    elif len(id_) > LONGEST_ID:
        yield Violation("C6", where, f"the id has {len(id_)} characters, at most {LONGEST_ID}")
    kind = "custom" if call.get("type") == "custom" else "function"
    said = call.get(kind)
    if not isinstance(said, dict):
        yield Violation("C5", where, f"{kind} is {shown(said)}")
        return
    name = said.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        found = f"the name is {shown(name)}, not 1 to 64 letters, digits, _ and -"
        yield Violation("C6", where, found)
    arguments = said.get("input" if kind == "custom" else "arguments")
    if not isinstance(arguments, str):
        yield Violation("C5", where, f"the arguments are {shown(arguments)}, not a string")


def _pairs(items: Sequence[object], *, pending: bool) -> Iterator[Violation]:
    """C1 and C2: the tool messages of a batch follow it at once, with nothing between them."""
    last = max((n for n, item in enumerate(items) if _role(item) == "assistant"), default=-1)
    batch: _Batch | None = None
    for place, item in enumerate(items):
        if _role(item) == "tool":
            yield from _answer(item, f"messages[{place}]", batch)
            continue
        if batch is not None and not (pending and batch.place == last):
            yield from batch.missing()
        batch = None
        if _role(item) == "assistant":
            batch = _Batch(place)
            yield from _open(item, batch)
    if batch is not None and not (pending and batch.place == last):
        yield from batch.missing()


def _open(item: object, batch: _Batch) -> Iterator[Violation]:
    calls = item.get("tool_calls") if isinstance(item, dict) else None
    for spot, call in enumerate(calls if isinstance(calls, list) else []):
        id_ = call.get("id") if isinstance(call, dict) else None
        if not isinstance(id_, str):
            continue
        where = f"messages[{batch.place}].tool_calls[{spot}]"
        if id_ in batch.calls:
            yield Violation("C1", where, f"the id {shown(id_)} is used twice in one message")
        batch.calls.setdefault(id_, where)


def _answer(item: object, where: str, batch: _Batch | None) -> Iterator[Violation]:
    id_ = item.get("tool_call_id") if isinstance(item, dict) else None
    if batch is None or not isinstance(id_, str) or id_ not in batch.calls:
        yield Violation("C2", where, f"no call {shown(id_)} in the assistant message before")
    elif id_ in batch.answered:
        yield Violation("C2", where, f"a second tool message for {shown(id_)}")
    else:
        batch.answered.add(id_)


def _role(item: object) -> object:
    return item.get("role") if isinstance(item, dict) else None
