"""The rules of OpenAI Responses, R1 to R10, as far as a request alone shows them.

What the provider stored is not in the request: with `previous_response_id`, `conversation` or an
`item_reference` a result may answer a call that is not here (R2 is then not judged), and a call
that waits there for its result is not seen (R1). Which reasoning item produced which call is known
to the provider only; R3 is judged where the request shows it: at the end of a history, in front of
something no model produced, and where a model that always reasons has no reasoning at all. R8
breaks nothing, it costs reasoning. Encrypted content is the provider's to verify (R4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from headgate.check.body import Request
from headgate.check.models import ALWAYS_REASONS, WANTS_CALLS_TOGETHER, is_exactly, is_one_of
from headgate.check.violations import Violation, shown

RESULT_OF = MappingProxyType(
    {
        "function_call": "function_call_output",
        "custom_tool_call": "custom_tool_call_output",
        "shell_call": "shell_call_output",
        "local_shell_call": "local_shell_call_output",
        "apply_patch_call": "apply_patch_call_output",
        "computer_call": "computer_call_output",
    }
)
"""Each kind of call that the client answers, with the kind of its result."""

CALL_OF = MappingProxyType({result: call for call, result in RESULT_OF.items()})

ID_STARTS = MappingProxyType(
    {"function_call": "fc", "custom_tool_call": "ctc", "message": "msg", "reasoning": "rs"}
)

PARTS = MappingProxyType(
    {
        "assistant": ("output_text", "refusal"),
        "user": ("input_text", "input_image", "input_file", "input_audio"),
        "system": ("input_text", "input_image", "input_file", "input_audio"),
        "developer": ("input_text", "input_image", "input_file", "input_audio"),
    }
)
"""The roles, with the parts a message of each may hold."""

RESULT_PARTS = ("input_text", "input_image", "input_file")
LONGEST_RESULT_CHARS = 10_485_760

GIVEN_OUT = re.compile(r"[a-z]+_[0-9a-f]{32,}")
"""What an id looks like that the provider made; others it never saw, and looks up nowhere."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the input; a message may come without its type."""

    place: int
    type: str
    fields: Mapping[str, object]

    @property
    def where(self) -> str:
        """The name of the item in a violation."""
        return f"input[{self.place}]"

    @property
    def id(self) -> str | None:
        """The id the provider gave the item."""
        id_ = self.fields.get("id")
        return id_ if isinstance(id_, str) else None

    @property
    def call_id(self) -> str | None:
        """What a call and its result share."""
        id_ = self.fields.get("call_id")
        if id_ is None and self.type == "local_shell_call_output":
            id_ = self.fields.get("id")
        return id_ if isinstance(id_, str) else None

    @property
    def is_by_model(self) -> bool:
        """Whether a model produced it, as far as the type tells."""
        if self.type == "message":
            return self.fields.get("role") == "assistant"
        return self.type == "reasoning" or self.type.endswith(("_call", "_tools", "_request"))


def violations(request: Request, *, pending: bool) -> Iterator[Violation]:
    """Every rule that this request breaks."""
    for place, item in enumerate(request.items):
        if not isinstance(item, dict) or not _type_of(item):
            found = f"{shown(item)} is no item with a type or a role"
            yield Violation("R7", f"input[{place}]", found)
    items = [
        Item(place, kind, item)
        for place, item in enumerate(request.items)
        if isinstance(item, dict) and (kind := _type_of(item))
    ]
    for item in items:
        yield from _shape(item)
    yield from _pairs(request, items, pending=pending)
    yield from _ids(request, items)
    yield from _reasoning(request, items)
    yield from _missing_reasoning(request, items)
    yield from _approvals(request, items)
    if is_one_of(request.model, WANTS_CALLS_TOGETHER):
        yield from _calls_apart(items)


def _type_of(item: Mapping[str, object]) -> str:
    kind = item.get("type", "message" if "role" in item else "")
    return kind if isinstance(kind, str) else ""


