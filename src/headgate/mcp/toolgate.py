"""The gate as MCP tool calls see it: results let in, read back, turned page by page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

from headgate.errors import HeadgateError
from headgate.gate import Gate
from headgate.marker import OMITTED_KEY
from headgate.mcp.form import Form
from headgate.mcp.listing import KnownTool
from headgate.mcp.pare import pare
from headgate.mcp.result import CallResult, McpCall, admit_result, marker_for, result_of
from headgate.mcp.wire import array_of, encoded, loaded_object, object_of, written
from headgate.policy import Policy
from headgate.shape.pages import Page, Span, asked_page, span_of
from headgate.shape.shaper import Room
from headgate.tool import NAME
from headgate.types import Json, Ref, Text, ToolResult

REMEMBERED = 256
"""Calls whose results can be turned page by page; an older one runs again."""

HELD_BYTES = 4_000_000
"""Results that went in whole are not stored; so much of the last ones can be paged all the same."""

NO_LAST = 'say which result: ref="r_…" as it stands in the marker; here several clients ask'


@dataclass(frozen=True, slots=True)
class Turn:
    """A page that a call asks for, and the arguments that are the tool's own."""

    page: Page
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the result of a call is: its text, and its structured content where it has any."""

    text: Ref
    structured: Ref | None


class ToolGate:
    """One gate for the tools of one server. Its calls block; an event loop runs them in threads.

    `knows_caller`: whether one client alone asks, so that "the last result" is its own.
    """

    def __init__(self, gate: Gate, *, knows_caller: bool = True) -> None:
        self.gate = gate
        self.knows_caller = knows_caller
        self._kept: OrderedDict[str, Kept | CallResult] = OrderedDict()
        self._held_bytes = 0

    def warm(self) -> None:
        """Load what the first large result will need, before it comes."""
        from headgate.shape.kinds import recognise

        recognise(b"warm", tool="")
        self.gate.meter.count("warm")

    def admit(self, call: McpCall, raw: bytes, turn: Turn | None = None) -> bytes:
        """Let a result in; `turn`: show that page of it."""
        result = result_of(raw)
        if result is None:
            return raw
        has_pages = not result.is_error and result.text is not None
        if turn is not None and has_pages:
            self._remember(call, result)
            page = self.page(call, turn)
            if page is not None:
                return page
        admitted = admit_result(self.gate, call, result)
        if has_pages:
            self._remember(call, result if admitted is raw else self._keep(call, result))
        return admitted

    def read(self, call_id: str, arguments: Mapping[str, object]) -> bytes:
        """Answer a call of the tool that reads back."""
        if not self.knows_caller and not arguments.get("ref"):
            return text_result(NO_LAST, is_error=True)
        [shown] = self.gate.admit([self.gate.read_result(call_id, arguments)])
        return text_result(shown.text, is_error=shown.is_error)

    def turn(self, tool: KnownTool, arguments: Mapping[str, object]) -> Turn | None:
        """The page that a call asks for; None: it asks for none, or pages are the tool's own."""
        number, size = self.gate.policy.page_arguments
        if number in tool.arguments or size in tool.arguments:
            return None
        page = asked_page(arguments.get(number), arguments.get(size))
        if page is None:
            return None
        own = {name: value for name, value in arguments.items() if name not in (number, size)}
        return Turn(page, own)

    def page(self, call: McpCall, turn: Turn) -> bytes | None:
        """A page of a result that is stored; None: the tool has to run first."""
        kept = self._kept.get(_key(call.tool, turn.arguments))
        if isinstance(kept, CallResult):
            kept = self._keep(call, kept)
        if kept is None:
            return None
        try:
            return self._page(call, kept, turn.page)
        except HeadgateError:
            return None  # retention took it, or the store does not answer

    def _keep(self, call: McpCall, result: CallResult) -> Kept | None:
        ref = self.gate.keep(ToolResult(call.call_id, call.tool, (Text(result.text or ""),)))
        if ref is None:
            return None
        structured = None
        if result.structured:
            block = Json(result.structured.decode("utf-8", "replace"))
            structured = self.gate.keep(ToolResult(call.call_id, call.tool, (block,)))
        kept = Kept(ref, structured)
        self._remember(call, kept)
        return kept

    def _remember(self, call: McpCall, kept: Kept | CallResult | None) -> None:
        key = _key(call.tool, call.arguments)
        self._held_bytes -= _held(self._kept.pop(key, None))
        if kept is None:
            return
        self._kept[key] = kept
        self._held_bytes += _held(kept)
        while len(self._kept) > REMEMBERED or self._held_bytes > HELD_BYTES:
            self._held_bytes -= _held(self._kept.popitem(last=False)[1])

    def _page(self, call: McpCall, kept: Kept, page: Page) -> bytes:
        asked = {"page": page.number} | ({"page_size": page.size} if page.size else {})
        text = self.gate.read(kept.text, asked)
        shown = ToolResult(call.call_id, call.tool, (Text(text),), origin="store")
        [admitted] = self.gate.admit([shown])
        structured = None
        if kept.structured is not None:
            structured = self._page_of_structured(call, kept.structured, page)
        return text_result(admitted.text, structured=structured)

    def _page_of_structured(self, call: McpCall, ref: Ref, page: Page) -> Mapping[str, object]:
        """The object with its longest list cut to the page, and within the limit."""
        original = self.gate.original(ref)
        value = loaded_object(original)
        lists = {name: each for name, each in value.items() if isinstance(each, list)}
        marker = marker_for(self.gate, sha256(original).hexdigest(), call.call_id)
        most = self.gate.policy.result.count - self.gate.policy.block_overhead
        room = Room(most, self.gate.meter)
        if not lists:
            return pare(value, room, marker, call.form)
        name = max(lists, key=lambda each: len(lists[each]))
        span = span_of(len(lists[name]), page)
        cut = {**value, name: lists[name][span.start : span.stop]}
        if span.pages > 1 and OMITTED_KEY not in cut:
            words = f"page {span.number:,} of {span.pages:,}, {span.total:,} items in all"
            after = self._next_page(span) if span.has_more else "this is the last page"
            cut = {OMITTED_KEY: marker.shown(words, after), **cut}
        return pare(cut, room, marker, _keeping(call.form, OMITTED_KEY))

    def _next_page(self, span: Span) -> str:
        number, size = self.gate.policy.page_arguments
        return f"the same call with {number}={span.number + 1}, {size}={span.size} shows the next"


def text_result(
    text: str, *, is_error: bool = False, structured: Mapping[str, object] | None = None
) -> bytes:
    """A `CallToolResult` of one text."""
    fields = {"content": array_of([encoded({"type": "text", "text": text})])}
    if structured is not None:
        fields["structuredContent"] = encoded(structured)
    return object_of(fields | ({"isError": b"true"} if is_error else {}))


def reading_with(policy: Policy, reader: str) -> Policy:
    """The policy whose markers name the tool that reads back as this server offers it."""
    words = policy.marker.tool.replace(f"{NAME}(", f"{reader}(")
    return policy.replace(marker=replace(policy.marker, tool=words))


def _keeping(form: Form, name: str) -> Form:
    return replace(form, required=form.required | {name})


def _held(kept: Kept | CallResult | None) -> int:
    return len(kept.raw) if isinstance(kept, CallResult) else 0


def _key(tool: str, arguments: Mapping[str, object]) -> str:
    return written([tool, {name: arguments[name] for name in sorted(arguments)}])
