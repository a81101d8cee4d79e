"""What becomes of every call and result, decided before anything is moved.

One mending is where the decisions of one repair lie side by side: parts that are replaced or
taken out, and results that have to be made.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from headgate.dialects.dialect import Dialect, Rules
from headgate.dialects.history import NEW, History, Message, Part
from headgate.dialects.wire import error_text
from headgate.history.answers import apart
from headgate.history.ids import Names, names_for
from headgate.history.pairing import Pairing, paired
from headgate.history.report import Asked, Case, Fix, FixKind, Real
from headgate.history.rounds import Place, Round, Spot, rounds_of

UNKNOWN_OUTCOME = (
    "Its outcome is unknown: it may or may not have taken effect. "
    "Do not repeat it blindly; first find out how things stand."
)

INTERRUPTED = f"This call was interrupted and its result never arrived. {UNKNOWN_OUTCOME}"
"""The result of a call that nobody saw end. It never changes: what was sent once is sent again."""

MADE: Mapping[str, str] = MappingProxyType(
    {
        hashlib.sha256(said.encode()).hexdigest(): said
        for said in (INTERRUPTED, error_text(INTERRUPTED))
    }
)
"""By its sha256: what stands for such a result, with a flag for errors or without."""

NOWHERE: frozenset[Place] = frozenset()

TAKEN_OUT = {
    "orphan": "a result that answers no call is taken out",
    "duplicate": "a second result for the same call is taken out",
    "late": "a result that came after the conversation had gone on is taken out",
}


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The result a call goes out with, and where it stood; nowhere if it is new."""

    part: Part
    origin: Place | None


@dataclass(slots=True)
class Mending:
    """A history under repair."""

    history: History
    case: Case
    rounds: list[Round]
    pairing: Pairing
    names: Names
    ends: Mapping[int, int]
    """Of the calls that stand in a row: by the message of each, that of the last."""
    changed: dict[Place, Part] = field(default_factory=dict)
    removed: set[Place] = field(default_factory=set)
    made: dict[Place, Part] = field(default_factory=dict)
    """New results, by the places of their calls."""
    firsts: dict[str, Place] = field(default_factory=dict)
    """By its id, the first call that came with it."""
    fixes: list[Fix] = field(default_factory=list)

    @property
    def messages(self) -> tuple[Message, ...]:
        """As they came to this step."""
        return self.history.messages

    def note(
        self, kind: FixKind, message: int, what: str, part: Part, *, keep: bool = False
    ) -> None:
        """Report a fix; `keep`: what is taken out goes into the report."""
        where = self.history.where(self.messages[message])
        self.fixes.append(Fix(kind, where, what, part.call_id, part if keep else None))

    def round_of(self, call: Spot) -> Round:
        """The round in which a call was made."""
        return self.rounds[bisect_right(self.rounds, call.message, key=lambda r: r.start) - 1]

    def answers(self, calls: Iterable[Spot]) -> list[Answer]:
        """What these calls go out with, in their order; nothing for those that still wait."""
        found: list[Answer] = []
        for call in calls:
            made = self.made.get(call.place)
            if made is not None:
                found.append(Answer(made, None))
            elif call.place not in self.names.dropped and call.place in self.pairing.answers:
                spot = self.pairing.answers[call.place]
                found.append(Answer(self.changed.get(spot.place, spot.part), spot.place))
        return found

    def kept(self, round_: Round) -> Sequence[Message]:
        """The messages of a round, each in its place."""
        if not (self.changed or self.removed):
            return self.messages[round_.start : round_.stop]
        return [self.rewritten(number) for number in range(round_.start, round_.stop)]

    def rewritten(self, number: int, lifted: Set[Place] = NOWHERE) -> Message:
        """A message with what was decided about its parts; `lifted` ones stand elsewhere now."""
        message = self.messages[number]
        if not (self.changed or self.removed or lifted):
            return message
        return self.case.edited(message, self.rest_of(number, lifted))

    def rest_of(self, number: int, lifted: Set[Place] = NOWHERE) -> list[Part]:
        """The parts of a message that stay in it, as they were decided."""
        return [
            self.changed.get((number, place), part)
            for place, part in enumerate(self.messages[number].parts)
            if (number, place) not in self.removed and (number, place) not in lifted
        ]


