"""What only Responses refuses: wrong ids, items sent twice, reasoning without its item."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from headgate.dialects.history import History, Message
from headgate.dialects.openai_responses import is_message, message
from headgate.dialects.spans import fields_of, replaced_fields, text_of
from headgate.dialects.wire import as_text
from headgate.history.report import Case, Fix

GIVEN_OUT = re.compile(r"[a-z]+_[0-9a-f]{32,}")
"""What an id looks like that the provider made."""

ALWAYS_REASONS = re.compile(
    r"(?:o1|o3|o3-mini|o3-pro|o4-mini|gpt-5(?:-(?:mini|nano|pro|codex))?|gpt-5\.\d+-codex)"
    r"(?:-\d{4}-\d{2}-\d{2})?"
)
"""Models that put reasoning before every call they make."""

TOGETHER = "deepseek"
"""Models, by how their names begin, that refuse a message between the calls of one step."""

SAID_IN = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "function_call_output": "output",
    "custom_tool_call_output": "output",
}
"""Where items have a text that they are refused without."""

Step = Callable[[History], tuple[History, list[Fix]]]


def tidied(old: Message, where: str) -> tuple[Message, list[Fix]]:
    """The item without an id that cannot be one of the provider's, and with the texts it needs."""
    missing = _missing_text(old)
    fixes: list[Fix] = []
    if missing:
        [name] = missing
        call_id = old.parts[0].call_id if old.parts else ""
        fixes.append(Fix("content", where, f"the {name} is made a text", call_id))
        old = message(replaced_fields(old.raw, missing), old.at)
    start = _id_start(old) if old.item_id else None
    if start is None or old.item_id.startswith(start):
        return old, fixes
    what = f"the id {old.item_id!r} does not begin with {start!r}; it is taken out"
    return _without_id(old), [*fixes, Fix("item", where, what)]


def _missing_text(old: Message) -> dict[str, bytes]:
    """What has to be a text, and is not there or is an object, with the text it becomes."""
    if not old.parts:
        said = fields_of(old.raw).get("content", b"null")
        return {"content": b'""'} if said == b"null" else {}
    given = old.parts[0]
    name = SAID_IN.get(given.wire)
    if name is None or given.opening == b'"' or (name == "output" and given.opening == b"["):
        return {}
    if name != "output":
        return {name: as_text(given)}
    return {name: b'""'} if given.opening in (b"", b"n") else {}


def _id_start(old: Message) -> str | None:
    if old.role != "assistant":
        return None
    if is_message(old):
        return "msg"
    return {"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs"}.get(
        old.parts[0].wire
    )


def _without_id(old: Message) -> Message:
    return message(replaced_fields(old.raw, {"id": None}), old.at)


def settled(history: History, case: Case) -> tuple[History, list[Fix]]:
    """Mend what concerns more than one item."""
    fixes: list[Fix] = []
    for step in _STEPS:
        history, done = step(history)
        fixes += done
    return history, fixes


def _sent_once(history: History) -> tuple[History, list[Fix]]:
    """The provider holds the calls of the response this one continues; only results are new."""
    if history.settings.get("previous_response_id", b"null") == b"null":
        return history, []
    fixes = [
        Fix("item", history.where(old), f"the call {old.item_id!r} is stored; it is not sent again")
        for old in history.messages
        if _is_stored_call(old)
    ]
    kept = tuple(old for old in history.messages if not _is_stored_call(old))
    return (history.with_messages(kept), fixes) if fixes else (history, [])


def _is_stored_call(old: Message) -> bool:
    return bool(old.item_id and old.of_kind("call"))


def _one_of_each_id(history: History) -> tuple[History, list[Fix]]:
    """An id is used once: reasoning that comes again is taken out, anything else goes without."""
    ids = [old.item_id for old in history.messages if _has_own_id(old)]
    if len(set(ids)) == len(ids):
        return history, []
    seen: set[str] = set()
    fixes: list[Fix] = []
    messages: list[Message] = []
    for old in history.messages:
        if not _has_own_id(old) or old.item_id not in seen:
            seen.add(old.item_id)
            messages.append(old)
            continue
        fixes.append(Fix("item", history.where(old), f"the id {old.item_id!r} is there already"))
        if not _is_reasoning(old):
            messages.append(_without_id(old))
    return history.with_messages(tuple(messages)), fixes


def _has_own_id(old: Message) -> bool:
    """Whether its id is its own; a reference has that of another item."""
    return bool(old.item_id) and not (old.parts and old.parts[0].wire == "item_reference")


