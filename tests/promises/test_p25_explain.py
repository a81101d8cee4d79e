"""P25: for every decision the ledger knows the rule and the numbers, and shows the bytes."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Policy, ToolResult, tokens
from headgate.measure.meters import meter_for
from headgate.testing import BadStore
from tests.promises.inputs import contents

RUNS = itertools.count()
METER = meter_for("o200k", "tokens")


@pytest.fixture(scope="module")
def one_state(tmp_path_factory):
    return tmp_path_factory.mktemp("state") / "headgate"


@pytest.mark.proves("P25", "R6")
@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(contents, min_size=1, max_size=3))
def test_every_verdict_is_recorded_with_its_rule_its_numbers_and_its_bytes(one_state, batch):
    policy = Policy(result=tokens(300), batch=tokens(700), error=tokens(300), classes={})
    session = f"run-{next(RUNS)}"
    gate = Gate(policy, store=BadStore(1 << 30), state=one_state, session=session)
    results = [ToolResult.of("bash", content, call_id=str(i)) for i, content in enumerate(batch)]

    shown = gate.admit(results)

    later = Gate(policy, state=one_state, session=session).ledger
    for got in shown:
        verdict = later.by_call(got.call_id)[-1].verdict
        assert verdict == got.verdict
        assert verdict.reason
        assert verdict.limit_by
        assert verdict.after.tokens == METER.count(got.text)
        assert verdict.text in (None, got.text)
