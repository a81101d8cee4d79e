"""Histories for properties: valid ones in every dialect, drawn from one script, and broken ones.

A script is what happened, without a wire format: the user speaks, the assistant thinks, says
something and calls tools, the tools answer. Each dialect writes it down in its own way.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

DIALECTS = ("anthropic", "openai-chat", "openai-responses", "gemini")

KEYS = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}

PIXEL = "iVBORw0KGgo="

Item = dict[str, Any]


@dataclass(frozen=True)
class Call:
    id: str
    tool: str
    arguments: dict[str, Any]
    said: str
    is_error: bool = False
    has_image: bool = False
    in_blocks: bool = False


@dataclass(frozen=True)
class Step:
    """One time the assistant speaks, and what its tools answer."""

    text: str = ""
    thinking: str = ""
    searched: bool = False
    calls: tuple[Call, ...] = ()
    order: tuple[int, ...] = ()
    """In which order the results stand."""
    remark: str = ""
    """What the user says with the results."""


@dataclass(frozen=True)
class Turn:
    user: str
    steps: tuple[Step, ...]


Script = tuple[Turn, ...]

WORDS = st.text(alphabet='ab é漢\n😀"\\', min_size=1, max_size=12).filter(lambda t: bool(t.strip()))
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "cache_control", "ä"]),
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    max_size=2,
)


@st.composite
def scripts(draw: st.DrawFn, *, thinking: bool = True, reuse_ids: bool = False) -> Script:
    """Scripts of a few turns; `reuse_ids`: the ids of calls start anew with every step."""
    turns = []
    used = 0
    for _ in range(draw(st.integers(1, 3))):
        steps = []
        for _ in range(draw(st.integers(0, 3))):
            count = draw(st.sampled_from([0, 1, 1, 2, 3]))
            start = 0 if reuse_ids else used
            calls = tuple(_call(draw, f"call_{start + number}") for number in range(count))
            used += count
            steps.append(
                Step(
                    text=draw(st.just("") | WORDS) if calls else draw(WORDS),
                    thinking=draw(st.just("") | WORDS) if thinking else "",
                    searched=draw(st.booleans()) if thinking else False,
                    calls=calls,
                    order=tuple(draw(st.permutations(range(count)))),
                    remark=draw(st.just("") | WORDS),
                )
            )
            if not calls:
                break
        turns.append(Turn(draw(WORDS), tuple(steps)))
    return tuple(turns)


def _call(draw: st.DrawFn, id_: str) -> Call:
    return Call(
        id_,
        draw(st.sampled_from(["grep", "read", "run"])),
        draw(ARGUMENTS),
        draw(WORDS),
        is_error=draw(st.booleans()),
        has_image=draw(st.integers(0, 4)) == 0,
        in_blocks=draw(st.booleans()),
    )


def render(script: Script, dialect: str) -> list[Item]:
    """A script as the array that a provider takes."""
    return RENDERERS[dialect](script)


def _anthropic(script: Script) -> list[Item]:
    out: list[Item] = []
    for turn in script:
        out.append({"role": "user", "content": turn.user})
        for number, step in enumerate(turn.steps):
            out.append({"role": "assistant", "content": _anthropic_blocks(step, len(out), number)})
            if step.calls:
                results = [_anthropic_result(step.calls[place]) for place in step.order]
                remark = [{"type": "text", "text": step.remark}] if step.remark else []
                out.append({"role": "user", "content": results + remark})
    return out


def _anthropic_blocks(step: Step, place: int, number: int) -> list[Item]:
    blocks: list[Item] = []
    if step.thinking:
        blocks.append({"type": "thinking", "thinking": step.thinking, "signature": "c2ln"})
    if step.searched:
        id_ = f"srvtoolu_{place}_{number}"
        blocks += [
            {"type": "server_tool_use", "id": id_, "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": id_, "content": []},
        ]
    if step.text:
        blocks.append({"type": "text", "text": step.text.rstrip(), "x_unknown": 1.0})
    for call in step.calls:
        use = {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
        blocks.append(use)
    return blocks


def _anthropic_result(call: Call) -> Item:
    content: Any = call.said
    if call.in_blocks or call.has_image:
        content = [{"type": "text", "text": call.said}]
    if call.has_image and not call.is_error:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content.append({"type": "image", "source": source})
    result = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return {**result, "is_error": True} if call.is_error else result


def _openai_chat(script: Script) -> list[Item]:
    out: list[Item] = [{"role": "system", "content": "be brief"}]
    for turn in script:
        out.append({"role": "user", "content": [{"type": "text", "text": turn.user}]})
        for step in turn.steps:
            said: Item = {"role": "assistant", "content": step.text or None}
            if step.thinking:
                said["reasoning_content"] = step.thinking
            if step.calls:
                said["tool_calls"] = [_chat_call(call) for call in step.calls]
            out.append(said)
            out += [_chat_result(step.calls[place]) for place in step.order]
            if step.calls and step.remark:
                out.append({"role": "user", "content": step.remark})
    return out


def _chat_call(call: Call) -> Item:
    # What a model writes there is a string, and not always JSON.
    arguments = json.dumps(call.arguments)[: None if call.in_blocks else 5]
    function = {"name": call.tool, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _chat_result(call: Call) -> Item:
    content: Any = [{"type": "text", "text": call.said}] if call.in_blocks else call.said
    return {"role": "tool", "tool_call_id": call.id, "content": content, "x_unknown": [1.0]}


def _openai_responses(script: Script) -> list[Item]:
    out: list[Item] = []
    for turn in script:
        out.append({"role": "user", "content": [{"type": "input_text", "text": turn.user}]})
        for step in turn.steps:
            if step.thinking:
                id_ = f"rs_{len(out)}"
                out.append({"type": "reasoning", "id": id_, "summary": [], "phase": step.thinking})
            if step.searched:
                out.append(
                    {"type": "web_search_call", "id": f"ws_{len(out)}", "status": "completed"}
                )
            if step.text or not step.calls:
                text = {"type": "output_text", "text": step.text, "annotations": []}
                out.append({"type": "message", "role": "assistant", "content": [text]})
            out += [_responses_call(call) for call in step.calls]
            out += [_responses_result(step.calls[place]) for place in step.order]
            if step.calls and step.remark:
                out.append({"role": "user", "content": step.remark})
    return out


def _responses_call(call: Call) -> Item:
    arguments = json.dumps(call.arguments)
    if call.tool == "run":
        return {"type": "custom_tool_call", "call_id": call.id, "name": "run", "input": arguments}
    return {"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": arguments}


def _responses_result(call: Call) -> Item:
    output: Any = call.said
    if call.in_blocks or call.has_image:
        output = [{"type": "input_text", "text": call.said}]
    if call.has_image:
        output.append({"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"})
    kind = "custom_tool_call_output" if call.tool == "run" else "function_call_output"
    return {"type": kind, "call_id": call.id, "output": output}


def _gemini(script: Script) -> list[Item]:
    out: list[Item] = []
    for turn in script:
        _gemini_turn(out, "user", [{"text": turn.user}])
        for step in turn.steps:
            parts: list[Item] = []
            if step.thinking:
                parts.append({"text": step.thinking, "thought": True})
            if step.text or not step.calls:
                parts.append({"text": step.text, "xUnknown": 1.0})
            parts += [_gemini_call(call) for call in step.calls]
            _gemini_turn(out, "model", parts)
            if step.calls:
                answers = [_gemini_result(call) for call in step.calls]
                remark = [{"text": step.remark}] if step.remark else []
                _gemini_turn(out, "user", answers + remark)
    return out


def _gemini_turn(out: list[Item], role: str, parts: list[Item]) -> None:
    if out and out[-1]["role"] == role:
        out[-1]["parts"] += parts
    else:
        out.append({"role": role, "parts": parts})


def _gemini_call(call: Call) -> Item:
    said = {"name": call.tool, "args": call.arguments}
    return {"functionCall": {**said, "id": call.id} if call.in_blocks else said}


def _gemini_result(call: Call) -> Item:
    response = {"error": call.said} if call.is_error else {"output": call.said, "n": 1.0}
    said = {"name": call.tool, "response": response}
    return {"functionResponse": {**said, "id": call.id} if call.in_blocks else said}


RENDERERS: dict[str, Callable[[Script], list[Item]]] = {
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
}

STYLES: list[dict[str, Any]] = [
    {"separators": (",", ":"), "ensure_ascii": False},
    {"ensure_ascii": True},
    {"indent": 2, "ensure_ascii": False},
    {"indent": "\t"},
]
"""The ways clients write JSON."""


@st.composite
def written(draw: st.DrawFn, items: list[Item], dialect: str) -> bytes:
    """The array as bytes, bare or in a body."""
    value: Any = items
    if draw(st.booleans()):
        value = {"stream": True, KEYS[dialect]: items, "x_unknown": {"a": [1.0, 1e2]}}
    text = json.dumps(value, **draw(st.sampled_from(STYLES)))
    return (text + draw(st.sampled_from(["", "\n", " \r\n"]))).encode()


INNER = {"anthropic": "content", "openai-chat": "tool_calls", "gemini": "parts"}
"""The list inside of a message whose blocks can be broken too."""


@st.composite
def broken(draw: st.DrawFn, items: list[Item], dialect: str) -> list[Item]:
    """The array after a few accidents: things lost, doubled, moved, cut off."""
    items = copy.deepcopy(items)
    for _ in range(draw(st.integers(1, 3))):
        inner = [item.get(INNER[dialect]) for item in items] if dialect in INNER else []
        lists = [items, *(held for held in inner if isinstance(held, list))]
        _accident(draw, draw(st.sampled_from(lists)))
    return items


def _accident(draw: st.DrawFn, target: list[Any]) -> None:
    kind = draw(st.sampled_from(["lose", "double", "move", "cut head", "cut tail", "swap"]))
    if not target:
        return
    place = draw(st.integers(0, len(target) - 1))
    other = draw(st.integers(0, len(target) - 1))
    if kind == "lose" and len(target) > 1:
        del target[place]
    elif kind == "double":
        target.insert(other, copy.deepcopy(target[place]))
    elif kind == "move":
        target.insert(other, target.pop(place))
    elif kind == "cut head":
        del target[:place]
    elif kind == "cut tail":
        del target[place + 1 :]
    elif kind == "swap":
        target[place], target[other] = target[other], target[place]
