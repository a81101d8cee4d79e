"""An estimate that learns, per model, from what the provider reported.

Each answer reports how much the context grew, and what was added is known. A recursive fit by least
squares over what texts are made of starts from the table's multiplier and moves with every report.
One that does not fit pulls the less the worse it fits: clients add reminders, providers drop old
thinking. How far off the last reports were decides how far an estimate leans to the high side.

All of it is a pure fold over observations. It moves counts, warnings and pressure; the limit of a
result it never moves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import mul

from headgate.history.makeup import Makeup
from headgate.measure.models import Counting

UNDER_SHARE = 0.05
"""How often an estimate may turn out too low, unless told otherwise."""

TABLE_SPREAD = 0.143
"""The standard deviation of what the table of models says, measured on tool results."""

DOUBTS = (0.2, 0.05, 0.3, 0.2, 0.2, 0.15, 0.2, 40.0)
"""How far each weight may be from the table's, one standard deviation: of tokens (times the
multiplier), bytes, line ends, digits, capitals, marks, wide bytes and results."""

OWN_VOCAB = 0.1
"""Where the vocabulary is the model's own, this part of the spread and of the doubts is left."""

RESULT_TOKENS = 4.0
"""What the wire adds around one result, until reports say more."""

MOST_RESULT_TOKENS = 1_000.0
"""Beyond this, what seems to stand around each result is something else."""

NOISE = 0.08
"""The part of a report that nothing in the text explains, relative to its size."""

NOISE_TOKENS = 60.0
"""The same for small additions, in tokens: a reminder of the client's, a line of its own."""

FITS = 2.0
"""Beyond this many standard deviations a report pulls ever less, instead of ever more."""

DRIFT = 1e-4
"""The part of its first doubt that a weight regains with each report, so that it never sets."""

RECENT = 200
"""How many reports decide how far to lean."""

NORMAL = (0.0627, 0.1891, 0.3186, 0.4538, 0.5978, 0.7554, 0.9346, 1.1503, 1.4395, 1.96)
"""Twenty evenly spread quantiles of the normal distribution, the upper half: they stand for reports
that did not come yet."""

SURPRISE = 100.0
"""A report further off than this many standard deviations counts as this many."""

