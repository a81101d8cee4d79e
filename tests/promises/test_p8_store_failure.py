"""P8: no store failure stops a turn or loses what was within the limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Policy, ToolResult, tokens
from headgate.ledger import Ledger
from headgate.measure.meters import meter_for
from headgate.testing import BadStore
from tests.promises.inputs import contents

METER = meter_for("o200k", "tokens")
POLICY = Policy(result=tokens(300), batch=tokens(900), error=tokens(300), classes={})


@pytest.fixture(scope="module")
def one_state(tmp_path_factory):
    return tmp_path_factory.mktemp("state") / "headgate"


@pytest.mark.proves("P8", "K5")
@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(contents, min_size=1, max_size=4), st.integers(0, 3_000), st.booleans())
def test_a_store_that_breaks_anywhere_never_stops_a_turn(one_state, batch, most_bytes, has_memory):
    policy = POLICY.replace(memory_bytes=1 << 20 if has_memory else 0)
    gate = Gate(policy, store=BadStore(most_bytes), ledger=Ledger(None), state=one_state)
    healthy = Gate(policy, store=BadStore(1 << 30), ledger=Ledger(None), state=one_state)
    results = [ToolResult.of("bash", content, call_id=str(i)) for i, content in enumerate(batch)]

    shown = gate.admit(results)

    assert len(shown) == len(results)
    for got, good in zip(shown, healthy.admit(results), strict=True):
        assert METER.count(got.text) <= 300
        if good.verdict.fate == "whole":
            assert got.text == good.text
        if got.verdict.ref is not None:
            assert gate.original(got.verdict.ref) == healthy.original(good.verdict.ref)
