"""Shape by a policy's fixed form instead of looking for what matters."""

from __future__ import annotations

from headgate.marker import Marker
from headgate.policy import Policy
from headgate.shape.binary import shape_binary
from headgate.shape.envelope import is_over_page, preview_of_ends, shape_envelope
from headgate.shape.excerpt import (
    ends_of_sketch,
    ends_of_source,
    shape_excerpt,
    window_bytes,
)
from headgate.shape.pages import Page, asked_page
from headgate.shape.shaper import Room, Shaped, Source
from headgate.shape.sketch import Sketch
from headgate.types import NO_QUERY, Amount, Size, ToolResult


def in_form(
    source: Source, room: Room, marker: Marker, policy: Policy, result: ToolResult
) -> Shaped:
    """A result that is there, in its policy's form; what is no text has none."""
    if source.kind == "binary":
        return shape_binary(source, room, NO_QUERY, marker)
    if policy.keep == "envelope":
        page = page_of(result, policy)
        return shape_envelope(source, room, marker, page=page, page_items=policy.page_items)
    cap = cap_of(result, policy)
    ends = ends_of_source(source, window_bytes(room, policy.excerpt, cap))
    return shape_excerpt(ends, room, marker, policy.excerpt, cap)


def passed_in_form(
    sketch: Sketch, size: Size, room: Room, marker: Marker, policy: Policy, result: ToolResult
) -> Shaped:
    """A result that went by, in its policy's form: only its ends are left of it."""
    ends = ends_of_sketch(sketch, size.bytes)
    if policy.keep == "envelope":
        return preview_of_ends(ends, size.of(room.meter.unit), room, marker)
    return shape_excerpt(ends, room, marker, policy.excerpt, cap_of(result, policy))


def is_in_form(text: bytes, size: int, policy: Policy, result: ToolResult) -> bool:
    """Whether the form holds for a text of this size that would fit as it is."""
    if policy.keep == "excerpt":
        cap = cap_of(result, policy)
        return cap is not None and size > cap.count
    if result.kind not in (None, "json"):
        return False
    return is_over_page(text, page_of(result, policy), policy.page_items)


def cap_of(result: ToolResult, policy: Policy) -> Amount | None:
    """What is cut off a result before any limit."""
    rule = policy.rule(result.tool)
    declared = result.declared or rule.limit if policy.declarations == "cap" else None
    if declared is not None and declared.unit == policy.unit:
        declared = Amount(max(declared.count, policy.minimum), policy.unit)
    else:
        declared = None
    return rule.cap or declared or policy.cap


def page_of(result: ToolResult, policy: Policy) -> Page | None:
    """The page that the call asks for."""
    if result.pages_itself:
        return None
    number, size = policy.page_arguments
    return asked_page(result.arguments.get(number), result.arguments.get(size))
