"""What OpenAI says for each broken rule of Chat Completions and Responses, as seen in the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from headgate.check import Violation
from headgate.testing.refused import Refused, object_at, value_at

UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
)
NO_PRECEDING = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)
NOT_JSON = (
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using "
    "your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not "
    "valid JSON.)"
)
TOO_LONG = (
    "Invalid '{where}': {kind} too long. Expected {article} {kind} with maximum length {most}, but "
    "got {article} {kind} with length {length} instead."
)
NO_MATCH = (
    "Invalid '{where}': string does not match pattern. Expected a string that matches the pattern "
    "'^[a-zA-Z0-9_-]+$'."
)
ROLES = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'"


def chat_refusal(violations: Sequence[Violation], body: Mapping[str, object]) -> Refused:
    """The one error Chat Completions answers with."""
    first = violations[0]
    if first.rule == "C1":
        start = first.where.partition("]")[0]
        ids = [
            str(object_at(body, violation.where).get("id"))
            for violation in violations
            if violation.rule == "C1" and violation.where.startswith(start + "]")
        ]
        return Refused(400, UNANSWERED.format(ids=", ".join(ids)), param="messages")
    say = _CHAT.get(first.rule)
    return say(first, body) if say else _plain(first)


def responses_refusal(violations: Sequence[Violation], body: Mapping[str, object]) -> Refused:
    """The one error Responses answers with."""
    first = violations[0]
    say = _RESPONSES.get(first.rule)
    return say(first, body) if say else _plain(first)


def _plain(violation: Violation) -> Refused:
    message = f"Invalid '{violation.where}': {violation.found}."
    return Refused(400, message, code="invalid_value", param=violation.where)


def _not_json(violation: Violation, body: Mapping[str, object]) -> Refused:
    return Refused(400, NOT_JSON)


def _orphan_tool(violation: Violation, body: Mapping[str, object]) -> Refused:
    param = violation.where.replace("messages[", "messages.[") + ".role"
    return Refused(400, NO_PRECEDING, param=param)


def _tool_parts(violation: Violation, body: Mapping[str, object]) -> Refused:
    place = re.match(r"messages\[\d+\]", violation.where)
    where = place[0] if place else violation.where
    message = f"Invalid '{where}'. Content blocks are expected to be either text or image_url type."
    return Refused(400, message, param=where)


def _content(violation: Violation, body: Mapping[str, object]) -> Refused:
    message = object_at(body, violation.where)
    if message.get("tool_calls") == []:
        return _empty_array(f"{violation.where}.tool_calls")
    if "content" in message and message["content"] is None:
        said = "Invalid value for 'content': expected a string, got null."
        return Refused(400, said, param=f"{violation.where}.content")
    return _plain(violation)


def _calls(violation: Violation, body: Mapping[str, object]) -> Refused:
    value = object_at(body, violation.where)
    calls, id_ = value.get("tool_calls"), value.get("id")
    if isinstance(calls, list):
        where = f"{violation.where}.tool_calls"
        said = TOO_LONG.format(where=where, article="an", kind="array", most=128, length=len(calls))
        return Refused(400, said, code="array_above_max_length", param=where)
    if isinstance(id_, str) and len(id_) > 40:
        where = f"{violation.where}.id"
        said = TOO_LONG.format(where=where, article="a", kind="string", most=40, length=len(id_))
        return Refused(400, said, code="string_above_max_length", param=where)
    name = value_at(value, "function.name")
    if isinstance(name, str) and not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        where = f"{violation.where}.function.name"
        said = NO_MATCH.format(where=where)
        return Refused(400, said, code="invalid_value", param=where)
    return _plain(violation)


def _roles(violation: Violation, body: Mapping[str, object]) -> Refused:
    if violation.where == "messages":
        return _empty_array("messages")
    role = object_at(body, violation.where).get("role")
    if role is None:
        return _plain(violation)
    said = f"Invalid value: '{role}'. Supported values are: {ROLES}."
    return Refused(400, said, code="invalid_value", param=f"{violation.where}.role")


def _empty_array(where: str) -> Refused:
    said = "empty array. Expected an array with minimum length 1, but got an empty array instead."
    return Refused(400, f"Invalid '{where}': {said}", code="empty_array", param=where)


def _no_output(violation: Violation, body: Mapping[str, object]) -> Refused:
    item = object_at(body, violation.where)
    if not item.get("call_id"):
        return _missing(f"{violation.where}.call_id")
    kind = str(item.get("type", "")).removesuffix("_output").replace("_", " ")
    said = f"No tool output found for {kind} {item.get('call_id')}."
    return Refused(400, said, param="input")


def _no_call(violation: Violation, body: Mapping[str, object]) -> Refused:
    item = object_at(body, violation.where)
    if not item.get("call_id"):
        return _missing(f"{violation.where}.call_id")
    kind = str(item.get("type", "")).replace("_", " ")
    said = f"No tool call found for {kind} with call_id {item.get('call_id')}."
    return Refused(400, said, param="input")


def without_following(id_: object) -> Refused:
    """A reasoning item that stands alone."""
    said = f"Item '{id_}' of type 'reasoning' was provided without its required following item."
    return Refused(400, said, param="input")


def without_reasoning(id_: object, kind: object, reasoning: str) -> Refused:
    """An item whose reasoning was left behind."""
    said = (
        f"Item '{id_}' of type '{kind}' was provided without its required 'reasoning' item: "
        f"'{reasoning}'."
    )
    return Refused(400, said, param="input")


def _reasoning(violation: Violation, body: Mapping[str, object]) -> Refused:
    item = object_at(body, violation.where)
    if item.get("type") == "reasoning":
        return without_following(item.get("id"))
    return without_reasoning(item.get("id"), item.get("type"), "rs_…")


def _summary(violation: Violation, body: Mapping[str, object]) -> Refused:
    if "summary" in object_at(body, violation.where):
        return _plain(violation)
    return _missing(f"{violation.where}.summary")


def _missing(param: str) -> Refused:
    code = "missing_required_parameter"
    return Refused(400, f"Missing required parameter: '{param}'.", code=code, param=param)


def _ids(violation: Violation, body: Mapping[str, object]) -> Refused:
    item = object_at(body, violation.where)
    id_ = item.get("id")
    begins = re.search(r"does not begin with '(\w+)'", violation.found)
    if begins:
        param = f"{violation.where}.id"
        said = f"Invalid '{param}': '{id_}'. Expected an ID that begins with '{begins[1]}'."
        return Refused(400, said, code="invalid_value", param=param)
    return duplicate_item(id_)


def duplicate_item(id_: object) -> Refused:
    """An item that is there twice, here or in what was stored."""
    said = (
        f"Duplicate item found with id {id_}. Remove duplicate items from your input and try again."
    )
    return Refused(400, said, param="input")


_Saying = Callable[[Violation, Mapping[str, object]], Refused]

_CHAT: Mapping[str, _Saying] = MappingProxyType(
    {
        "A22": _not_json,
        "C2": _orphan_tool,
        "C3": _tool_parts,
        "C4": _content,
        "C6": _calls,
        "C8": _roles,
    }
)

_RESPONSES: Mapping[str, _Saying] = MappingProxyType(
    {
        "A22": _not_json,
        "R1": _no_output,
        "R2": _no_call,
        "R3": _reasoning,
        "R4": _summary,
        "R5": _ids,
    }
)
