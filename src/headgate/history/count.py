"""How many tokens a history is: what the provider last reported, and an estimate of what follows.

The report is exact, but it ends with the response it came with. Clients that keep one response as
several messages put results between them; those were not in the report, so the estimate begins
behind the first message of that response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from headgate.dialects import dialect_named
from headgate.dialects.history import History, Message
from headgate.errors import HistoryError
from headgate.history.calibrate import (
    UNDER_SHARE,
    Calibration,
    Estimate,
    Observation,
    estimate,
    likely,
    uncalibrated,
)
from headgate.history.dense import dense_calls
from headgate.history.makeup import Makeup, total
from headgate.history.tally import (
    MESSAGE_TOKENS,
    Component,
    CountCache,
    Entry,
    Tally,
    Teller,
)
from headgate.history.usage import Usage
from headgate.measure.estimates import MEDIA_TOKENS
from headgate.measure.meters import meter_for
from headgate.measure.models import counted_as, knows
from headgate.rules import DEFAULT_COUNTING, CountRule
from headgate.types import Meter

LEAST_LEARNT_TOKENS = 50
"""Less than this says more about what the client adds around it than about the text."""

UNKNOWN_TOOL = "?"
"""The tool of a result whose call is not in the history."""


@dataclass(frozen=True, slots=True)
class Accounting:
    """How histories are counted; made for a model by `accounting_for`."""

    meter: Meter
    name: str
    """The vocabulary, and what its counts are multiplied with: `o200k x 1.58`."""
    calibration: Calibration | None = None
    """None: the meter's word stands, and no error is known."""
    window_tokens: int | None = None
    media_tokens: int = MEDIA_TOKENS
    message_tokens: int = MESSAGE_TOKENS
    warn_at: tuple[float, ...] = DEFAULT_COUNTING.warn_at
    under_share: float = UNDER_SHARE
    """How often the count may turn out too low."""
    recounts_fragments: bool = False
    """Whether later messages of the answered response are estimated though the report has them."""
    dense_extensions: tuple[str, ...] = ()
    """Files whose results are counted with `dense_meter`."""
    dense_meter: Meter | None = None

    def estimate(self, makeup: Makeup) -> Estimate:
        """The tokens of what is made up like this, and how far off that may be."""
        if self.calibration is None:
            tokens = self.likely(makeup)
            return Estimate(tokens, tokens, tokens)
        return estimate(self.calibration, makeup, self.under_share)

    def likely(self, makeup: Makeup) -> int:
        """The tokens of what is made up like this."""
        if self.calibration is None:
            return makeup.tokens + makeup.fixed_tokens
        return likely(self.calibration, makeup)


def accounting_for(
    model: str, calibration: Calibration | None = None, rule: CountRule = DEFAULT_COUNTING
) -> Accounting:
    """How histories for a model are counted: by the policy's rule, else by the table and by what
    was observed."""
    counting = counted_as(model)
    vocab = rule.vocab or ("" if knows(model) else rule.unknown)
    accounting = Accounting(
        meter_for(vocab or counting.vocab, "tokens"),
        vocab or counting.name,
        None if vocab else calibration or uncalibrated(counting),
        counting.window,
        warn_at=rule.warn_at,
        recounts_fragments=rule.recounts_fragments,
        dense_extensions=rule.dense_extensions,
        dense_meter=meter_for(rule.dense_vocab, "tokens") if rule.dense_extensions else None,
    )
    if rule.message_tokens is None:
        return accounting
    return replace(accounting, message_tokens=rule.message_tokens)


@dataclass(frozen=True, slots=True)
class Share:
    """What one component of a history takes; results are told apart by their tool."""

    component: Component
    tokens: int
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """The size of a history in the model's tokens."""

    tokens: int
    """What decisions go by: too low in at most `under_share` of cases."""
    likely: int
    low: int
    reported: int
    """The part of it that the provider reported."""
    estimated: Estimate
    """The part that it has not seen yet."""
    tallies: tuple[Tally, ...]
    """What stands before the messages, and each of them."""
    accounting: Accounting = field(compare=False, repr=False)
    vocab: str
    """What was counted in."""
    observations: int
    """How many reports the estimate has learnt from."""
    under_share: float
    window_tokens: int | None
    warnings: tuple[str, ...]
    """One sentence for each mark that was passed."""

    @property
    def shares(self) -> tuple[Share, ...]:
        """An estimate of each component, the largest first."""
        return _shares(self.tallies, self.accounting)

    @property
    def sizes(self) -> tuple[int, ...]:
        """An estimate of each message, in order."""
        return tuple(self.accounting.likely(tally.makeup) for tally in self.tallies[1:])

    @property
    def unseen(self) -> int:
        """What the provider counted beyond these messages, such as a system prompt sent apart;
        below zero where the components are estimated too high."""
        return self.likely - sum(share.tokens for share in self.shares)

    @property
    def error(self) -> float:
        """How far off `likely` may be, as a part of it."""
        widest = max(self.tokens - self.likely, self.likely - self.low)
        return widest / self.likely if self.likely else 0.0

    @property
    def pressure(self) -> float | None:
        """The part of the window in use, where the window is known."""
        return self.tokens / self.window_tokens if self.window_tokens else None

    def __str__(self) -> str:
        learnt = f", learnt from {self.observations} reports" if self.observations else ""
        return f"{self.likely:,} tokens ({self.low:,} to {self.tokens:,}) in {self.vocab}{learnt}"


