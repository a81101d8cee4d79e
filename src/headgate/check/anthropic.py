"""The rules of Anthropic Messages, A1 to A23, as far as a request alone shows them.

Not decidable here, and left to the provider: A12 (bindings of thinking blocks), whether a
signature, an encrypted field or a compaction is the one that was given out (parts of A11, A13,
A18), that the latest assistant message was not edited (A11), sizes of images (A16), the minimum
prefix and the look-back of the cache (A17), tools added or removed on the way (A19), and threads
(A24). Rules that depend on the model hold where the request names one that is listed.

Consecutive messages of one role are one turn, as the provider merges them. The one exception is
A6: results of one turn split over several messages were answered with 400 by the provider at
times and by others always, so they are a violation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headgate.check.anthropic_blocks import (
    CONNECTOR,
    THINKING,
    Block,
    Message,
    block_violations,
    is_server_result,
)
from headgate.check.anthropic_request import request_violations
from headgate.check.body import Request
from headgate.check.violations import Violation, shown

MOST_MESSAGES = 100_000
ROLES = ("user", "assistant", "system")


@dataclass(frozen=True, slots=True)
class Turn:
    """Consecutive messages of one role; system messages stand beside the turns."""

    role: str
    messages: tuple[Message, ...]

    @property
    def blocks(self) -> Iterator[tuple[Message, Block]]:
        """Every block with the message it stands in."""
        return ((message, block) for message in self.messages for block in message.blocks)

    def blocks_of(self, *types: str) -> list[Block]:
        """The blocks of these types, in order."""
        return [block for _, block in self.blocks if block.type in types]


def violations(request: Request, *, pending: bool) -> Iterator[Violation]:
    """Every rule that this request breaks."""
    yield from _shape(request)
    messages = list(_messages(request.items))
    for message in messages:
        yield from block_violations(message)
    turns = _turns(messages)
    yield from _system_places(messages)
    yield from _empty_messages(messages)
    yield from _unique_ids(turns)
    yield from _pairs(turns, pending=pending)
    yield from _text_after_calls(turns)
    yield from _server_pairs(turns)
    yield from _fallbacks(messages)
    yield from request_violations(request, messages, pending=pending)


def _shape(request: Request) -> Iterator[Violation]:
    if not request.items:
        yield Violation("A1", "messages", "there is no message")
    if len(request.items) > MOST_MESSAGES:
        yield Violation("A1", "messages", f"{len(request.items):,} messages, at most 100,000")
    for place, item in enumerate(request.items):
        where = f"messages[{place}]"
        if not isinstance(item, dict):
            yield Violation("A1", where, f"{shown(item)} is no message")
            continue
        role, content = item.get("role"), item.get("content")
        if role not in ROLES:
            yield Violation("A1", where, f"the role is {shown(role)}, not user or assistant")
        if not isinstance(content, str | list):
            yield Violation("A1", where, f"the content is {shown(content)}, not text or blocks")
        elif isinstance(content, list):
            for spot, block in enumerate(content):
                if not isinstance(block, dict) or not isinstance(block.get("type"), str):
                    found = f"{shown(block)} is no block with a type"
                    yield Violation("A1", f"{where}.content[{spot}]", found)


def _messages(items: Sequence[object]) -> Iterator[Message]:
    for place, item in enumerate(items):
        if not isinstance(item, dict) or item.get("role") not in ROLES:
            continue
        content = item.get("content")
        if isinstance(content, str | list):
            blocks = tuple(_blocks(content, f"messages[{place}]"))
            yield Message(place, item["role"], blocks, bool(content) and not blocks)


def _blocks(content: str | list[object], where: str) -> Iterator[Block]:
    if isinstance(content, str):
        if content:
            yield Block(f"{where}.content", "text", {"type": "text", "text": content})
        return
    for place, block in enumerate(content):
        if isinstance(block, dict) and isinstance(block.get("type"), str):
            yield Block(f"{where}.content[{place}]", block["type"], block)


def _turns(messages: Sequence[Message]) -> list[Turn]:
    grouped: list[list[Message]] = []
    for message in messages:
        if message.role == "system":
            continue
        if grouped and grouped[-1][0].role == message.role:
            grouped[-1].append(message)
        else:
            grouped.append([message])
    return [Turn(group[0].role, tuple(group)) for group in grouped]


def _system_places(messages: Sequence[Message]) -> Iterator[Violation]:
    for before, message, after in zip(
        [None, *messages], messages, [*messages[1:], None], strict=False
    ):
        if message.role != "system":
            continue
        if before is None:
            yield Violation("A1", message.where, "a system message is the first message")
        elif before.role != "user" and not _ends_with_server_tool(before):
            yield Violation("A1", message.where, f"a system message follows {before.role}")
        if after is not None and after.role != "assistant":
            yield Violation("A1", message.where, f"a system message is followed by {after.role}")


def _ends_with_server_tool(message: Message) -> bool:
    if message.role != "assistant" or not message.blocks:
        return False
    last = message.blocks[-1].type
    return last in ("server_tool_use", "mcp_tool_use") or is_server_result(last)


def _empty_messages(messages: Sequence[Message]) -> Iterator[Violation]:
    for number, message in enumerate(messages, start=1):
        is_prefill = number == len(messages) and message.role == "assistant"
        if not message.blocks and not message.is_malformed and not is_prefill:
            yield Violation("A8", message.where, "the message has no content")


def _unique_ids(turns: Sequence[Turn]) -> Iterator[Violation]:
    seen: set[str] = set()
    for turn in turns:
        for block in turn.blocks_of("tool_use", "server_tool_use", "mcp_tool_use"):
            id_ = block.fields.get("id")
            if not isinstance(id_, str):
                continue
            if id_ in seen:
                yield Violation("A4", block.where, f"the id {shown(id_)} was used before")
            seen.add(id_)


def _pairs(turns: Sequence[Turn], *, pending: bool) -> Iterator[Violation]:
    """A2 to A6: the results of a turn's calls stand first in the one message that follows."""
    last_assistant = max(
        (n for n, turn in enumerate(turns) if turn.role == "assistant"), default=-1
    )
    for number, turn in enumerate(turns):
        if turn.role == "user":
            before = turns[number - 1] if number else None
            yield from _results(turn, before)
        elif not (pending and number == last_assistant):
            after = turns[number + 1] if number + 1 < len(turns) else None
            yield from _unanswered(turn, after)


