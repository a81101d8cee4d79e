"""P2: nothing shortened exceeds its limit, for any input and any limit from the smallest on."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Policy, ToolResult, chars, tokens, utf8_bytes
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.policy import Keep
from headgate.types import KINDS
from tests.promises.inputs import contents

UNITS = {"tokens": tokens, "chars": chars, "bytes": utf8_bytes}


@st.composite
def policies(draw):
    unit = draw(st.sampled_from(sorted(UNITS)))
    least = {"tokens": 128, "chars": 512, "bytes": 512}[unit]
    amount = UNITS[unit](draw(st.integers(least, 10 * least)))
    return Policy(
        result=amount,
        batch=None,
        preview=amount,
        error=amount,
        classes={},
        keep=draw(st.sampled_from(["salient", *get_args(Keep)])),
        vocab=draw(st.sampled_from(["o200k", "cl100k", "chars/4", "median of three", "pieces"])),
        block_overhead=draw(st.integers(0, 8)),
        page_items=draw(st.sampled_from([None, 3])),
        cap=draw(st.sampled_from([None, amount])),
        spill=draw(st.booleans()),
    )


@pytest.mark.proves("P2", "R10", "P24")
@settings(max_examples=settings.default.max_examples * 2)
@given(
    contents,
    policies(),
    st.booleans(),
    st.sampled_from([None, None, *KINDS]),
    st.sampled_from(["", "", "A note above it.", "n" * 400]),
)
def test_nothing_shortened_exceeds_its_limit(content, policy, is_error, kind, note):
    meter = meter_for(policy.vocab, policy.unit)
    desk = Desk(policy, meter, bytes(32), "default", question="where is the error")
    made = ToolResult.of("bash", content, call_id="c", is_error=is_error, kind=kind)
    result = replace(made, note=note)

    [verdict] = plan_batch([result], Ledger(None), desk, NO_OVERRIDES).verdicts

    shown = result.text if verdict.text is None else verdict.text
    size = meter.count(shown) + policy.block_overhead
    assert size <= policy.result.count
    assert verdict.after.of(policy.unit) == meter.count(shown) or verdict.text is None