def _shape(item: Item) -> Iterator[Violation]:
    if item.type in CALL_OF and not item.call_id:
        found = f"the call_id is {shown(item.fields.get('call_id'))}"
        yield Violation("R2", item.where, found)
    if item.id is None and item.fields.get("id") is not None:
        yield Violation("R5", item.where, f"the id is {shown(item.fields['id'])}")
    if item.type == "message":
        yield from _message(item)
    elif item.type in RESULT_OF:
        yield from _call(item)
    elif item.type in ("function_call_output", "custom_tool_call_output"):
        yield from _result(item)
    elif item.type == "reasoning":
        yield from _reasoning_shape(item)


def _message(item: Item) -> Iterator[Violation]:
    role, content = item.fields.get("role"), item.fields.get("content")
    if not isinstance(role, str) or role not in PARTS:
        yield Violation("R7", item.where, f"the role is {shown(role)}")
        return
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        yield Violation("R7", item.where, f"the content is {shown(content)}, not text or parts")
        return
    for place, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else part
        if kind not in PARTS[role]:
            found = f"{shown(kind)} in a message of {role}"
            yield Violation("R7", f"{item.where}.content[{place}]", found)


def _call(item: Item) -> Iterator[Violation]:
    if not item.call_id:
        found = f"the call_id is {shown(item.fields.get('call_id'))}"
        yield Violation("R1", item.where, found)
    wanted = {"function_call": ("name", "arguments"), "custom_tool_call": ("name", "input")}
    for key in wanted.get(item.type, ()):
        if not isinstance(item.fields.get(key), str):
            yield Violation("R7", item.where, f"{key} is {shown(item.fields.get(key))}")


def _result(item: Item) -> Iterator[Violation]:
    output = item.fields.get("output")
    if isinstance(output, str):
        if len(output) > LONGEST_RESULT_CHARS:
            found = f"the output has {len(output):,} characters, at most {LONGEST_RESULT_CHARS:,}"
            yield Violation("R6", item.where, found)
        return
    if not isinstance(output, list):
        yield Violation("R6", item.where, f"the output is {shown(output)}, not text or parts")
        return
    for place, part in enumerate(output):
        kind = part.get("type") if isinstance(part, dict) else part
        if kind not in RESULT_PARTS:
            yield Violation("R6", f"{item.where}.output[{place}]", f"{shown(kind)} in a result")


def _reasoning_shape(item: Item) -> Iterator[Violation]:
    summary = item.fields.get("summary")
    if not isinstance(summary, list):
        yield Violation("R4", item.where, f"the summary is {shown(summary)}, not an array")
    encrypted = item.fields.get("encrypted_content")
    if encrypted is not None and not isinstance(encrypted, str):
        yield Violation("R4", item.where, f"encrypted_content is {shown(encrypted)}")


def _pairs(request: Request, items: Sequence[Item], *, pending: bool) -> Iterator[Violation]:
    """R1 and R2, by position: a call_id that comes back after its result is a new call."""
    waiting: dict[str, Item] = {}
    done: set[str] = set()
    has_state = _has_state(request, items)
    for item in items:
        id_ = item.call_id
        if id_ is None:
            continue
        if item.type in RESULT_OF:
            if id_ in waiting:
                found = f"the call_id {shown(id_)} is taken by {waiting[id_].where}"
                yield Violation("R1", item.where, found)
            waiting[id_] = item
        elif item.type in CALL_OF:
            call = waiting.get(id_)
            if call is not None and call.type == CALL_OF[item.type]:
                del waiting[id_]
                done.add(id_)
            elif id_ in done:
                yield Violation("R1", item.where, f"a second {item.type} for {shown(id_)}")
            elif call is not None or not has_state:
                found = f"no {CALL_OF[item.type]} with call_id {shown(id_)} before it"
                yield Violation("R2", item.where, found)
    excused = _last_step(items) if pending else frozenset()
    for id_, call in waiting.items():
        if call.place not in excused:
            yield Violation("R1", call.where, f"no {RESULT_OF[call.type]} for {shown(id_)}")


def _has_state(request: Request, items: Sequence[Item]) -> bool:
    """Whether the provider remembers items that are not in the request."""
    stored = request.fields.get("previous_response_id") or request.fields.get("conversation")
    return bool(stored) or any(item.type == "item_reference" for item in items)


