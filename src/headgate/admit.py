"""Spine: a batch comes in. The order of the steps, and nothing else; nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.arrive import Arrived, Identity, arrive, identify
from headgate.budget import SHARING
from headgate.events import Event
from headgate.judge import Desk, has_form, judge
from headgate.ledger import Key
from headgate.limits import Limit, OverrideTable, limit_for
from headgate.policy import Policy
from headgate.types import Media, Ref, ShownResult, Text, ToolResult, Verdict

READ_BACK = Limit(None, "read back: never spilled again", exempt=True)


@dataclass(frozen=True, slots=True)
class Spill:
    """An original to be kept before its verdict is shown."""

    ref: Ref
    original: bytes
    call_id: str
    tool: str
    sha256: str
    clean: bool
    """Valid UTF-8 without controls: the store need not look."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a batch: the verdicts in order, what to keep, what to report."""

    keys: tuple[Key, ...]
    verdicts: tuple[Verdict, ...]
    spills: tuple[Spill, ...]
    events: tuple[Event, ...]
    budget: int | None
    media: int = 0
    """What images and the like take of the budget; no verdict speaks of them."""


@dataclass(frozen=True, slots=True)
class Case:
    """One result of a batch on its way to a verdict; what was decided is not measured again."""

    identity: Identity
    key: Key
    limit: Limit
    known: Verdict | None
    arrived: Arrived | None

    @property
    def fixed(self) -> bool:
        """Whether the batch cannot shorten it: decided before, exempt, verbatim, or read back."""
        exempt = self.limit.exempt or self.limit.count is None
        return self.known is not None or exempt or self.identity.result.origin == "store"


class Verdicts(Protocol):
    """Where verdicts of earlier are found."""

    def find(self, key: Key) -> Verdict | None:
        """The verdict that stands for a key."""
        ...


def plan_batch(
    batch: Sequence[ToolResult],
    verdicts: Verdicts,
    desk: Desk,
    overrides: OverrideTable,
    prefix: bytes = b"",
    spent: int = 0,
) -> Plan:
    """Decide what the model sees of each result of a batch; `spent` of the turn is gone."""
    cases, events = _cases(batch, verdicts, desk, overrides, prefix)
    budget = overrides.batch or desk.policy.batch_budget(spent, desk.used)
    media = sum([case.identity.media for case in cases]) * desk.policy.media_count
    shares = _shares(cases, budget, media, desk.policy)
    decided: list[Verdict] = []
    spills: dict[Ref, Spill] = {}
    for case, share in zip(cases, shares, strict=True):
        verdict = _decided(case, share, desk)
        decided.append(verdict)
        if case.arrived is not None and verdict.ref is not None:
            spills[verdict.ref] = _spill(case.arrived, verdict.ref)
    keys = tuple(case.key for case in cases)
    return Plan(keys, tuple(decided), tuple(spills.values()), tuple(events), budget, media)


def _cases(
    batch: Sequence[ToolResult],
    verdicts: Verdicts,
    desk: Desk,
    overrides: OverrideTable,
    prefix: bytes,
) -> tuple[list[Case], list[Event]]:
    cases: list[Case] = []
    events: list[Event] = list(overrides.ignored)
    for result in batch:
        identity = identify(result)
        key = Key(prefix, result.call_id, identity.digest)
        limit, noted = limit_for(result, desk.policy, overrides, desk.used)
        events += noted
        known = verdicts.find(key)
        arrived = _arrived(identity, limit, desk) if known is None else None
        cases.append(Case(identity, key, limit, known, arrived))
    return cases, events


def _arrived(identity: Identity, limit: Limit, desk: Desk) -> Arrived:
    most = limit.count and limit.count - desk.policy.block_overhead
    return arrive(identity, desk.policy, desk.meter, most)


def _decided(case: Case, share: int | None, desk: Desk) -> Verdict:
    if case.known is not None:
        return case.known
    assert case.arrived is not None
    if case.identity.result.origin == "store":
        return judge(case.arrived, READ_BACK, None, desk)
    return judge(case.arrived, case.limit, share, desk)


def _shares(
    cases: Sequence[Case], budget: int | None, media: int, policy: Policy
) -> list[int | None]:
    """Each result's piece of the batch's budget; None: it stands whatever the budget."""
    if budget is None:
        return [None] * len(cases)
    costs = [_cost(case, policy) for case in cases]
    if policy.sharing != "even" and sum(costs) + media <= budget:
        return [None] * len(cases)  # each gets all it wants
    stands = [case.fixed or _kept_its_word(case, policy) for case in cases]
    fixed = [cost for cost, still in zip(costs, stands, strict=True) if still]
    wants = [cost for cost, still in zip(costs, stands, strict=True) if not still]
    is_even = policy.sharing == "even"
    # An even share is known before, and told, also to who wants less; any other is then its size.
    asked = [budget] * len(wants) if is_even else wants
    shares = SHARING[policy.sharing](asked, fixed, budget - media, policy.preview.count)
    held = iter(
        max(share, policy.minimum) if is_even or share < want else None
        for share, want in zip(shares, wants, strict=True)
    )
    return [_told(case) if still else next(held) for case, still in zip(cases, stands, strict=True)]


def _told(case: Case) -> int | None:
    """What a result that stands is said to be held to: the share its tool was told, if any."""
    return None if case.fixed else case.identity.result.promised


def _kept_its_word(case: Case, policy: Policy) -> bool:
    """Whether the tool stayed under what it was told beforehand: then nothing takes it back."""
    promised = case.identity.result.promised
    return promised is not None and _cost(case, policy) <= promised


def shares_ahead(
    batch: Sequence[ToolResult], policy: Policy, overrides: OverrideTable
) -> list[int | None]:
    """What each result may be and still go in whole, known before it is there; None: anything.

    An even split of the budget: what small results will leave to large ones is not known yet.
    """
    budget = overrides.batch or policy.batch_budget()
    share = None if budget is None else max(budget // max(len(batch), 1), policy.minimum)
    return [_ahead(limit_for(result, policy, overrides)[0], share) for result in batch]


def _ahead(limit: Limit, share: int | None) -> int | None:
    if limit.exempt or share is None:
        return limit.count
    return share if limit.count is None else min(limit.count, share)


def _cost(case: Case, policy: Policy) -> int:
    """What a result's text takes of the budget."""
    if case.known is not None:
        return case.known.after.of(policy.unit) + policy.block_overhead
    assert case.arrived is not None
    size = case.arrived.size.of(policy.unit) + policy.block_overhead + case.arrived.note
    # A page can be larger than the array it is of, by its envelope.
    is_page = policy.keep == "envelope" and has_form(case.arrived, policy)
    size += policy.minimum if is_page else 0
    return min(size, case.limit.count or size)


def _spill(arrived: Arrived, ref: Ref) -> Spill:
    result = arrived.result
    clean = arrived.text is arrived.original
    return Spill(ref, arrived.original, result.call_id, result.tool, arrived.sha256, clean)


def shown(result: ToolResult, verdict: Verdict) -> ShownResult:
    """The result as the model gets it: one text in place of the first, media where they were."""
    if verdict.text is None:
        return result.seen_as(verdict)
    texts = [i for i, block in enumerate(result.blocks) if not isinstance(block, Media)]
    if not texts:
        return result.seen_as(verdict, (Text(verdict.text), *result.blocks))
    blocks = [
        Text(verdict.text) if i == texts[0] else block
        for i, block in enumerate(result.blocks)
        if i == texts[0] or i not in texts
    ]
    return result.seen_as(verdict, tuple(blocks))
