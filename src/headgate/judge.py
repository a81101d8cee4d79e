"""The verdict on one result: whole if it fits, else shaped, with the original kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from headgate.arrive import Arrived, note_of, query_of
from headgate.limits import Limit
from headgate.marker import ON_DISK, Kept, Marker
from headgate.measure.size import STANDARD_VOCAB, exact_size_of, size_of
from headgate.normalise import is_clean
from headgate.policy import FORMS, Policy
from headgate.refs import ref_of, tag_of
from headgate.shape import Room, Shaped, Source, shape
from headgate.shape.kinds import recognise
from headgate.shape.shaper import by_lines
from headgate.types import Amount, Fate, Kind, Meter, Ref, Size, Verdict


@dataclass(frozen=True, slots=True)
class Desk:
    """What a verdict depends on beside the result: the same for a whole batch."""

    policy: Policy
    meter: Meter
    key: bytes
    session: str
    path_for: Callable[[Ref, str], str | None] = lambda ref, call_id: None
    question: str = ""
    used: float | None = None
    """The share of the window in use before this batch, where it is known."""
    failed: Mapping[Ref, Kept] = field(default_factory=dict)
    """Originals that the store could not keep, and where they are instead."""
    partly: Mapping[Ref, int] = field(default_factory=dict)
    """Of originals that `failed` says are kept partly: up to which byte."""

    def ref(self, sha256: str) -> Ref | None:
        """The address of an original; None where it is not kept."""
        if not self.policy.spill:
            return None
        ref = ref_of(self.key, self.session, sha256)
        return None if self.failed.get(ref) == "nowhere" else ref

    def marker(self, sha256: str, call_id: str, size: Size | None = None) -> Marker:
        """The markers of one result; `size` is that of its text, where it is known."""
        ref = self.ref(sha256)
        kept = self.failed.get(ref, "stored") if ref else "nowhere"
        return Marker(
            tag=tag_of(self.key, self.session, sha256),
            ref=ref,
            path=told(self.path_for(ref, call_id)) if ref and kept in ON_DISK else None,
            session=None if self.session == "default" else self.session,
            kept=kept,
            kept_bytes=self.partly.get(ref or "", 0),
            style=self.policy.marker,
            tokens_per_unit=size.tokens / max(size.of(self.policy.unit), 1) if size else 1.0,
        )

    def lets_in_whole(self, sha256: str) -> bool:
        """Whether the store failed for this original, and the policy then lets it in whole."""
        if self.policy.store_fails != "whole":
            return False
        ref = ref_of(self.key, self.session, sha256)
        return self.failed.get(ref, "stored") not in ON_DISK


def told(path: str | None) -> str | None:
    """A path that can stand in a text; by what stands for any other, nobody could open the file."""
    if path is None or (path.isascii() and path.isprintable()):
        return path
    return path if "\n" not in path and is_clean(path.encode("utf-8", "surrogateescape")) else None


LET_IN = "too big, but the store could not keep it, and the policy then lets it in whole"
"""Why a result went in that is over its limit."""


def judge(arrived: Arrived, limit: Limit, share: int | None, desk: Desk) -> Verdict:
    """Decide what the model sees of one result; `share` is its piece of the batch's budget."""
    most = _smallest(limit.count, share)
    size = arrived.size.of(desk.policy.unit) + desk.policy.block_overhead
    # A note gives way where the room would become too small for a marker.
    has_note = arrived.note > 0 and (most is None or most - arrived.note >= desk.policy.minimum)
    note = arrived.note if has_note else 0
    fits = most is None or (size + note <= most and not has_form(arrived, desk.policy))
    lets_in = most is None or desk.lets_in_whole(arrived.sha256)
    if most is None or fits or lets_in:
        verdict = whole(arrived, limit, share, desk)
        if not fits:
            verdict = replace(verdict, reason=LET_IN)
    else:
        kind = arrived.result.kind or recognise(arrived.original, tool=arrived.result.tool)
        shaped = _shaped(arrived, kind, most - note, desk)
        verdict = shortened(arrived, limit, share, kind, shaped, desk)
    if not has_note:
        return verdict
    noted = _noted(verdict, arrived, desk)
    # Some rules count two texts for more than both together: there, too, a note gives way.
    reckoned = size + note if fits else most
    takes = noted.after.of(desk.policy.unit) + desk.policy.block_overhead
    return noted if lets_in or reckoned is None or takes <= reckoned else verdict


def _noted(verdict: Verdict, arrived: Arrived, desk: Desk) -> Verdict:
    """The verdict with our note above what the model sees."""
    shown = arrived.readable(desk.policy).decode() if verdict.text is None else verdict.text
    note = note_of(arrived.result)
    text = f"{note}\n{shown}" if shown else note
    return replace(verdict, text=text, after=exact_size_of(text, desk.meter))


