import math
import random
import statistics

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.history.calibrate import (
    Calibration,
    Estimate,
    Observation,
    estimate,
    is_sound,
    likely,
    observe,
    uncalibrated,
)
from headgate.history.makeup import Makeup
from headgate.measure.models import Counting, counted_as
from tests.architecture import imports, modules

pytestmark = pytest.mark.proves("A4")

START = uncalibrated(Counting("o200k", 1.5, None, exact=False))
OWN = uncalibrated(Counting("o200k", 1.0, None, exact=True))


def some_text(chance):
    """The makeup of a tool result of any size and kind."""
    tokens = int(math.exp(chance.uniform(math.log(300), math.log(20_000))))
    return Makeup(
        tokens=tokens,
        bytes=int(tokens * chance.uniform(2.2, 4.5)),
        line_ends=int(tokens * chance.uniform(0.02, 0.15)),
        digits=int(tokens * chance.uniform(0.0, 1.2)),
        capitals=int(tokens * chance.uniform(0.02, 0.3)),
        marks=int(tokens * chance.uniform(0.2, 1.0)),
        results=chance.choice((1, 1, 1, 2, 4)),
    )


def truth(made, chance, noise=0.05):
    """What a provider reports whose digits and marks cost more than the table knows."""
    tokens = 1.1 * made.tokens + 0.15 * made.digits + 0.3 * made.marks + 25 * made.results
    return max(1, round(tokens * math.exp(chance.gauss(0, noise))))


def taught(start, count, chance, report=truth):
    known = start
    for _ in range(count):
        made = some_text(chance)
        known = observe(known, Observation(made, report(made, chance)))
    return known


def errors(known, chance, report=truth, count=300):
    texts = [some_text(chance) for _ in range(count)]
    return [likely(known, made) / report(made, chance) - 1 for made in texts]


def test_before_any_report_the_table_of_models_is_used():
    counting = counted_as("claude-sonnet-5")
    known = uncalibrated(counting)

    assert known.observations == 0
    assert likely(known, Makeup(tokens=1_000, bytes=4_000)) == counting.in_model(1_000) == 1_580
    assert estimate(known, Makeup(tokens=1_000)) == Estimate(1_137, 1_580, 2_023)


def test_a_models_own_vocabulary_is_doubted_less():
    assert estimate(OWN, Makeup(tokens=1_000)) == Estimate(971, 1_000, 1_029)


def test_media_cost_what_they_cost_and_nothing_is_nothing():
    assert estimate(START, Makeup(fixed_tokens=2_000)) == Estimate(2_000, 2_000, 2_000)
    assert estimate(START, Makeup()) == Estimate(0, 0, 0)


def test_reports_teach_what_the_table_does_not_know():
    known = taught(START, 200, random.Random(1))

    before = statistics.fmean(map(abs, errors(START, random.Random(2))))
    after = statistics.fmean(map(abs, errors(known, random.Random(2))))

    assert known.observations == 200
    assert after < 0.05
    assert after < before / 2


def test_a_few_reports_are_a_good_start():
    known = taught(START, 10, random.Random(1))

    assert statistics.fmean(map(abs, errors(known, random.Random(2)))) < 0.08


def test_what_texts_are_made_of_beats_a_single_ratio():
    def quiet(made, chance):
        return truth(made, chance, noise=0.01)

    chance = random.Random(3)
    known = taught(START, 200, chance, quiet)
    seen = [some_text(chance) for _ in range(200)]
    ratio = statistics.median(quiet(made, chance) / made.tokens for made in seen)
    texts = [some_text(chance) for _ in range(300)]
    flat = statistics.fmean(abs(ratio * m.tokens / quiet(m, chance) - 1) for m in texts)

    assert statistics.fmean(map(abs, errors(known, chance, quiet))) < flat / 3


@pytest.mark.parametrize("under_share", [0.05, 0.2])
@pytest.mark.parametrize("noise", [0.02, 0.05, 0.15, 0.4])
def test_an_estimate_is_too_low_no_more_often_than_stated(under_share, noise):
    chance = random.Random(4)
    known, too_low, windows = START, 0, 1_000
    for _ in range(windows):
        made = some_text(chance)
        reported = truth(made, chance, noise)
        too_low += estimate(known, made, under_share).high < reported
        known = observe(known, Observation(made, reported))

    # Two standard deviations of luck in a thousand windows.
    luck = 2 * math.sqrt(under_share * (1 - under_share) / windows)
    assert too_low / windows <= under_share + luck


