"""How a call's end reads: a result for everything that can happen to it."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from headgate.events import CallEnd
from headgate.history.mending import UNKNOWN_OUTCOME
from headgate.registry.course import Cancelled, End, Returned, TimedOut
from headgate.registry.rate_limit import RateLimit, rate_limit_of
from headgate.registry.wording import in_words, line_of
from headgate.types import NOTHING, Block, Call, Json, Media, Text, ToolResult, blocks_of

MOST_NAMED = 50
"""Tools that are named to a model that asked for one that does not exist."""


def answered(call: Call, arguments: Mapping[str, object], end: End) -> ToolResult:
    """The result for what happened to a call."""
    if isinstance(end, Returned):
        return result_of(call, arguments, end.value)
    if isinstance(end, TimedOut):
        text = f"{call.tool} did not finish within {end.timeout_s:g} s. {UNKNOWN_OUTCOME}"
        return failed(call, text, arguments)
    if isinstance(end, Cancelled):
        return failed(call, _cancelled(call, end), arguments)
    limit = rate_limit_of(end.error)
    if limit is not None:
        return rate_limited(call, limit, arguments)
    return failed(call, f"{call.tool} failed: {in_words(end.error)}", arguments)


def end_of(end: End) -> tuple[CallEnd, str]:
    """What happened to a call in a word, and what went wrong in a line."""
    if isinstance(end, Returned):
        return "returned", ""
    if isinstance(end, TimedOut):
        return "timed_out", f"did not finish within {end.timeout_s:g} s"
    if isinstance(end, Cancelled):
        return "cancelled", end.reason
    word: CallEnd = "failed" if rate_limit_of(end.error) is None else "rate_limited"
    return word, line_of(in_words(end.error))


def result_of(call: Call, arguments: Mapping[str, object], value: object) -> ToolResult:
    """What a tool returned, as a result; one that is a result already keeps what it says."""
    if isinstance(value, ToolResult):
        return replace(
            value,
            blocks=_checked(value.blocks),
            call_id=call.call_id,
            tool=call.tool,
            arguments=arguments,
            origin="tool",
            verdict=None,
        )
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        return failed(call, f"{call.tool} failed: it returned something to await", arguments)
    blocks = _checked(blocks_of(plain(value)))
    return ToolResult(call.call_id, call.tool, blocks, arguments=arguments)


def failed(call: Call, text: str, arguments: Mapping[str, object] = NOTHING) -> ToolResult:
    """An error that the model can read."""
    return ToolResult(call.call_id, call.tool, (Text(text),), True, arguments)


def rate_limited(
    call: Call, limit: RateLimit, arguments: Mapping[str, object] = NOTHING
) -> ToolResult:
    """A refusal that the model can reason about."""
    told = {
        "type": "rate_limited",
        "retryAfterSeconds": limit.retry_after_s,
        "upstream": limit.upstream or call.tool,
        "message": limit.message,
    }
    text = msgspec.json.encode(told).decode()
    return ToolResult(call.call_id, call.tool, (Json(text),), True, arguments)


def unknown(call: Call, names: Sequence[str]) -> str:
    """What a model is told that asked for a tool there is not."""
    close = difflib.get_close_matches(call.tool, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return f"there is no tool {call.tool!r}{hint} There are: {listed or 'none'}"


def plain(value: object) -> object:
    """A returned value as text, blocks or JSON; records of the usual libraries as objects."""
    if value is None or isinstance(value, str | bytes | bytearray | Text | Json | Media):
        return value
    if isinstance(value, list | tuple) and any(isinstance(b, Text | Json | Media) for b in value):
        return value
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=_otherwise)
    except (TypeError, ValueError, RecursionError):
        # Keys that JSON does not have, or a value inside of itself: better its text than nothing.
        return str(value)


def _otherwise(value: object) -> object:
    """What JSON has no form for, as an object where it is a record, else as its text."""
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return dump(mode="json")
    return dict(value) if isinstance(value, Mapping) else str(value)


def _checked(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Blocks as the gate wants them: what a tool made up would fail the whole batch there."""
    checked = tuple(blocks)
    for block in checked:
        text = "" if isinstance(block, Media) else getattr(block, "text", None)
        if not isinstance(block, Text | Json | Media) or not isinstance(text, str):
            raise TypeError(f"a block is {type(block).__name__}; blocks are Text, Json or Media")
    return checked


def _cancelled(call: Call, end: Cancelled) -> str:
    why = f" ({end.reason})" if end.reason else ""
    if end.was_running:
        return f"{call.tool} was cancelled{why} while it ran. {UNKNOWN_OUTCOME}"
    return f"{call.tool} was not run: the batch was cancelled{why}."