BOUND = 2.0
"""No estimate is further from the table's than this factor: a text unlike all that was observed
must not be counted as nothing."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known about one model's tokens; a plain value that serialises as JSON."""

    multiplier: float
    """The table's."""
    exact: bool
    """Whether the vocabulary is the model's own: then only what surrounds texts is learnt."""
    weights: tuple[float, ...]
    doubt: tuple[tuple[float, ...], ...]
    """The covariance of the weights."""
    surprises: tuple[float, ...]
    """How far the last reports were from their estimates, in standard deviations, oldest first."""
    observations: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of a text, with the range that is missed on either side in `under_share` of cases."""

    low: int
    likely: int
    high: int


@dataclass(frozen=True, slots=True)
class Observation:
    """What was added to a history, and by how much the provider says that it grew."""

    added: Makeup
    reported_tokens: int


def uncalibrated(counting: Counting) -> Calibration:
    """What the table of models says, before anything was observed."""
    weights = (counting.multiplier, *(0.0 for _ in DOUBTS[1:-1]), RESULT_TOKENS)
    doubts = _first_doubts(counting.multiplier, exact=counting.exact)
    rows = range(len(doubts))
    doubt = tuple(tuple(doubts[i] if i == j else 0.0 for j in rows) for i in rows)
    surprises = (*(-surprise for surprise in reversed(NORMAL)), *NORMAL)
    return Calibration(counting.multiplier, counting.exact, weights, doubt, surprises)


def is_sound(calibration: Calibration) -> bool:
    """Whether a calibration that was read from somewhere is one of ours, and counts."""
    size = len(DOUBTS)
    numbers = [calibration.multiplier, *calibration.weights, *calibration.surprises]
    numbers += [number for row in calibration.doubt for number in row]
    return (
        calibration.multiplier > 0
        and len(calibration.weights) == len(calibration.doubt) == size
        and all(len(row) == size for row in calibration.doubt)
        and 0 < len(calibration.surprises) <= RECENT
        and all(map(math.isfinite, numbers))
    )


def observe(calibration: Calibration, observation: Observation) -> Calibration:
    """Learn from one report; one that says nothing about text changes nothing."""
    added, reported = observation.added, observation.reported_tokens
    if not added.tokens or added.fixed_tokens or reported <= 0:
        return calibration
    shares = _shares(added)
    expected = _ratio(calibration, shares)
    towards = _times(calibration.doubt, shares)
    variance = max(0.0, _dot(shares, towards)) + _noise(expected, added.tokens)
    off = reported / added.tokens - expected
    surprise = off / math.sqrt(variance)
    variance *= max(1.0, abs(surprise) / FITS) ** 2
    bounded = max(-SURPRISE, min(SURPRISE, surprise))
    return replace(
        calibration,
        weights=tuple(
            weight + pull * off / variance
            for weight, pull in zip(calibration.weights, towards, strict=True)
        ),
        doubt=_narrowed(calibration, towards, variance),
        surprises=(*calibration.surprises, bounded)[-RECENT:],
        observations=calibration.observations + 1,
    )


def estimate(calibration: Calibration, added: Makeup, under_share: float = UNDER_SHARE) -> Estimate:
    """The tokens of what is made up like this; too low at most in `under_share` of cases."""
    expected = likely(calibration, added)
    if not (added.tokens or added.results):
        return Estimate(expected, expected, expected)
    below, above = _margins(calibration, added, under_share)
    low = max(expected - math.ceil(below), added.fixed_tokens)
    return Estimate(low, expected, expected + math.ceil(above))


def likely(calibration: Calibration, added: Makeup) -> int:
    """The tokens of what is made up like this, as likely too high as too low."""
    if not (added.tokens or added.results):
        return added.fixed_tokens
    return round(_ratio(calibration, _shares(added)) * max(added.tokens, 1)) + added.fixed_tokens


def _shares(added: Makeup) -> tuple[float, ...]:
    """What there is of each per token, so that a long text says no more than a short one."""
    tokens = max(added.tokens, 1)
    of_text = (added.bytes, added.line_ends, added.digits, added.capitals, added.marks, added.wide)
    return (1.0, *(sum_ / tokens for sum_ in of_text), added.results / tokens)


def _ratio(calibration: Calibration, shares: Sequence[float]) -> float:
    of_text = _dot(calibration.weights[:-1], shares[:-1])
    most = calibration.multiplier * BOUND
    bounded = max(calibration.multiplier / BOUND, min(most, of_text))
    around = max(0.0, min(MOST_RESULT_TOKENS, calibration.weights[-1]))
    return bounded + around * shares[-1]


def _first_doubts(multiplier: float, *, exact: bool) -> list[float]:
    """The variance each weight starts with; none is ever doubted more."""
    scale = OWN_VOCAB if exact else 1.0
    of_tokens, *others = ((scale * doubt) ** 2 for doubt in DOUBTS)
    return [of_tokens * multiplier**2, *others]


def _noise(ratio: float, tokens: int) -> float:
    return (NOISE * ratio) ** 2 + (NOISE_TOKENS / tokens) ** 2


def _narrowed(
    calibration: Calibration, towards: Sequence[float], variance: float
) -> tuple[tuple[float, ...], ...]:
    """The covariance after a report: less along what it spoke of, a little more everywhere."""
    narrowed = [
        [held - one * other / variance for held, other in zip(row, towards, strict=True)]
        for row, one in zip(calibration.doubt, towards, strict=True)
    ]
    firsts = _first_doubts(calibration.multiplier, exact=calibration.exact)
    for i, first in enumerate(firsts):
        narrowed[i][i] = min(first, narrowed[i][i] + DRIFT * first)
    return tuple(map(tuple, narrowed))


def _margins(calibration: Calibration, added: Makeup, under_share: float) -> tuple[float, float]:
    """How far below and above its likely tokens a text may be."""
    shares, tokens = _shares(added), max(added.tokens, 1)
    ratio = _ratio(calibration, shares)
    below, above = _leaning(calibration.surprises, under_share)
    if calibration.observations:
        doubt = max(0.0, _dot(shares, _times(calibration.doubt, shares)))
        step = math.sqrt(doubt + _noise(ratio, tokens)) * tokens
    else:
        step = TABLE_SPREAD * (OWN_VOCAB if calibration.exact else 1.0) * ratio * tokens
    return max(0.0, -below) * step, max(0.0, above) * step


def _leaning(surprises: Sequence[float], under_share: float) -> tuple[float, float]:
    """How many standard deviations down and up leave out `under_share` of recent reports each.

    The rank is one worse than the plain quantile's: then the next report, too, exceeds it no
    more often than that.
    """
    ordered = sorted(surprises)
    rank = min(len(ordered), math.ceil((len(ordered) + 1) * (1 - under_share)))
    return ordered[-rank], ordered[rank - 1]


def _times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [_dot(row, vector) for row in matrix]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return float(sum(map(mul, one, other)))
