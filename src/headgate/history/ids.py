"""Which ids calls go out under: legal, unique where the provider wants it, and always the same.

A new id depends on nothing but what stands before it in the history: the same history, longer,
gives the same ids again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from headgate.dialects.dialect import Rules
from headgate.dialects.history import Message, Part
from headgate.history.rounds import Place, Round, Spot
from headgate.policy import Twins
from headgate.slices import NotJson
from headgate.values import value_of

MADE_LETTERS = 24
"""Of a made id: 96 bits of a digest, far below every provider's limit."""

KEPT_LETTERS = 16
"""Of the digest that ends a shortened id."""


@dataclass(slots=True)
class Names:
    """What is to be changed about calls, by their places."""

    renamed: dict[Place, str] = field(default_factory=dict)
    dropped: set[Place] = field(default_factory=set)
    """Calls that come a second time under the id of one before them in the same step."""


def names_for(
    messages: Sequence[Message], rounds: Sequence[Round], rules: Rules, twins: Twins = "alike"
) -> Names:
    """Find the ids that cannot go out as they are."""
    names = Names()
    if not rules.needs_ids:
        return names
    used: dict[str, int] = {}
    for round_ in rounds:
        used.update((server_id, 1) for server_id in round_.server_ids)
        for step in _steps(round_, rules):
            if not rules.unique_ids:
                used = {}
            _name_step(step, messages, rules, used, names, twins)
    return names


def _steps(round_: Round, rules: Rules) -> Iterable[Sequence[Spot]]:
    """The calls of a round, as the provider takes them together."""
    if rules.steps_are_runs:
        return [round_.calls]
    return [list(calls) for _, calls in groupby(round_.calls, key=lambda call: call.message)]


def _name_step(
    step: Sequence[Spot],
    messages: Sequence[Message],
    rules: Rules,
    used: dict[str, int],
    names: Names,
    twins: Twins,
) -> None:
    firsts: dict[str, Spot] = {}
    for number, call in enumerate(step):
        call_id = call.part.call_id
        first = firsts.get(call_id) if call_id else None
        if first is not None and (twins == "all" or is_same_call(first.part, call.part)):
            names.dropped.add(call.place)
            continue
        firsts.setdefault(call_id, call)
        wanted = _legal(call_id, rules) if call_id else _made(call, number, messages)
        free = _free(wanted, used, rules)
        if free != call_id:
            names.renamed[call.place] = free


def is_same_call(one: Part, other: Part) -> bool:
    """Whether two calls ask the same tool for the same thing."""
    return one.name == other.name and (
        one.value == other.value or _decoded(one.value) == _decoded(other.value)
    )


def _decoded(raw: bytes) -> object:
    try:
        return value_of(raw)
    except NotJson:
        return raw


def _made(call: Spot, number: int, messages: Sequence[Message]) -> str:
    """An id for a call that has none."""
    said = f"{messages[call.message].at}:{number}:{call.part.name}:"
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass") + call.part.value).hexdigest()
    return f"call_{digest[:MADE_LETTERS]}"


def _legal(call_id: str, rules: Rules) -> str:
    if rules.id_illegal is not None:
        call_id = rules.id_illegal.sub("_", call_id)
    if rules.id_chars is None or len(call_id) <= rules.id_chars:
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{call_id[: rules.id_chars - KEPT_LETTERS - 1]}_{digest[:KEPT_LETTERS]}"


def _free(wanted: str, used: dict[str, int], rules: Rules) -> str:
    """The id itself, or with the first number that nobody before it has; it is used from now on."""
    free = wanted
    while free in used:
        used[wanted] = used.get(wanted, 1) + 1
        free = _legal(f"{wanted}_{used[wanted]}", rules)
    used.setdefault(free, 1)
    return free