@pytest.mark.parametrize("noise", [0.05, 0.4])
def test_the_stated_error_is_as_wide_as_the_reports_are_noisy(noise):
    chance = random.Random(5)
    known = taught(START, 300, chance, lambda made, by: truth(made, by, noise))
    made = Makeup(tokens=5_000, bytes=17_000, line_ends=400, digits=2_000, marks=3_000, results=1)

    range_ = estimate(known, made)

    width = math.log(range_.high / range_.likely)
    assert 1.2 * noise < width < 3 * noise


def test_wild_reports_do_not_spoil_what_was_learnt():
    def wild(made, chance):
        return truth(made, chance) * (chance.choice((3, 6)) if chance.random() < 0.1 else 1)

    known = taught(START, 300, random.Random(6), wild)

    assert statistics.median(map(abs, errors(known, random.Random(7)))) < 0.06


def test_a_model_that_changes_is_followed():
    def dearer(made, chance):
        return round(1.25 * truth(made, chance))

    chance = random.Random(8)
    known = taught(taught(START, 500, chance), 150, chance, dearer)

    assert statistics.fmean(map(abs, errors(known, chance, dearer))) < 0.08


def test_an_estimate_of_an_unknown_kind_of_text_is_wider():
    known = taught(START, 200, random.Random(9))
    usual = Makeup(tokens=5_000, bytes=17_000, digits=2_000, marks=3_000)
    strange = usual._replace(bytes=40_000, wide=40_000, digits=0, marks=0)

    assert _width(known, strange) > 2 * _width(known, usual)


def _width(known, made):
    range_ = estimate(known, made)
    return (range_.high - range_.low) / range_.likely


def test_a_report_about_media_or_without_growth_teaches_nothing():
    made = Makeup(tokens=1_000, bytes=4_000)

    assert observe(START, Observation(made, 0)) is START
    assert observe(START, Observation(made, -400)) is START
    assert observe(START, Observation(Makeup(), 400)) is START
    assert observe(START, Observation(made._replace(fixed_tokens=2_000), 3_500)) is START


def test_a_calibration_is_a_value_that_serialises():
    known = taught(START, 30, random.Random(10))

    written = msgspec.json.encode(known)

    assert msgspec.json.decode(written, type=Calibration) == known
    assert taught(START, 30, random.Random(10)) == known
    assert is_sound(known)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": (1.0,)},
        {"weights": (math.nan, *START.weights[1:])},
        {"doubt": START.doubt[:-1]},
        {"doubt": (START.doubt[0][:-1], *START.doubt[1:])},
        {"surprises": ()},
        {"surprises": (math.inf,)},
        {"multiplier": 0.0},
    ],
    ids=["few weights", "nan", "few rows", "short row", "no surprises", "infinite", "nothing"],
)
def test_a_calibration_that_does_not_fit_is_told(change):
    assert not is_sound(_changed(change))


def _changed(change):
    fields = {name: getattr(START, name) for name in Calibration.__slots__}
    return Calibration(**{**fields, **change})


SIZES = st.integers(0, 1_000_000)
MAKEUPS = st.builds(
    Makeup, SIZES, SIZES, SIZES, SIZES, SIZES, SIZES, SIZES, st.integers(0, 50), st.just(0)
)


@given(
    st.lists(st.tuples(MAKEUPS, st.integers(-10, 10**9)), max_size=12),
    MAKEUPS,
    st.floats(0.01, 0.5),
)
def test_whatever_is_reported_an_estimate_stays_near_the_table(reports, made, under_share):
    known = START
    for added, reported in reports:
        known = observe(known, Observation(added, reported))

    range_ = estimate(known, made, under_share)

    assert is_sound(known)
    assert 0 <= range_.low <= range_.likely <= range_.high
    most = 3 * made.tokens + 1_000 * made.results + 3
    assert 0.75 * made.tokens - 1 <= range_.likely <= most


@pytest.mark.proves("0.1")
def test_nothing_that_decides_on_a_result_knows_of_calibration():
    deciding = ("limits", "judge", "admit", "budget", "policy", "shape/", "measure/", "stream")
    found = [
        (module.path, name)
        for module in modules()
        if module.unit in deciding
        for _, name in imports(module)
        if "history" in name.split(".")
    ]

    assert found == []
