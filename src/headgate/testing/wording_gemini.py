"""What the Gemini API says for each broken rule, as it was seen in the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from headgate.check import Violation
from headgate.testing.refused import Refused, object_at, value_at

COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of function "
    "call parts of the function call turn."
)
ORPHAN = "Please ensure that function response turn comes immediately after a function call turn."
PLACE = (
    "Please ensure that function call turn comes immediately after a user turn or after a "
    "function response turn."
)
ALTERNATE = "Please ensure that multiturn requests alternate between user and model."
UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for "
    "tools to work correctly, and missing thought_signature may lead to degraded model "
    "performance. Additional data, function call `default_api:{name}`, position {position}. "
    "Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
)


def refusal(violations: Sequence[Violation], body: Mapping[str, object]) -> Refused:
    """The one error the provider answers with."""
    first = violations[0]
    say = _SAYINGS.get(first.rule)
    return Refused(400, say(first, body) if say else f"{first.where}: {first.found}")


def _turns(violation: Violation, body: Mapping[str, object]) -> str:
    if violation.where == "contents":
        return "* GenerateContentRequest.contents: contents is not specified\n"
    turn = object_at(body, violation.where)
    if turn.get("role", "user") not in ("user", "model", "function"):
        return "Please use a valid role: user, model."
    if not turn.get("parts"):
        where = f"GenerateContentRequest.{violation.where}.parts"
        return f"* {where}: contents.parts must not be empty.\n"
    return ALTERNATE


def _pairs(violation: Violation, body: Mapping[str, object]) -> str:
    part = object_at(body, violation.where)
    is_orphan = "functionResponse" in part or "function_response" in part
    return ORPHAN if is_orphan and "without" in violation.found else COUNTS


def _result(violation: Violation, body: Mapping[str, object]) -> str:
    value = value_at(body, f"{violation.where}.functionResponse.response")
    return (
        f"Invalid value at '{violation.where}.function_response.response' "
        f'(type.googleapis.com/google.protobuf.Struct), "{value}"'
    )


def _unsigned(violation: Violation, body: Mapping[str, object]) -> str:
    part = object_at(body, violation.where)
    call = part.get("functionCall") or part.get("function_call")
    name = call.get("name") if isinstance(call, Mapping) else None
    position = violation.where.partition("[")[2].partition("]")[0]
    return UNSIGNED.format(name=name, position=position)


def _empty(violation: Violation, body: Mapping[str, object]) -> str:
    if value_at(body, f"{violation.where}.text") == "":
        return "Unable to submit request because it has an empty text parameter."
    return (
        f"* GenerateContentRequest.{violation.where}.data: required oneof field 'data' must have "
        "one initialized field\n"
    )


_SAYINGS: Mapping[str, Callable[[Violation, Mapping[str, object]], str]] = MappingProxyType(
    {
        "A22": lambda violation, body: "Invalid JSON payload received. Invalid value in string.",
        "M1": _turns,
        "M2": _pairs,
        "M3": lambda violation, body: PLACE,
        "M4": _result,
        "M5": _unsigned,
        "M6": _empty,
    }
)
