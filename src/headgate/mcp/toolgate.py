"""The gate as MCP tool calls see it: results let in, read back, turned page by page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from headgate.errors import HeadgateError
from headgate.gate import Gate
from headgate.marker import OMITTED_KEY
from headgate.mcp.form import Form
from headgate.mcp.listing import KnownTool
from headgate.mcp.pare import pare
from headgate.mcp.result import CallResult, McpCall, admit_result, marker_for, result_of
from headgate.mcp.wire import array_of, encoded, loaded_object, object_of
from headgate.policy import Policy
from headgate.shape.pages import Page, Span, span_of
from headgate.shape.shaper import Room
from headgate.tool import NAME
from headgate.types import Ref, Text, ToolResult, blocks_of

if TYPE_CHECKING:
    from headgate.registry.pages import Pages

REMEMBERED = 256
HELD_BYTES = 4_000_000
"""Structured results that can be turned page by page, and how much of them is held; of an older one
the tool runs again."""

NO_LAST = 'say which result: ref="r_…" as it stands in the marker; here several clients ask'


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asks of a known tool, and of the gate."""

    tool: KnownTool
    own: Mapping[str, object]
    """The arguments that are the tool's own."""
    page: Page | None
    """The page of its result to show."""


class ToolGate:
    """One gate for the tools of one server. Its calls block; an event loop runs them in threads.

    `knows_caller`: whether one client alone asks, so that "the last result" is its own.
    """

    def __init__(self, gate: Gate, *, knows_caller: bool = True) -> None:
        self.gate = gate
        self.knows_caller = knows_caller
        self._structured: OrderedDict[bytes, bytes | Ref] = OrderedDict()
        """The structured content of the last result of a call, or where it is kept."""
        self._held_bytes = 0

    @cached_property
    def pages(self) -> Pages:
        """What can be paged."""
        from headgate.registry.pages import Pages  # not needed before the first call

        return Pages(self.gate)

    def warm(self) -> None:
        """Load what the first large result will need, before it comes."""
        from headgate.shape.kinds import recognise

        recognise(b"warm", tool="")
        self.gate.meter.count("warm")
        assert self.pages

    def asked(self, tool: KnownTool, arguments: Mapping[str, object]) -> Asked:
        """Tell the arguments of a tool from those that speak to the gate."""
        taken, paging = tool.signature, set(self.gate.policy.page_arguments)
        ours = set() if taken.is_open else self.pages.ours - taken.names
        # A tool that declares one of the two pages by itself, and both are its own.
        ours = ours - paging if paging & taken.names else ours | paging
        own = {name: value for name, value in arguments.items() if name not in ours}
        return Asked(tool, own, self.pages.asked(tool, arguments))

    def admit(self, call: McpCall, raw: bytes, asked: Asked | None = None) -> bytes:
        """Let a result in; where a page was asked for, show that."""
        result = result_of(raw)
        if result is None:
            return raw
        if asked is None or result.is_error or result.text is None:
            return admit_result(self.gate, call, result)
        if asked.page is not None:
            self._remember(call, asked, result, keep=True)
            page = self.page(call, asked)
            if page is not None:
                return page
        admitted = admit_result(self.gate, call, result)
        self._remember(call, asked, result, keep=admitted is not raw)
        return admitted

    def read(self, call_id: str, arguments: Mapping[str, object]) -> bytes:
        """Answer a call of the tool that reads back."""
        if not self.knows_caller and not arguments.get("ref"):
            return text_result(NO_LAST, is_error=True)
        [shown] = self.gate.admit([self.gate.read_result(call_id, arguments)])
        return text_result(shown.text, is_error=shown.is_error)

    def page(self, call: McpCall, asked: Asked) -> bytes | None:
        """The page of a result that is there; None: the tool has to run first."""
        found = self.pages.find(asked.tool, call.arguments)
        if found is None or asked.page is None:
            return None
        try:
            ref = self.gate.keep(found) if isinstance(found, ToolResult) else found
            structured = self._structured.get(self.pages.key(asked.tool, call.arguments))
            if ref is None or (asked.tool.has_output and structured is None):
                return None
            return self._page(call, ref, structured, asked.page)
        except HeadgateError:
            return None  # retention took it, or the store does not answer

    def _remember(self, call: McpCall, asked: Asked, result: CallResult, *, keep: bool) -> None:
        text = (Text(result.text or ""),)
        whole = ToolResult(call.call_id, call.tool, text, arguments=call.arguments)
        self.pages.remember(asked.tool, whole, self.gate.keep(whole) if keep else None)
        held: bytes | Ref | None = result.structured
        if held and keep:
            block = blocks_of(held)
            held = self.gate.keep(ToolResult(call.call_id, call.tool, block))
        key = self.pages.key(asked.tool, call.arguments)
        self._held_bytes -= _bytes(self._structured.pop(key, None))
        if held:
            self._structured[key] = held
            self._held_bytes += _bytes(held)
        while len(self._structured) > REMEMBERED or self._held_bytes > HELD_BYTES:
            self._held_bytes -= _bytes(self._structured.popitem(last=False)[1])

    def _page(self, call: McpCall, ref: Ref, held: bytes | Ref | None, page: Page) -> bytes:
        from headgate.registry.pages import read_page

        text = read_page(self.gate, ref, page)
        shown = ToolResult(call.call_id, call.tool, (Text(text),), origin="store")
        [admitted] = self.gate.admit([shown])
        structured = None
        if held is not None:
            original = self.gate.original(held) if isinstance(held, str) else held
            structured = self._page_of_structured(call, original, page)
        return text_result(admitted.text, structured=structured)

    def _page_of_structured(
        self, call: McpCall, original: bytes, page: Page
    ) -> Mapping[str, object]:
        """The object with its longest list cut to the page, and within the limit."""
        value = loaded_object(original)
        lists = {name: each for name, each in value.items() if isinstance(each, list)}
        marker = marker_for(self.gate, sha256(original).hexdigest(), call.call_id)
        most = self.gate.policy.alone_count - self.gate.policy.block_overhead
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


def _bytes(held: bytes | Ref | None) -> int:
    return len(held) if isinstance(held, bytes) else 0