def count(
    history: History,
    accounting: Accounting,
    *,
    usage: Usage | None = None,
    answered: int | None = None,
    cache: CountCache | None = None,
) -> Count:
    """Count a history; `usage` came with the response that ends at message `answered`.

    Without `answered` it is the last message of the assistant's. Without `usage`, or where nothing
    of the response is in the history, all of it is estimated.
    """
    if cache is not None:
        cache.hold(len(history.messages))
    teller = _teller(history, accounting, cache)
    tallies = (teller.settings(history), *map(teller.message, history.messages))
    at = _answered(history, answered) if usage is not None else None
    if usage is None or at is None:
        reported, unsent = 0, 0
        added = total(tally.makeup for tally in tallies)
    else:
        reported, unsent = usage.context, usage.unsent_tokens
        places = unreported(history.messages, at, accounting)
        added = total(tallies[place + 1].makeup for place in places)
    estimated = accounting.estimate(added)
    tokens = reported + estimated.high
    calibration = accounting.calibration
    return Count(
        tokens=tokens,
        likely=reported + estimated.likely,
        low=max(0, reported - unsent) + estimated.low,
        reported=reported,
        estimated=estimated,
        tallies=tallies,
        accounting=accounting,
        vocab=accounting.name,
        observations=calibration.observations if calibration else 0,
        under_share=accounting.under_share,
        window_tokens=accounting.window_tokens,
        warnings=_warnings(tokens, accounting),
    )


def observation(
    history: History,
    accounting: Accounting,
    *,
    before: Usage,
    answered: int,
    after: Usage,
    cache: CountCache | None = None,
) -> Observation | None:
    """What can be learnt from two reports in a row; None where it would mislead.

    `history` is what was sent to get `after`; `before` came with the response that ends at message
    `answered` of it.
    """
    teller = _teller(history, accounting, cache)
    places = unreported(history.messages, answered, replace(accounting, recounts_fragments=False))
    added = total(teller.message(history.messages[place]).makeup for place in places)
    reported = before.growth_to(after)
    if added.fixed_tokens or added.tokens < LEAST_LEARNT_TOKENS or reported <= 0:
        return None
    return Observation(added, reported)


def first_fragment(messages: Sequence[Message], answered: int) -> int:
    """The first message of the response that ends at `answered`.

    Going back: a message with the same id is a fragment of the response, one of the assistant's
    with another id ends the search, and what has no id may stand between two fragments.
    """
    response_id = _response_id(messages[answered])
    first = answered
    if not response_id:
        return first
    for i in range(answered - 1, -1, -1):
        found = _response_id(messages[i])
        if found == response_id:
            first = i
        elif found:
            break
    return first


def unreported(messages: Sequence[Message], answered: int, accounting: Accounting) -> list[int]:
    """The places of all messages that the response ending at `answered` has not counted."""
    places = range(first_fragment(messages, answered) + 1, len(messages))
    response_id = _response_id(messages[answered])
    if accounting.recounts_fragments or not response_id:
        return list(places)
    return [i for i in places if _response_id(messages[i]) != response_id]


def _response_id(message: Message) -> str:
    return message.message_id if message.role == "assistant" else ""


def _teller(history: History, accounting: Accounting, cache: CountCache | None) -> Teller:
    return Teller(
        dialect_named(history.dialect),
        accounting.meter,
        accounting.media_tokens,
        accounting.message_tokens,
        cache,
        dense_calls(history.messages, accounting.dense_extensions),
        accounting.dense_meter,
    )


def _answered(history: History, answered: int | None) -> int | None:
    messages = history.messages
    if answered is None:
        backwards = range(len(messages) - 1, -1, -1)
        return next((i for i in backwards if messages[i].role == "assistant"), None)
    if not 0 <= answered < len(messages):
        raise HistoryError(f"answered is {answered}; the history has {len(messages)} messages")
    return answered


def _shares(tallies: Sequence[Tally], accounting: Accounting) -> tuple[Share, ...]:
    made: dict[tuple[Component, str], list[Makeup]] = {}
    tools: dict[str, str] = {}
    for entry in chain.from_iterable(tally.entries for tally in tallies):
        if entry.component == "calls":
            tools[entry.call_id] = entry.tool
        tool = _tool(entry, tools) if entry.component == "results" else ""
        made.setdefault((entry.component, tool), []).append(entry.makeup)
    shares = [
        Share(component, accounting.likely(total(makeups)), tool)
        for (component, tool), makeups in made.items()
    ]
    return tuple(sorted(shares, key=lambda share: -share.tokens))


def _tool(entry: Entry, tools: Mapping[str, str]) -> str:
    return entry.tool or tools.get(entry.call_id, "") or UNKNOWN_TOOL


def _warnings(tokens: int, accounting: Accounting) -> tuple[str, ...]:
    window = accounting.window_tokens
    if not window:
        return ()
    return tuple(
        f"{tokens:,} tokens are {tokens / window:.0%} of the window of {window:,}, over {mark:.0%}"
        for mark in accounting.warn_at
        if tokens >= mark * window
    )
