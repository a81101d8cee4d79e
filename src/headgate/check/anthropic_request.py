"""The rules of Anthropic Messages that look at the whole request: tail, thinking, cache, tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.check.anthropic_blocks import (
    NO_WIDTH,
    THINKING,
    Block,
    Message,
    is_server_result,
)
from headgate.check.body import Request
from headgate.check.models import REFUSES_FORCED_TOOL, REFUSES_PREFILL, is_one_of
from headgate.check.violations import Violation, shown

MOST_CACHE_MARKS = 4

TIMES_TO_LIVE = ("1h", "5m")
"""The longer must come before the shorter."""

MID_COMPACTION = "compact_20260112"
"""The edit under which a compaction block may stand anywhere: all before it is dropped."""


def request_violations(
    request: Request, messages: Sequence[Message], *, pending: bool
) -> Iterator[Violation]:
    """What is wrong with the request as a whole."""
    yield from _system(request)
    yield from _tail(request, messages, pending=pending)
    yield from _thinking(request, messages)
    yield from _forced_tool(request)
    yield from _tools(request, messages)
    yield from _citations(messages)
    yield from _compactions(request, messages)
    yield from _cache_marks(request, messages)


def _system(request: Request) -> Iterator[Violation]:
    for block in _blocks_of(request, "system"):
        text = block.fields.get("text")
        says = isinstance(text, str) and bool(text.replace(NO_WIDTH, "").strip())
        if block.type == "text" and not says:
            yield Violation("A8", block.where, f"text is {shown(text)}")


def _tail(request: Request, messages: Sequence[Message], *, pending: bool) -> Iterator[Violation]:
    if not messages or messages[-1].role != "assistant":
        return
    last = messages[-1]
    types = {block.type for block in last.blocks}
    if pending and "tool_use" in types:
        return
    text = last.blocks[-1].fields.get("text") if last.blocks else ""
    if isinstance(text, str) and text != text.rstrip() and text.strip():
        yield Violation("A8", last.blocks[-1].where, "the last assistant text ends in white space")
    paused = any(kind.endswith("server_tool_use") or is_server_result(kind) for kind in types)
    if is_one_of(request.model, REFUSES_PREFILL) and not paused and "mcp_tool_use" not in types:
        found = f"the history ends with an assistant message, which {request.model} refuses"
        yield Violation("A20", last.where, found)


def _thinking(request: Request, messages: Sequence[Message]) -> Iterator[Violation]:
    config = request.fields.get("thinking")
    kind = config.get("type") if isinstance(config, dict) else None
    if kind == "disabled" and messages and messages[-1].role == "assistant":
        for block in messages[-1].blocks:
            if block.type in THINKING:
                found = f"{block.type} in the last message while thinking is disabled"
                yield Violation("A11", block.where, found)
    opening = _opening_of_the_tool_loop(messages) if kind == "enabled" else None
    if opening is not None and opening.type in ("text", "tool_use"):
        found = f"the turn starts with {opening.type} while thinking is enabled"
        yield Violation("A11", opening.where, found)


def _opening_of_the_tool_loop(messages: Sequence[Message]) -> Block | None:
    """The first block the assistant said in the turn whose tools have just answered."""
    dialogue = [message for message in messages if message.role != "system"]
    if not dialogue or not _only_results(dialogue[-1]):
        return None
    opening = None
    for message in reversed(dialogue):
        if message.role == "assistant":
            opening = message
        elif not _only_results(message):
            break
    return opening.blocks[0] if opening is not None and opening.blocks else None


def _only_results(message: Message) -> bool:
    return message.role == "user" and any(block.type == "tool_result" for block in message.blocks)


def _forced_tool(request: Request) -> Iterator[Violation]:
    choice = request.fields.get("tool_choice")
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind in ("any", "tool") and is_one_of(request.model, REFUSES_FORCED_TOOL):
        yield Violation("A21", "tool_choice", f"{shown(kind)} is refused by {request.model}")


def _tools(request: Request, messages: Sequence[Message]) -> Iterator[Violation]:
    tools = request.fields.get("tools")
    used = next(
        (b for m in messages for b in m.blocks if b.type in ("tool_use", "tool_result")), None
    )
    if used is not None and _defines_no_tools(request):
        yield Violation("A19", "tools", f"no tool is defined, but {used.where} is a {used.type}")
    if not isinstance(tools, list):
        return
    seen: set[str] = set()
    for place, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            yield Violation("A19", f"tools[{place}]", f"a second tool is named {shown(name)}")
        seen.add(name)


def _defines_no_tools(request: Request) -> bool:
    """Whether tools are surely missing: an empty list, or a whole request that has none."""
    if request.fields.get("tools") == []:
        return True
    is_whole = "model" in request.fields and "max_tokens" in request.fields
    return is_whole and not request.fields.get("tools") and not request.fields.get("mcp_servers")


def _citations(messages: Sequence[Message]) -> Iterator[Violation]:
    """A15: the documents of a request are cited all or none."""
    first: bool | None = None
    for message in messages:
        for block in message.blocks:
            if block.type != "document":
                continue
            config = block.fields.get("citations")
            enabled = isinstance(config, dict) and config.get("enabled") is True
            if first is not None and enabled != first:
                found = "citations are enabled for some documents and not for others"
                yield Violation("A15", block.where, found)
                return
            first = enabled


def _compactions(request: Request, messages: Sequence[Message]) -> Iterator[Violation]:
    anywhere = _has_edit(request, MID_COMPACTION)
    opening = next((message.blocks[0] for message in messages if message.blocks), None)
    seen = False
    for message in messages:
        for block in message.blocks:
            if block.type != "compaction" or message.role == "system" or anywhere:
                continue
            if not block.fields.get("content"):
                continue
            if seen:
                yield Violation("A18", block.where, "a second compaction block with content")
            elif block is not opening:
                yield Violation("A18", block.where, "the compaction is not the first block")
            seen = True


def _has_edit(request: Request, name: str) -> bool:
    config = request.fields.get("context_management")
    edits = config.get("edits") if isinstance(config, dict) else None
    return isinstance(edits, list) and any(
        isinstance(edit, dict) and edit.get("type") == name for edit in edits
    )


@dataclass(frozen=True, slots=True)
class _Mark:
    where: str
    carrier: Mapping[str, object]
    mark: object

    @property
    def time_to_live(self) -> object:
        return self.mark.get("ttl", "5m") if isinstance(self.mark, dict) else None


def _cache_marks(request: Request, messages: Sequence[Message]) -> Iterator[Violation]:
    marks = [*_marks(request, messages)]
    shorter: _Mark | None = None
    for mark in marks:
        kind = mark.mark.get("type") if isinstance(mark.mark, dict) else None
        if kind != "ephemeral" or mark.time_to_live not in TIMES_TO_LIVE:
            yield Violation("A17", mark.where, "cache_control is not ephemeral for 5m or 1h")
        if mark.carrier.get("type") in THINKING:
            yield Violation("A17", mark.where, f"cache_control on {mark.carrier['type']}")
        if mark.carrier.get("type") == "text" and not mark.carrier.get("text"):
            yield Violation("A17", mark.where, "cache_control on an empty text")
        if mark.time_to_live == "1h" and shorter is not None:
            yield Violation("A17", mark.where, f"1h stands after 5m at {shorter.where}")
        if mark.time_to_live == "5m":
            shorter = shorter or mark
    for extra in marks[MOST_CACHE_MARKS:]:
        found = f"{len(marks)} blocks with cache_control, at most {MOST_CACHE_MARKS}"
        yield Violation("A17", extra.where, found)
        return


def _marks(request: Request, messages: Sequence[Message]) -> Iterator[_Mark]:
    """Every cache_control in the order the provider reads a request: tools, system, messages."""
    for key in ("tools", "system"):
        for block in _blocks_of(request, key):
            yield from _marks_on(block.fields, block.where)
    for message in messages:
        for block in message.blocks:
            yield from _marks_on(block.fields, block.where)
    top = request.fields.get("cache_control")
    if top is not None:
        yield _Mark("cache_control", {}, top)


def _blocks_of(request: Request, key: str) -> Iterator[Block]:
    blocks = request.fields.get(key)
    for place, block in enumerate(blocks if isinstance(blocks, list) else []):
        if isinstance(block, dict):
            yield Block(f"{key}[{place}]", str(block.get("type", "")), block)


def _marks_on(carrier: Mapping[str, object], where: str) -> Iterator[_Mark]:
    """The marks inside a result or document, then its own."""
    content = carrier.get("content")
    for place, block in enumerate(content if isinstance(content, list) else []):
        if isinstance(block, dict) and block.get("cache_control") is not None:
            yield _Mark(f"{where}.content[{place}]", block, block["cache_control"])
    if carrier.get("cache_control") is not None:
        yield _Mark(where, carrier, carrier["cache_control"])