def _unanswered(turn: Turn, after: Turn | None) -> Iterator[Violation]:
    answered = {
        block.fields.get("tool_use_id")
        for block in (after.blocks_of("tool_result") if after else ())
        if isinstance(block.fields.get("tool_use_id"), str)
    }
    for block in turn.blocks_of("tool_use"):
        id_ = block.fields.get("id")
        if isinstance(id_, str) and id_ not in answered:
            ended = "" if after else "; the history ends with the call"
            found = f"no tool_result for {shown(id_)} in the next message{ended}"
            yield Violation("A2", block.where, found)


def _results(turn: Turn, before: Turn | None) -> Iterator[Violation]:
    calls = {
        id_: block
        for block in (before.blocks_of("tool_use") if before else ())
        if isinstance(id_ := block.fields.get("id"), str)
    }
    answered: set[str] = set()
    first_message: Message | None = None
    other: Block | None = None
    for message, block in turn.blocks:
        if block.type != "tool_result":
            other = other or block
            continue
        id_ = block.fields.get("tool_use_id")
        if not isinstance(id_, str) or id_ not in calls:
            found = f"no tool_use {shown(id_)} in the message before"
            yield Violation("A3", block.where, found)
            continue
        yield from _echo(block, calls[id_])
        if id_ in answered:
            yield Violation("A4", block.where, f"a second result for {shown(id_)}")
        elif other is not None:
            yield Violation("A5", block.where, f"the result stands after {other.type}")
        elif first_message is not None and message is not first_message:
            found = f"the results of one message are split over {first_message.where} and this one"
            yield Violation("A6", block.where, found)
        answered.add(id_)
        first_message = first_message or message


def _echo(result: Block, call: Block) -> Iterator[Violation]:
    said, wanted = result.fields.get("toolset_name"), call.fields.get("toolset_name")
    if said != wanted:
        found = f"toolset_name is {shown(said)}, its call has {shown(wanted)}"
        yield Violation("A10", result.where, found)


def _text_after_calls(turns: Sequence[Turn]) -> Iterator[Violation]:
    """A5 in the assistant's message: text behind a call parts it from its result."""
    for turn in turns:
        if turn.role != "assistant":
            continue
        called = False
        for _, block in turn.blocks:
            if block.type == "text" and called:
                yield Violation("A5", block.where, "text stands after a tool_use")
                break
            called = called or block.type == "tool_use"


def _server_pairs(turns: Sequence[Turn]) -> Iterator[Violation]:
    """A13 and A14: calls that the provider runs have their results in assistant messages too.

    The last turn may end before its result came (`pause_turn`), and code that calls tools of the
    client waits for their results, so its own comes a turn later.
    """
    assistants = [turn for turn in turns if turn.role == "assistant"]
    waiting: dict[str, Block] = {}
    known: set[str] = set()
    for turn in assistants:
        for _, block in turn.blocks:
            if block.type in ("server_tool_use", "mcp_tool_use"):
                id_ = block.fields.get("id")
                if isinstance(id_, str) and id_:
                    waiting[id_] = block
                    known.add(id_)
                else:
                    yield _orphan(block, f"{block.type} has no id for its result to name")
            elif is_server_result(block.type):
                id_ = block.fields.get("tool_use_id")
                if not isinstance(id_, str) or id_ not in known:
                    yield _orphan(block, f"{block.type} for {shown(id_)} has no call before it")
                else:
                    waiting.pop(id_, None)
    excused = _still_running(turns, assistants)
    for id_, block in waiting.items():
        if id_ not in excused:
            yield _orphan(block, f"{block.type} {shown(id_)} has no result")


def _orphan(block: Block, found: str) -> Violation:
    return Violation("A14" if block.type in CONNECTOR else "A13", block.where, found)


def _still_running(turns: Sequence[Turn], assistants: Sequence[Turn]) -> set[str]:
    if not assistants:
        return set()
    if turns[-1] is assistants[-1]:
        running = turns[-1].blocks_of("server_tool_use", "mcp_tool_use")
        named = [block.fields.get("id") for block in running]
    else:
        callers = [block.fields.get("caller") for block in assistants[-1].blocks_of("tool_use")]
        named = [caller.get("tool_id") for caller in callers if isinstance(caller, dict)]
    return {id_ for id_ in named if isinstance(id_, str)}


def _fallbacks(messages: Sequence[Message]) -> Iterator[Violation]:
    """A23: what the first model began before the last fallback is not sent back."""
    for message in messages:
        marks = [n for n, block in enumerate(message.blocks) if block.type == "fallback"]
        for block in message.blocks[: marks[-1]] if marks else ():
            if block.type == "tool_use" or block.type in THINKING:
                yield Violation("A23", block.where, f"{block.type} stands before a fallback")
