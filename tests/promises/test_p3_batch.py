"""P3: a batch never exceeds its budget, or the excess is exactly what may not be shortened."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Media, Policy, Text, ToolResult, ToolRule, tokens
from headgate.admit import plan_batch
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.testing import lines

METER = meter_for("o200k", "tokens")
IMAGE = Media("image", {"source": {"data": "AAAA"}})
sizes = st.sampled_from([0, 1, 5, 30, 120, 400, 2_000])


@st.composite
def batches(draw):
    drawn = draw(
        st.lists(
            st.tuples(st.sampled_from(["grep", "bash", "Read"]), sizes, st.integers(0, 2)),
            max_size=8,
        )
    )
    return [
        ToolResult.of(tool, [Text(lines(size))] + [IMAGE] * images, call_id=f"call_{i}")
        for i, (tool, size, images) in enumerate(drawn)
    ]


@pytest.mark.proves("P3", "R7", "R2")
@settings(max_examples=settings.default.max_examples // 2)
@given(
    batches(),
    st.integers(128, 6_000),
    st.sampled_from(["fair", "even", "largest_first"]),
    st.integers(0, 3),
    st.sampled_from([128, 300, 3_000]),
)
def test_a_batch_stays_in_its_budget(batch, budget, sharing, recorded, preview):
    policy = Policy(
        result=tokens(4_000),
        batch=tokens(budget),
        sharing=sharing,
        preview=tokens(preview),
        classes={},
        tools={"Read": ToolRule(exempt=True)},
    )
    desk = Desk(policy, METER, bytes(32), "default")
    ledger = Ledger(None)
    earlier = plan_batch(batch[:recorded], ledger, desk, NO_OVERRIDES)
    ledger.record(list(zip(earlier.keys, earlier.verdicts, strict=True)), time_ns=1)

    planned = plan_batch(batch, ledger, desk, NO_OVERRIDES)

    costs = [verdict.after.tokens + policy.block_overhead for verdict in planned.verdicts]
    media = sum(2_000 for result in batch for block in result.blocks if block is IMAGE)
    fixed = sum(
        cost
        for i, (result, cost) in enumerate(zip(batch, costs, strict=True))
        if i < recorded or result.tool == "Read"
    )
    fresh = [
        cost
        for i, (result, cost) in enumerate(zip(batch, costs, strict=True))
        if i >= recorded and result.tool != "Read"
    ]
    room = max(budget - fixed - media, 0)
    allowed = room if sharing != "even" else budget
    assert sum(fresh) <= max(allowed, 128 * len(fresh))