def decided(history: History, case: Case) -> Mending:
    """Match calls and results, and decide what is renamed, taken out and made."""
    rules = case.dialect.rules
    rounds = rounds_of(history.messages)
    ends = ends_of_calls(history.messages, rules)

    def was_sent(call: Spot, behind: int) -> bool:
        asked = Asked(call.part, _links_behind(history, behind))
        return case.interrupted is not None and case.interrupted(asked)

    def was_sent_before(call: Spot, after: Spot | None) -> bool:
        if after is None or case.spoken is None:
            return was_sent(call, call.message)
        return case.spoken(call.part, after.part)

    if rules.placing == "next":
        last = next((r for r in reversed(rounds) if r.tail > r.start), None)
        waiting_round = last if case.pending else None
        rounds = apart(
            rounds,
            history.messages,
            was_sent_before,
            waiting=waiting_round,
        )
    pairing = paired(
        rounds,
        rules,
        held=history.server_held,
        interrupted=lambda call: was_sent(call, ends[call.message]),
    )
    names = names_for(history.messages, rounds, rules, case.twins)
    mending = Mending(history, case, rounds, pairing, names, ends)
    waiting = _still_waiting(mending)
    for round_ in rounds:
        for call in round_.calls:
            mending.firsts.setdefault(call.part.call_id, call.place)
            _decide_call(mending, call, is_waiting=call.place in waiting)
        for spot in round_.results:
            reason = pairing.spare.get(spot.place)
            if reason is not None:
                mending.removed.add(spot.place)
                mending.note(reason, spot.message, TAKEN_OUT[reason], spot.part, keep=True)
    return mending


def ends_of_calls(messages: Sequence[Message], rules: Rules) -> Mapping[int, int]:
    """For each message with calls, the last of those in a row that it stands in.

    What is made for a call stands behind that; where it has to stand directly behind its call, each
    is its own.
    """
    ends: dict[int, int] = {}
    for number in reversed(range(len(messages))):
        if messages[number].role == "assistant" and messages[number].of_kind("call"):
            alone = rules.placing == "directly"
            ends[number] = number if alone else ends.get(number + 1, number)
    return ends


def _links_behind(history: History, *numbers: int) -> frozenset[bytes]:
    """The chain behind these messages, as the history was read."""
    places = [history.messages[number].at for number in numbers]
    return frozenset(history.links[at + 1] for at in places if history.links and at != NEW)


def _still_waiting(mending: Mending) -> set[Place]:
    """The calls whose results are still to come, because the caller says so."""
    if not mending.case.pending:
        return set()
    last = next((r for r in reversed(mending.rounds) if r.tail > r.start), None)
    if last is None:
        return set()
    rules = mending.case.dialect.rules
    if rules.placing == "anywhere" and any(
        not message.of_kind("result") for message in mending.messages[last.tail : last.stop]
    ):
        return set()
    calls = last.calls
    if not rules.steps_are_runs:
        calls = [call for call in calls if call.message == last.tail - 1]
    return {call.place for call in calls}


def _decide_call(mending: Mending, call: Spot, *, is_waiting: bool) -> None:
    answer = mending.pairing.answers.get(call.place)
    if call.place in mending.names.dropped:
        _drop_twin(mending, call, answer)
        return
    part = call.part
    new_id = mending.names.renamed.get(call.place)
    if new_id is not None:
        part = mending.case.dialect.with_id(part, new_id)
        mending.changed[call.place] = part
        mending.note(
            "renamed", call.message, f"the call {call.part.call_id!r} is now {new_id!r}", part
        )
    if answer is not None:
        if answer.message < call.message:
            mending.removed.add(answer.place)  # It is put behind its call; here it is gone.
        adapted = mending.case.dialect.answering(answer.part, part)
        if adapted is not answer.part:
            mending.changed[answer.place] = adapted
            if new_id is None:
                mending.note("matched", answer.message, "the result now names its call", adapted)
    elif not is_waiting:
        _make_result(mending, call, part)


def _drop_twin(mending: Mending, call: Spot, answer: Spot | None) -> None:
    mending.removed.add(call.place)
    mending.note("duplicate", call.message, "the same call a second time is taken out", call.part)
    if answer is not None:
        mending.removed.add(answer.place)
        mending.note("duplicate", answer.message, TAKEN_OUT["duplicate"], answer.part, keep=True)


def _make_result(mending: Mending, call: Spot, part: Part) -> None:
    known, call_id = mending.case.known, call.part.call_id
    real: Real | None = None
    if known is not None and call_id:
        came_as = call_id if mending.firsts[call_id] == call.place else ""
        links = _links_behind(mending.history, *_before_results(mending, call))
        real = known(Asked(part, links, came_as))
    dialect = mending.case.dialect
    if real is not None:
        mending.made[call.place] = _restored(dialect, part, real)
        mending.note("restored", call.message, f"{part.name} gets the result that was kept", part)
        return
    mending.made[call.place] = dialect.result(part, INTERRUPTED, is_error=True)
    mending.note(
        "missing", call.message, f"{part.name} has no result; it is said to be unknown", part
    )


def _before_results(mending: Mending, call: Spot) -> set[int]:
    """The messages behind which the result of a call may have begun."""
    if mending.case.dialect.rules.placing == "directly":
        return {call.message}
    return {call.message, mending.ends[call.message], mending.round_of(call).tail - 1}


def _restored(dialect: Dialect, call: Part, real: Real) -> Part:
    """The real result; it is flagged where that adds nothing to what was shown."""
    flagged = dialect.result(call, real.text, is_error=real.is_error)
    if dialect.tool_result(flagged, call).text == real.text:
        return flagged
    return dialect.result(call, real.text, is_error=False)
