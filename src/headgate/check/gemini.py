"""The rules of Gemini `contents`, M1 to M6, as far as a request alone shows them.

Whether a signature is the one that was given out is the provider's to say. M5 holds for models
that sign their calls; the model is not in the body, so it is applied where the caller names it,
or where other calls of the same history carry a signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headgate.check.body import Request
from headgate.check.models import signs_its_calls
from headgate.check.violations import Violation, shown

ROLES = ("user", "model", "function")

CALL = ("functionCall", "function_call")
RESULT = ("functionResponse", "function_response")
SIGNATURE = ("thoughtSignature", "thought_signature")
"""Both spellings are read alike, as the provider reads them."""

WITHOUT_DATA = frozenset({"thought", "videoMetadata", "video_metadata", "partMetadata", *SIGNATURE})
"""Fields that say something about a part and are no part."""


@dataclass(frozen=True, slots=True)
class _Part:
    where: str
    fields: Mapping[str, object]

    @property
    def call(self) -> Mapping[str, object] | None:
        return _object(self.fields, CALL)

    @property
    def result(self) -> Mapping[str, object] | None:
        return _object(self.fields, RESULT)

    @property
    def is_signed(self) -> bool:
        return any(self.fields.get(name) for name in SIGNATURE)


@dataclass(frozen=True, slots=True)
class _Turn:
    place: int
    role: str
    """`function`, the older name of a turn of results, is read as `user`."""
    parts: tuple[_Part, ...]

    @property
    def where(self) -> str:
        return f"contents[{self.place}]"

    @property
    def calls(self) -> list[_Part]:
        return [part for part in self.parts if part.call is not None]

    @property
    def results(self) -> list[_Part]:
        return [part for part in self.parts if part.result is not None]


def violations(request: Request, *, pending: bool) -> Iterator[Violation]:
    """Every rule that this request breaks."""
    if not request.items:
        yield Violation("M1", "contents", "there is no turn")
    for place, item in enumerate(request.items):
        yield from _shape(item, f"contents[{place}]")
    turns = list(_turns(request.items))
    for turn in turns:
        for part in turn.parts:
            yield from _part(part)
    yield from _alternation(turns)
    yield from _pairs(turns, pending=pending)
    yield from _signatures(turns, request.model)


def _shape(item: object, where: str) -> Iterator[Violation]:
    if not isinstance(item, dict):
        yield Violation("M1", where, f"{shown(item)} is no turn")
        return
    role, parts = item.get("role", "user"), item.get("parts")
    if role not in ROLES:
        yield Violation("M1", where, f"the role is {shown(role)}, not user or model")
    if not isinstance(parts, list) or not parts:
        yield Violation("M1", where, f"parts is {'empty' if parts == [] else shown(parts)}")
        return
    for place, part in enumerate(parts):
        if not isinstance(part, dict):
            yield Violation("M6", f"{where}.parts[{place}]", f"{shown(part)} is no part")


def _turns(items: Sequence[object]) -> Iterator[_Turn]:
    for place, item in enumerate(items):
        if not isinstance(item, dict) or item.get("role", "user") not in ROLES:
            continue
        parts = item.get("parts")
        found = tuple(
            _Part(f"contents[{place}].parts[{spot}]", part)
            for spot, part in enumerate(parts if isinstance(parts, list) else [])
            if isinstance(part, dict)
        )
        yield _Turn(place, "model" if item.get("role") == "model" else "user", found)


def _part(part: _Part) -> Iterator[Violation]:
    if not set(part.fields) - WITHOUT_DATA:
        yield Violation("M6", part.where, "the part holds nothing")
    text = part.fields.get("text")
    # A stream may end with an empty text that only carries a signature; it is sent back as it came.
    if text == "" and not part.is_signed:
        yield Violation("M6", part.where, "the text is empty")
    for names in (CALL, RESULT):
        for name in names:
            if name in part.fields and not isinstance(part.fields[name], dict):
                found = f"{name} is {shown(part.fields[name])}"
                yield Violation("M4" if names is RESULT else "M3", part.where, found)
    yield from _result(part)


def _result(part: _Part) -> Iterator[Violation]:
    if part.result is None:
        return
    answer = part.result.get("response")
    if not isinstance(answer, dict):
        yield Violation("M4", part.where, f"the response is {shown(answer)}, not an object")


def _alternation(turns: Sequence[_Turn]) -> Iterator[Violation]:
    for before, turn in pairwise(turns):
        if before.role == turn.role:
            yield Violation("M1", turn.where, f"two turns of {turn.role} in a row")


def _pairs(turns: Sequence[_Turn], *, pending: bool) -> Iterator[Violation]:
    last_model = max((n for n, turn in enumerate(turns) if turn.role == "model"), default=-1)
    for number, turn in enumerate(turns):
        before = turns[number - 1] if number else None
        after = turns[number + 1] if number + 1 < len(turns) else None
        if turn.role == "user":
            yield from _orphans(turn, before)
            for part in turn.calls:
                yield Violation("M3", part.where, "a functionCall in a turn of the user")
            continue
        for part in turn.results:
            yield Violation("M2", part.where, "a functionResponse in a turn of the model")
        if turn.calls and (before is None or before.role != "user"):
            found = "a functionCall that follows no turn of the user"
            yield Violation("M3", turn.calls[0].where, found)
        if turn.calls and not (pending and number == last_model):
            yield from _answers(turn, after)


def _orphans(turn: _Turn, before: _Turn | None) -> Iterator[Violation]:
    if before is None or before.role != "model" or not before.calls:
        for part in turn.results:
            yield Violation("M2", part.where, "a functionResponse without a functionCall before it")


def _answers(turn: _Turn, after: _Turn | None) -> Iterator[Violation]:
    results = after.results if after is not None and after.role == "user" else []
    if len(results) != len(turn.calls):
        found = f"{len(turn.calls)} functionCall, but {len(results)} functionResponse after it"
        yield Violation("M2", turn.where, found)
        return
    for call, result in zip(turn.calls, _in_call_order(turn.calls, results), strict=True):
        yield from _match(call.call or {}, result)


def _in_call_order(calls: Sequence[_Part], results: Sequence[_Part]) -> list[_Part]:
    """The results in the order of the ids, where all have one; else as they stand."""
    ids = [(part.call or {}).get("id") for part in calls]
    by_id = {(part.result or {}).get("id"): part for part in results if _id(part) is not None}
    told_apart = len(by_id) == len(calls) == len({id_ for id_ in ids if isinstance(id_, str)})
    if told_apart and all(isinstance(id_, str) and id_ in by_id for id_ in ids):
        return [by_id[id_] for id_ in ids]
    return list(results)


def _id(part: _Part) -> str | None:
    id_ = (part.result or {}).get("id")
    return id_ if isinstance(id_, str) else None


def _match(call: Mapping[str, object], part: _Part) -> Iterator[Violation]:
    answer = part.result or {}
    # Empty is none, of a name as of an id.
    if (answer.get("name") or None) != (call.get("name") or None):
        found = f"answers {shown(answer.get('name'))}, the call is {shown(call.get('name'))}"
        yield Violation("M2", part.where, found)
    elif call.get("id") and answer.get("id") != call.get("id"):
        found = f"the id is {shown(answer.get('id'))}, the call has {shown(call.get('id'))}"
        yield Violation("M2", part.where, found)


def _signatures(turns: Sequence[_Turn], model: str) -> Iterator[Violation]:
    """M5: in the turn that is under way, the first call of each step keeps its signature."""
    if model and not signs_its_calls(model):
        return
    if not model and not any(part.is_signed for turn in turns for part in turn.calls):
        return
    for turn in _current(turns):
        if turn.calls and not turn.calls[0].is_signed:
            yield Violation("M5", turn.calls[0].where, "the first functionCall has no signature")


def _current(turns: Sequence[_Turn]) -> Iterator[_Turn]:
    """The turns of the model since the user last said something."""
    for turn in reversed(turns):
        if turn.role == "user" and not turn.results:
            return
        if turn.role == "model":
            yield turn


def _object(fields: Mapping[str, object], names: Sequence[str]) -> Mapping[str, object] | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, dict):
            return value
    return None