def whole(arrived: Arrived, limit: Limit, share: int | None, desk: Desk) -> Verdict:
    """A result goes in whole; one that normalising changed keeps its original."""
    text = arrived.readable(desk.policy).decode() if arrived.changed else None
    after = size_of(text, desk.meter) if text and arrived.text is None else arrived.size
    ref = desk.ref(arrived.sha256) if text is not None and arrived.original else None
    return _verdict(
        arrived,
        limit,
        share,
        desk,
        kind=None,
        text=text,
        after=after,
        ref=ref,
        reason=_why_whole(arrived, ref),
    )


def referring(arrived: Arrived, text: str, base: str, desk: Desk) -> Verdict:
    """A result that stands in the history already: `text` refers to it."""
    verdict = _verdict(
        arrived,
        Limit(None, "nothing: it stands in the history already"),
        None,
        desk,
        kind=None,
        text=text,
        after=size_of(text.encode(), desk.meter),
        ref=desk.ref(arrived.sha256),
        reason=f"the result of {base} says the same",
    )
    return replace(verdict, fate="spilled" if verdict.ref else "shaped", base=base)


def _why_whole(arrived: Arrived, ref: Ref | None) -> str:
    if not arrived.original:
        return "empty"
    if not arrived.changed:
        return "fits"
    return f"fits; made readable, the original is {'kept' if ref else 'not kept'}"


def shortened(
    arrived: Arrived, limit: Limit, share: int | None, kind: Kind, shaped: Shaped, desk: Desk
) -> Verdict:
    """The verdict of a result that is too big: what is left in sight, and where the whole is."""
    unit = desk.policy.unit
    most = _smallest(limit.count, share) or 0
    ref = desk.ref(arrived.sha256)
    stored = ref is not None and desk.failed.get(ref, "stored") in ON_DISK
    return _verdict(
        arrived,
        limit,
        share,
        desk,
        kind=kind,
        text=shaped.text,
        after=exact_size_of(shaped.text, desk.meter),
        ref=ref,
        reason=f"{arrived.size.of(unit):,} {unit}, {most:,} allowed; {kind}: {shaped.how}",
        fate="spilled" if stored else "shaped",
    )


def _shaped(arrived: Arrived, kind: Kind, most: int, desk: Desk) -> Shaped:
    source = Source(
        data=arrived.original if kind == "binary" else arrived.readable(desk.policy),
        kind=kind,
        size=arrived.size.of(desk.policy.unit),
        lines=arrived.size.lines,
    )
    room = Room(most - desk.policy.block_overhead, desk.meter)
    marker = desk.marker(arrived.sha256, arrived.result.call_id, arrived.size)
    if arrived.changed and kind != "binary":
        marker = replace(marker, within=by_lines)
    if desk.policy.keep in FORMS:
        from headgate.shape.forms import in_form  # not for a policy that looks for what matters

        return in_form(source, room, marker, desk.policy, arrived.result)
    query = query_of(arrived.result, desk.policy, desk.question)
    keep, is_error = desk.policy.keep, arrived.result.is_error
    return shape(source, room, query, marker, keep=keep, is_error=is_error)


def has_form(arrived: Arrived, policy: Policy) -> bool:
    """Whether the policy's form holds for a result that would fit as it is."""
    if policy.keep not in FORMS or arrived.text is None:
        return False
    from headgate.shape.forms import is_in_form

    return is_in_form(arrived.text, arrived.size.of(policy.unit), policy, arrived.result)


def _verdict(
    arrived: Arrived,
    limit: Limit,
    share: int | None,
    desk: Desk,
    *,
    kind: Kind | None,
    text: str | None,
    after: Size,
    ref: Ref | None,
    reason: str,
    fate: Fate = "whole",
) -> Verdict:
    by = limit.by
    if share is not None and (limit.count is None or share < limit.count):
        by = f"its share of the batch; {limit.by}"
    count = _smallest(limit.count, share)
    return Verdict(
        call_id=arrived.result.call_id,
        tool=arrived.result.tool,
        fate=fate,
        kind=kind,
        before=arrived.size,
        after=after,
        text=text,
        ref=ref,
        limit=Amount(count, desk.policy.unit) if count is not None else None,
        limit_by=by,
        reason=reason,
        sha256=arrived.sha256,
        vocab=desk.meter.name if desk.meter.unit == "tokens" else STANDARD_VOCAB,
        is_error=arrived.result.is_error,
    )


def _smallest(limit: int | None, share: int | None) -> int | None:
    counts = [count for count in (limit, share) if count is not None]
    return min(counts, default=None)