def _reasoning_with_its_item(history: History) -> tuple[History, list[Fix]]:
    """Reasoning that the provider knows stands before what it produced, or not at all."""
    if not any(_is_reasoning(old) and old.item_id for old in history.messages):
        return history, []
    fixes: list[Fix] = []
    kept: list[Message] = []
    for old in reversed(history.messages):
        if _is_reasoning(old) and not _has_its_item(old, kept[-1] if kept else None, history):
            what = f"reasoning {old.item_id!r} without the item it produced is taken out"
            fixes.append(Fix("reasoning", history.where(old), what))
        else:
            kept.append(old)
    if not fixes:
        return history, []
    return history.with_messages(tuple(reversed(kept))), fixes[::-1]


def _has_its_item(old: Message, after: Message | None, history: History) -> bool:
    """As far as a request shows it: what is not stored is not looked up by its id."""
    if not old.item_id:
        return True
    if after is None:
        return False
    is_stored = history.form == "body" and history.settings.get("store") != b"false"
    is_encrypted = fields_of(old.raw).get("encrypted_content", b"null") not in (b"null", b'""')
    if after.role != "assistant":
        return is_encrypted and not is_stored
    return not (is_stored and GIVEN_OUT.fullmatch(old.item_id) and not after.item_id)


def _is_reasoning(old: Message) -> bool:
    return _wire(old) == "reasoning"


def _calls_with_reasoning(history: History) -> tuple[History, list[Fix]]:
    """Calls of a model that always reasons, if none of its reasoning is here, go without ids."""
    if not _surely_reasons(history) or history.server_held:
        return history, []
    fixes: list[Fix] = []
    messages: list[Message] = []
    reasoned = False
    for old in history.messages:
        wire = _wire(old)
        reasoned = reasoned or wire in ("reasoning", "compaction", "item_reference")
        if not reasoned and wire == "function_call" and GIVEN_OUT.fullmatch(old.item_id):
            what = f"{old.item_id!r} came from reasoning that is not here; its id is taken out"
            fixes.append(Fix("item", history.where(old), what, old.parts[0].call_id))
            messages.append(_without_id(old))
        else:
            messages.append(old)
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _surely_reasons(history: History) -> bool:
    setting = history.settings.get("reasoning", b"")
    effort = fields_of(setting).get("effort", b"null") if setting[:1] == b"{" else b"null"
    if effort[:1] == b'"':
        return text_of(effort) not in ("none", "minimal")
    return ALWAYS_REASONS.fullmatch(history.model.rpartition("/")[2]) is not None


def _calls_together(history: History) -> tuple[History, list[Fix]]:
    """Where a model wants it, what stands between the calls of one step is put before them."""
    if not history.model.rpartition("/")[2].startswith(TOGETHER):
        return history, []
    fixes: list[Fix] = []
    messages: list[Message] = []
    step: list[Message] = []
    for old in history.messages:
        if old.role == "assistant":
            step.append(old)
            continue
        messages += _grouped(step, history, fixes)
        messages.append(old)
        step = []
    messages += _grouped(step, history, fixes)
    return (history.with_messages(tuple(messages)), fixes) if fixes else (history, [])


def _grouped(step: Sequence[Message], history: History, fixes: list[Fix]) -> list[Message]:
    calls = [old for old in step if old.of_kind("call")]
    first = next((number for number, old in enumerate(step) if old.of_kind("call")), len(step))
    between = [old for old in step[first:] if is_message(old)]
    if not calls or not between or (step[-1] is between[-1] and len(between) == 1):
        return list(step)
    what = "a message between calls is put before them"
    fixes += [Fix("moved", history.where(old), what) for old in between]
    others = [old for old in step[first:] if not is_message(old)]
    return [*step[:first], *between, *others]


def _approvals_asked_for(history: History) -> tuple[History, list[Fix]]:
    """An approval answers a request that is here, unless the provider holds it."""
    asked = {old.item_id for old in history.messages if _wire(old) == "mcp_approval_request"}
    strays = [old for old in history.messages if _wire(old) == "mcp_approval_response"]
    strays = [old for old in strays if _approved(old) not in asked]
    if history.server_held or not strays:
        return history, []
    what = "an approval that nobody here asked for is taken out"
    fixes = [Fix("orphan", history.where(old), what) for old in strays]
    places = {old.at for old in strays}
    kept = tuple(old for old in history.messages if old.at not in places)
    return history.with_messages(kept), fixes


def _approved(old: Message) -> str:
    """The request that an approval answers."""
    named = fields_of(old.raw).get("approval_request_id", b"")
    return text_of(named) if named[:1] == b'"' else ""


def _wire(old: Message) -> str:
    return old.parts[0].wire if old.parts else ""


_STEPS: tuple[Step, ...] = (
    _sent_once,
    _approvals_asked_for,
    _one_of_each_id,
    _reasoning_with_its_item,
    _calls_with_reasoning,
    _calls_together,
)