def _last_step(items: Sequence[Item]) -> frozenset[int]:
    """The places of what the model produced last, behind which only results stand."""
    end = len(items)
    while end and items[end - 1].type in CALL_OF:
        end -= 1
    start = end
    while start and items[start - 1].is_by_model:
        start -= 1
    return frozenset(item.place for item in items[start:end])


def _ids(request: Request, items: Sequence[Item]) -> Iterator[Violation]:
    seen: set[str] = set()
    is_continued = bool(request.fields.get("previous_response_id"))
    for item in items:
        if item.id is None or item.type == "item_reference":
            continue
        start = ID_STARTS.get(item.type)
        if start is not None and item.is_by_model and not item.id.startswith(start):
            found = f"the id {shown(item.id)} does not begin with {start!r}"
            yield Violation("R5", item.where, found)
        if item.id in seen:
            yield Violation("R5", item.where, f"a second item with the id {shown(item.id)}")
        elif is_continued and item.type in RESULT_OF:
            found = f"{shown(item.id)} is sent again beside previous_response_id, which holds it"
            yield Violation("R5", item.where, found)
        seen.add(item.id)


def _reasoning(request: Request, items: Sequence[Item]) -> Iterator[Violation]:
    """R3 forwards: a reasoning item the provider knows stands before the item it produced."""
    is_stored = not request.is_bare and request.fields.get("store") is not False
    for item, after in zip(items, [*items[1:], None], strict=False):
        if item.type != "reasoning" or item.id is None:
            continue
        encrypted = bool(item.fields.get("encrypted_content"))
        if after is None:
            found = f"reasoning {shown(item.id)} without the item that follows it"
            yield Violation("R3", item.where, found)
        elif (is_stored or not encrypted) and not after.is_by_model:
            found = f"reasoning {shown(item.id)} is followed by {after.type}, not by what it made"
            yield Violation("R3", item.where, found)
        elif is_stored and GIVEN_OUT.fullmatch(item.id) and after.id is None:
            found = f"reasoning {shown(item.id)} is followed by {after.type} without its id"
            yield Violation("R3", item.where, found)
        if request.fields.get("store") is False and GIVEN_OUT.fullmatch(item.id) and not encrypted:
            found = f"reasoning {shown(item.id)} is not stored and has no encrypted_content"
            yield Violation("R4", item.where, found)


def _missing_reasoning(request: Request, items: Sequence[Item]) -> Iterator[Violation]:
    """R3 backwards: the first call of a model that always reasons has reasoning before it."""
    if not _surely_reasons(request) or _has_state(request, items):
        return
    for item in items:
        if item.type in ("reasoning", "compaction"):
            return
        if item.type == "function_call" and item.id and GIVEN_OUT.fullmatch(item.id):
            found = f"function_call {shown(item.id)} without the reasoning it came from"
            yield Violation("R3", item.where, found)
            return


def _surely_reasons(request: Request) -> bool:
    """Whether the model never calls without reasoning; an effort alone does not make it so."""
    config = request.fields.get("reasoning")
    effort = config.get("effort") if isinstance(config, dict) else None
    return effort not in ("none", "minimal") and is_exactly(request.model, ALWAYS_REASONS)


def _approvals(request: Request, items: Sequence[Item]) -> Iterator[Violation]:
    asked = {item.id for item in items if item.type == "mcp_approval_request"}
    if _has_state(request, items):
        return
    for item in items:
        id_ = item.fields.get("approval_request_id")
        if item.type == "mcp_approval_response" and not (isinstance(id_, str) and id_ in asked):
            yield Violation("R9", item.where, f"no mcp_approval_request {shown(id_)} before it")


def _calls_apart(items: Sequence[Item]) -> Iterator[Violation]:
    """R10, of servers that want the calls of one step side by side."""
    waiting: set[str] = set()
    between: Item | None = None
    for item in items:
        if item.type in RESULT_OF and item.call_id:
            if waiting and between is not None:
                found = f"the call is parted from the one before by {between.where}"
                yield Violation("R10", item.where, found)
            waiting.add(item.call_id)
            between = None
        elif item.type in CALL_OF:
            waiting.discard(item.call_id or "")
        elif item.type == "message":
            between = item
