from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Policy, Text, tokens
from headgate.admit import plan_batch, shown
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.testing import lines, result
from tests.admitting import IMAGE, KEY, METER, big, plan

NOTE = "[guard: this is call 4 of grep in a row with the same arguments.]"


def test_a_note_stands_above_a_result_that_fits():
    planned = plan([replace(result("grep", "one line"), note=NOTE)])

    [verdict] = planned.verdicts
    assert (verdict.fate, verdict.text, planned.spills) == ("whole", f"{NOTE}\none line", ())
    assert verdict.after.tokens > verdict.before.tokens


@pytest.mark.proves("R10", "P3")
def test_a_note_takes_its_room_from_the_result_below_it():
    policy = Policy(result=tokens(400), batch=tokens(700))
    planned = plan([replace(big(count=n), note=NOTE) for n in (300, 301)], policy)

    assert [verdict.text.startswith(f"{NOTE}\n") for verdict in planned.verdicts] == [True, True]
    assert [spill.original for spill in planned.spills] == [
        lines(300).encode(),
        lines(301).encode(),
    ]
    assert sum(METER.count(verdict.text) + 4 for verdict in planned.verdicts) <= 700


@pytest.mark.proves("P18")
@pytest.mark.parametrize("count", [1, 900])
def test_a_note_that_repeats_what_a_model_wrote_brings_in_no_controls(count):
    noted = replace(big(count=count), note="[guard: call 4 of a\x07b\ud800.]")
    [verdict] = plan([noted], Policy(result=tokens(300))).verdicts

    assert verdict.text.startswith("[guard: call 4 of a\\x07b\\ud800.]\n")


@pytest.mark.proves("R2")
def test_a_note_stands_above_an_image_and_takes_nothing_from_it():
    seen = replace(result("screenshot", [IMAGE]), note=NOTE)
    [verdict] = plan([seen]).verdicts

    assert shown(seen, verdict).blocks == (Text(NOTE), IMAGE)


def test_a_note_gives_way_where_there_is_room_for_a_marker_alone():
    planned = plan([replace(big(), note=NOTE)], Policy(result=tokens(130)))

    [verdict] = planned.verdicts
    assert NOTE not in verdict.text
    assert verdict.after.tokens + 4 <= 130


@pytest.mark.proves("R10", "P2")
@given(
    st.text(min_size=1, max_size=120).filter(str.strip),
    st.text(max_size=60),
    st.integers(0, 400),
    st.integers(128, 500),
)
def test_whatever_a_note_says_a_shortened_result_stays_in_its_limit(note, start, count, limit):
    noted = replace(result("grep", f"{start}{lines(count)}"), note=note)

    [verdict] = plan([noted], Policy(result=tokens(limit))).verdicts

    seen = f"{start}{lines(count)}" if verdict.text is None else verdict.text
    assert METER.count(seen) + 4 <= limit


@pytest.mark.proves("R10", "P2")
def test_a_note_gives_way_where_it_and_its_result_count_for_more_than_both():
    policy = Policy(result=tokens(256), vocab="median of three", keep="head")
    meter = meter_for(policy.vocab, policy.unit)
    desk = Desk(policy, meter, KEY, "default")
    noted = replace(big(count=900), note="n" * 3_000)

    [verdict] = plan_batch([noted], Ledger(None), desk, NO_OVERRIDES).verdicts

    assert verdict.text.startswith("[88")
    assert meter.count(verdict.text) + 4 <= 256 < meter.count(f"{noted.note}\n{verdict.text}")
