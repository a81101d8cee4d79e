import json
from dataclasses import replace

import pytest

from headgate import Policy, chars, tokens, utf8_bytes
from headgate.ageing import Ageing
from headgate.check import check
from headgate.marker import Excerpt
from headgate.testing import lines
from tests.histories import body, round_of, said, user
from tests.preparing import AGEING, every_dialect, long_story, prepared


@pytest.mark.proves("H9", "H10", "H11")
@every_dialect
def test_pressure_opens_an_epoch_and_what_aged_can_still_be_read(dialect, gate_with):
    gate = gate_with(AGEING)

    outcome = prepared(gate, dialect, long_story(dialect, 8), window_tokens=7_000)

    assert outcome.epoch.why == "the window is filling up"
    aged = [verdict for verdict in outcome.verdicts if verdict.age]
    assert aged
    assert outcome.verdicts[-1].age == 0
    for verdict in aged:
        assert gate.original(verdict.ref).startswith(b"10:00:01 INFO worker 1 is fine")
    assert check(outcome.body, dialect) == []


@pytest.mark.proves("H9", "H10")
@pytest.mark.parametrize("unit", [tokens, chars, utf8_bytes])
def test_an_epoch_goes_down_to_the_low_mark_whatever_a_policy_counts(unit, gate_with):
    policy = Policy(
        result=unit(30_000),
        ageing=Ageing(low=0.4, keep_last=1, least=unit(600), head=unit(300), tail=unit(300)),
        classes={},
        repeats=False,
    )
    story = user("anthropic", "look")
    for number in range(16):
        story += round_of("anthropic", number, lines(200 + number))

    outcome = prepared(gate_with(policy), "anthropic", story, window_tokens=50_000)

    assert outcome.epoch is not None
    assert 0.3 * 50_000 < outcome.count.tokens <= 0.45 * 50_000


@pytest.mark.proves("H9")
@pytest.mark.parametrize("form", [None, Excerpt(head=tokens(400), tail=tokens(90))])
def test_no_result_grows_as_it_ages(form, gate_with):
    ageing = Ageing(high=None, turns=(1, 9), keep_last=0, least=tokens(128), spared=(), weigh=False)
    gate = gate_with(Policy(ageing=ageing, aged=form, classes={}))
    texts = [lines(count) for count in (13, 25, 40, 44, 48, 300)] + ["ab \u4e2d " * 120]
    story = user("anthropic", "look") + round_of("anthropic", 1, *texts)
    story += said("anthropic", "so") + user("anthropic", "go on")

    outcome = prepared(gate, "anthropic", story)

    assert all(verdict.age == 1 for verdict in outcome.verdicts)
    sizes = [
        (verdict.after.tokens, gate.meter.count(t))
        for verdict, t in zip(outcome.verdicts, texts, strict=True)
    ]
    assert all(after <= before for after, before in sizes)
    assert sizes[-2][0] < 600 < sizes[-2][1]


@pytest.mark.proves("H9", "H10")
def test_a_result_takes_each_step_once_as_turns_go_by(gate_with):
    ageing = Ageing(high=None, turns=(1, 3), keep_last=0, spared=(), weigh=False)
    gate = gate_with(Policy(ageing=ageing, classes={}))
    story = user("anthropic", "look") + round_of("anthropic", 1, lines(300))
    steps = []
    for turn in range(5):
        outcome = prepared(gate, "anthropic", story)
        steps.append((outcome.epoch is not None, outcome.verdicts[0].age))
        story += said("anthropic", "so") + user("anthropic", f"go on {turn}")

    assert steps == [(False, 0), (True, 1), (False, 1), (True, 2), (False, 2)]


