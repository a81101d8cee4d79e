"""One MCP tool result through the gate: a `CallToolResult` as bytes in, as bytes out.

What needs no change comes back as the very bytes. Images, audio, resource links and everything
unknown stay where they are; the text of all blocks is judged as one result, and so is
`structuredContent`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from headgate.gate import Gate
from headgate.judge import Desk
from headgate.marker import Marker
from headgate.mcp.form import FREE, Form
from headgate.mcp.pare import pare
from headgate.mcp.wire import array_of, encoded, fields_of, items_of, loaded, object_of
from headgate.shape.shaper import Room
from headgate.types import NOTHING, Block, Json, Media, Text, ToolResult, Verdict, join_texts

VERDICT_KEY = "headgate/verdict"
"""In `_meta` of a shortened result: for programs, not for the model."""

ELSEWHERE = "(shown in the first text of this result)"
"""Stands for the text of an embedded resource that was judged together with the others."""


@dataclass(frozen=True, slots=True)
class McpCall:
    """A `tools/call` that was made: whose result comes back, and what its schema wants of it."""

    call_id: str
    tool: str
    arguments: Mapping[str, object] = field(default_factory=lambda: NOTHING)
    form: Form = FREE
    """What must stay of its `structuredContent`."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of the content."""

    raw: bytes
    block: Mapping[str, object]
    text: str | None
    """What of it is text; None: it passes untouched."""


@dataclass(frozen=True)
class CallResult:
    """A `CallToolResult`, taken apart."""

    raw: bytes
    fields: Mapping[str, bytes]
    pieces: tuple[Piece, ...]

    @cached_property
    def text(self) -> str | None:
        """All its text; None: it has none."""
        texts = [piece.text for piece in self.pieces if piece.text is not None]
        return join_texts(texts) if texts else None

    @property
    def structured(self) -> bytes | None:
        """The structured content as it is written."""
        return self.fields.get("structuredContent")

    @property
    def is_error(self) -> bool:
        """Whether the tool failed."""
        return self.fields.get("isError") == b"true"


def result_of(raw: bytes) -> CallResult | None:
    """Take a result apart; None: it holds nothing for the model, as a task that was begun."""
    fields = fields_of(raw)
    blocks = items_of(fields.get("content", b""))
    return None if blocks is None else CallResult(raw, fields, tuple(map(_piece, blocks)))


def admit_result(gate: Gate, call: McpCall, result: CallResult) -> bytes:
    """Let a result in; gives what the client gets, the very bytes if nothing is to change."""
    fields = dict(result.fields)
    verdicts = []
    if result.text is not None or not result.structured:
        on_text = _admitted(gate, call, _blocks(result.pieces), result.is_error)
        verdicts.append(on_text)
        if on_text.text is not None:
            fields["content"] = _content(result.pieces, on_text.text)
    if result.structured:
        shortened = _structured(gate, call, result, verdicts)
        if shortened is not None:
            fields["structuredContent"] = shortened
    if all(verdict.fate == "whole" and verdict.text is None for verdict in verdicts):
        return result.raw
    cut = [verdict for verdict in verdicts if verdict.fate != "whole"]
    if cut:
        fields["_meta"] = _meta(fields.get("_meta"), cut[-1])
    return object_of(fields)


def marker_for(gate: Gate, sha256: str, call_id: str) -> Marker:
    """The markers of an original that the gate keeps."""
    desk = Desk(gate.policy, gate.meter, gate.key, gate.session, gate.store.path_for)
    return desk.marker(sha256, call_id)


def _structured(
    gate: Gate, call: McpCall, result: CallResult, verdicts: list[Verdict]
) -> bytes | None:
    """The structured content, shortened; None: it stays as it is.

    It mostly says what the text says, and is then bound to the verdict on the text.
    """
    raw, text = result.structured or b"", result.text or ""
    whole = [verdict.fate == "whole" for verdict in verdicts] == [True]
    if whole and len(raw) <= len(text.encode("utf-8", "replace")):
        return None
    value = loaded(raw)
    if not isinstance(value, dict):
        return None
    if verdicts and list(value.values()) == [text]:
        shown = verdicts[0].text
        return None if shown is None else encoded(dict.fromkeys(value, shown))
    if not verdicts or loaded(text.encode("utf-8", "surrogatepass")) != value:
        own = replace(call, call_id=f"{call.call_id}.structured")
        block = Json(raw.decode("utf-8", "replace"))
        verdicts.append(_admitted(gate, own, (block,), result.is_error))
    verdict = verdicts[-1]
    if verdict.fate == "whole" or verdict.limit is None:
        return None
    room = Room(verdict.limit.count - gate.policy.block_overhead, gate.meter)
    marker = marker_for(gate, verdict.sha256, verdict.call_id)
    return encoded(pare(value, room, marker, call.form))


def _admitted(gate: Gate, call: McpCall, blocks: tuple[Block, ...], is_error: bool) -> Verdict:
    result = ToolResult(call.call_id, call.tool, blocks, is_error, call.arguments)
    return gate.admit([result])[0].verdict


def _piece(raw: bytes) -> Piece:
    block = loaded(raw)
    if not isinstance(block, dict):
        return Piece(raw, {}, None)
    held = block.get("resource") if block.get("type") == "resource" else block
    text = held.get("text") if isinstance(held, dict) else None
    if block.get("type") not in ("text", "resource") or not isinstance(text, str):
        return Piece(raw, block, None)
    return Piece(raw, block, text)


def _blocks(pieces: tuple[Piece, ...]) -> tuple[Block, ...]:
    return tuple(_block(piece) for piece in pieces) or (Text(""),)


def _block(piece: Piece) -> Block:
    if piece.text is not None:
        return Text(piece.text)
    return Media("image" if piece.block.get("type") == "image" else "opaque", piece.raw)


def _content(pieces: tuple[Piece, ...], text: str) -> bytes:
    """All blocks in order; the first that is text carries what is shown."""
    if all(piece.text is None for piece in pieces):
        return array_of([encoded({"type": "text", "text": text}), *(p.raw for p in pieces)])
    blocks: list[bytes] = []
    is_first = True
    for piece in pieces:
        if piece.text is None:
            blocks.append(piece.raw)
        elif is_first:
            is_first = False
            blocks.append(_with_text(piece, text))
        elif piece.block.get("type") == "resource":
            blocks.append(_with_text(piece, ELSEWHERE))
    return array_of(blocks)


def _with_text(piece: Piece, text: str) -> bytes:
    resource = piece.block.get("resource")
    if isinstance(resource, dict):
        return encoded({**piece.block, "resource": {**resource, "text": text}})
    return encoded({**piece.block, "text": text})


def _meta(raw: bytes | None, verdict: Verdict) -> bytes:
    found = loaded(raw) if raw else {}
    if raw and not isinstance(found, dict):
        return raw
    told = {
        "fate": verdict.fate,
        "ref": verdict.ref,
        "tokens_before": verdict.before.tokens,
        "tokens_after": verdict.after.tokens,
        "sha256": verdict.sha256,
    }
    return encoded({**(found if isinstance(found, dict) else {}), VERDICT_KEY: told})
