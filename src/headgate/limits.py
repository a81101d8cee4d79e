"""The limit of one result: a chain with a stated order.

errors by their own rule → exempt → operator override → what the call asked for → what the tool
declares → the policy's default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.events import Deprecated, Event, OverrideIgnored
from headgate.policy import MOST_COUNT, Policy, ToolRule
from headgate.types import NOTHING, Amount, Block, Media, ToolResult

HOLD_BYTES = 8 << 20
"""Up to this a result that comes in pieces is held and judged whole, as if it had come at once."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that may be shown of one result; `count` None: no limit of its own."""

    count: int | None
    by: str
    exempt: bool = False


@dataclass(frozen=True, slots=True)
class OverrideTable:
    """What the operator says right now, checked: only finite numbers above zero are left."""

    tools: Mapping[str, int]
    batch: int | None
    ignored: tuple[OverrideIgnored, ...]


def overrides_of(values: object, policy: Policy) -> OverrideTable:
    """Read an operator's overrides: `{"batch": 30000, "tools": {"grep": 5000}}`."""
    if not isinstance(values, Mapping):
        return OverrideTable({}, None, (OverrideIgnored("all", repr(values)),))
    ignored: list[OverrideIgnored] = []
    tools: dict[str, int] = {}
    given = values.get("tools", NOTHING)
    if not isinstance(given, Mapping):
        ignored.append(OverrideIgnored("tools", repr(given)))
        given = NOTHING
    for tool, value in given.items():
        count = _count(value)
        if count is None:
            ignored.append(OverrideIgnored(str(tool), repr(value)))
            continue
        tools[str(tool)] = max(count, policy.minimum)
    batch = _count(values["batch"]) if "batch" in values else None
    if "batch" in values and batch is None:
        ignored.append(OverrideIgnored("batch", repr(values["batch"])))
    if batch is not None:
        batch = max(batch, policy.minimum)
    return OverrideTable(tools, batch, tuple(ignored))


NO_OVERRIDES = OverrideTable({}, None, ())


def limit_for(
    result: ToolResult, policy: Policy, overrides: OverrideTable, used: float | None = None
) -> tuple[Limit, list[Event]]:
    """Resolve the chain for one result; `used` is the share of the window that is in use."""
    if result.is_error and policy.errors == "verbatim":
        return Limit(None, "errors go in verbatim"), []
    if result.is_error and policy.errors == "own":
        return Limit(policy.error.count, "the limit of errors"), []
    if policy.with_image == "whole" and any(_is_image(block) for block in result.blocks):
        return Limit(None, "it has an image, and goes in as it is"), []
    rule = policy.rule(result.tool)
    if rule.exempt:
        count = rule.limit.count if rule.limit else None
        return Limit(count, "exempt: the tool limits itself", exempt=True), []
    if result.tool in overrides.tools:
        return Limit(overrides.tools[result.tool], "the operator's override"), []
    asked, events = _asked(result, policy)
    if asked is not None:
        by = f"the call asked for {asked:,}" + (" tokens" if policy.unit != "tokens" else "")
        return _bounded(policy.of_tokens(asked), by, policy), events
    return _declared(result, rule, policy, used), events


def limit_alone(
    result: ToolResult, policy: Policy, overrides: OverrideTable
) -> tuple[Limit, list[Event]]:
    """The limit of a result that comes alone; what nothing bounds is bounded by the default."""
    limit, noted = limit_for(result, policy, overrides)
    events = [*overrides.ignored, *noted]
    if limit.exempt and limit.count is not None:
        return limit, events
    counts = [limit.count or policy.result.count, overrides.batch or policy.batch_budget()]
    return replace(limit, count=min(count for count in counts if count is not None)), events


def _declared(result: ToolResult, rule: ToolRule, policy: Policy, used: float | None) -> Limit:
    declared = None if policy.declarations == "cap" else result.declared or rule.limit
    if declared is None or declared.unit != policy.unit:
        factor = policy.scale.factor(used) if policy.scale else 1.0
        scaled = f", times {factor} with {used:.0%} of the window in use" if factor != 1 else ""
        count = max(int(policy.result.count * factor), policy.minimum)
        return Limit(count, f"the policy's default{scaled}")
    count = min(declared.count, MOST_COUNT)
    return _bounded(count, f"the tool declares {count:,}", policy)


def _bounded(count: int, by: str, policy: Policy) -> Limit:
    """Apply the policy's word on whether a declaration may raise the limit."""
    if policy.declarations == "lower" and count > policy.result.count:
        return Limit(policy.result.count, f"the policy's default; {by}, which may only lower it")
    return Limit(max(count, policy.minimum), by)


def _asked(result: ToolResult, policy: Policy) -> tuple[int | None, list[Event]]:
    if not result.arguments:
        return None, []
    for name in policy.asked_tokens:
        count = _count(result.arguments.get(name))
        if count is not None:
            return count, []
    for name in policy.asked_lines:
        lines = _count(result.arguments.get(name))
        if lines is not None:
            return min(lines * policy.tokens_per_line, MOST_COUNT), [
                Deprecated(result.call_id, name, next(iter(policy.asked_tokens), "nothing"))
            ]
    return None, []


def _is_image(block: Block) -> bool:
    return isinstance(block, Media) and block.kind == "image"


def _count(value: object) -> int | None:
    """A finite number above zero as a whole one that can be written down, else None.

    Less than one is none at all; the smallest limit holds then.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # `isfinite` cannot take an integer of hundreds of digits, and a model can write one.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(min(value, MOST_COUNT)) if value > 0 else None


def within(policy: Policy, most: Amount) -> Policy:
    """The policy with one limit that holds for every result, whatever its tool or its store."""
    return Policy(
        result=most,
        error=most,
        preview=most,
        errors="same",
        batch=None,
        classes={},
        block_overhead=policy.block_overhead,
        memory_bytes=policy.memory_bytes,
        retention=policy.retention,
        view=policy.view,
        vocab=policy.vocab,
        normalise=policy.normalise,
        spill=policy.spill,
        files_by=policy.files_by,
        store_timeout_s=policy.store_timeout_s,
        marker=policy.marker,
        keep=policy.keep,
        excerpt=policy.excerpt,
        page_items=policy.page_items,
        query_arguments=policy.query_arguments,
    )