@pytest.mark.proves("H9", "K5")
def test_an_aged_result_says_in_its_form_whether_the_whole_is_kept(gate_with):
    ageing = Ageing(high=None, turns=(1, 9), keep_last=0, spared=(), weigh=False)
    form = Excerpt("{head}[cut]", form_unkept="{head}[lost]", head=tokens(200), tail=tokens(0))
    policy = Policy(ageing=ageing, aged=form, classes={})
    story = user("anthropic", "look") + round_of("anthropic", 1, lines(300))
    story += said("anthropic", "so") + user("anthropic", "go on")

    kept = prepared(gate_with(policy), "anthropic", story)
    lost = prepared(gate_with(policy.replace(spill=False), session="other"), "anthropic", story)

    assert kept.verdicts[0].text.endswith("[cut]")
    assert lost.verdicts[0].text.endswith("[lost]")


MINUTE_NS = 60 * 10**9


@pytest.mark.proves("H9")
@pytest.mark.parametrize(
    ("idle", "minutes", "why"),
    [(True, 70, "the cache is cold"), (True, 69, None), (False, 70, None)],
)
def test_a_history_that_goes_on_after_an_hour_ages_where_the_policy_says_so(
    idle, minutes, why, gate_with
):
    policy = AGEING.replace(ageing=replace(AGEING.ageing, idle=idle))
    story = long_story("anthropic", 8)
    first = prepared(
        gate_with(policy, clock=lambda: MINUTE_NS), "anthropic", story, window_tokens=12_000
    )
    assert (first.epoch, first.verdicts[0].ref) == (None, None)

    later = prepared(
        gate_with(policy, clock=lambda: MINUTE_NS * (1 + minutes)),
        "anthropic",
        story + said("anthropic", "so") + user("anthropic", "go on"),
        window_tokens=12_000,
    )

    assert (later.epoch and later.epoch.why) == why


@pytest.mark.proves("H10", "P4", "H8")
@every_dialect
def test_an_epoch_is_opened_once_and_holds_in_later_requests(dialect, gate_with):
    story = long_story(dialect, 8)
    first = prepared(gate_with(AGEING), dialect, story, window_tokens=7_000)
    assert first.epoch is not None

    later = prepared(
        gate_with(AGEING),
        dialect,
        story + said(dialect, "so") + user(dialect, "go on"),
        window_tokens=7_000,
    )

    assert later.epoch is None
    before, after = (json.loads(o.body) for o in (first, later))
    key = next(iter(before.keys() & {"messages", "input", "contents"}))
    assert after[key][: len(story)] == before[key]


@pytest.mark.proves("G6", "P4", "H10")
@every_dialect
def test_a_request_that_was_refused_as_too_long_can_age_further_and_that_holds(dialect, gate_with):
    story = long_story(dialect, 8)
    gentle = Ageing(high=0.0, low=0.4, keep_last=1, least=tokens(300))
    harsh = Ageing(high=0.0, low=0.0, keep_last=1, least=tokens(300))
    gate = gate_with(AGEING)

    sizes = [
        prepared(gate, dialect, story, window_tokens=12_000, ageing=ageing).count.tokens
        for ageing in (None, gentle, harsh)
    ]
    later = prepared(gate_with(AGEING), dialect, story + said(dialect, "so") + user(dialect, "on"))

    assert sizes[0] > sizes[1] > sizes[2]
    assert [verdict.age for verdict in later.verdicts] == [2] * 7 + [0]


@pytest.mark.proves("0.2", "H10")
def test_a_fork_that_left_before_an_epoch_keeps_its_bytes(gate_with):
    gate = gate_with(AGEING)
    story = long_story("anthropic", 6)
    before = prepared(gate, "anthropic", story).body
    grown = story + round_of("anthropic", 8, lines(80)) + round_of("anthropic", 9, lines(90))
    assert prepared(gate, "anthropic", grown, window_tokens=9_000).epoch is not None

    assert prepared(gate, "anthropic", story).body == before


@pytest.mark.proves("H10")
def test_nothing_ages_before_a_bound_thinking_block(gate_with):
    story = long_story("anthropic", 8)
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    story[-2]["content"].insert(0, thinking)
    sent = body("anthropic", story, model="claude-fable-5-1")

    outcome = gate_with(AGEING).prepare(sent, window_tokens=7_000)

    assert outcome.epoch is None
