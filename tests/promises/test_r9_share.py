"""R9: what a tool was told it may return goes in whole, and the others still keep to the budget."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Media, Policy, Text, ToolResult, ToolRule, tokens
from headgate.admit import plan_batch, shares_ahead
from headgate.judge import Desk
from headgate.ledger import Ledger
from headgate.limits import NO_OVERRIDES
from headgate.measure.meters import meter_for
from headgate.testing import lines

METER = meter_for("o200k", "tokens")
IMAGE = Media("image", {"source": {"data": "AAAA"}})

RESULTS = st.lists(
    st.tuples(
        st.sampled_from(["grep", "bash", "Read"]),
        st.sampled_from([0, 1, 5, 10, 30, 120, 400, 2_000]),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.proves("R9", "P3")
@settings(max_examples=settings.default.max_examples // 2)
@given(RESULTS, st.integers(128, 6_000), st.sampled_from(["fair", "even", "largest_first"]))
def test_who_stays_under_its_share_is_left_alone_and_the_budget_holds(drawn, budget, sharing):
    policy = Policy(
        result=tokens(1_500),
        batch=tokens(budget),
        sharing=sharing,
        preview=tokens(128),
        classes={},
        tools={"Read": ToolRule(exempt=True), "grep": ToolRule(limit=tokens(300))},
    )
    batch = [
        ToolResult.of(tool, [Text(lines(size))] + [IMAGE] * images, call_id=f"call_{i}")
        for i, (tool, size, images) in enumerate(drawn)
    ]
    shares = shares_ahead(batch, policy, NO_OVERRIDES)
    told = [replace(result, promised=share) for result, share in zip(batch, shares, strict=True)]

    desk = Desk(policy, METER, bytes(32), "default")
    verdicts = plan_batch(told, Ledger(None), desk, NO_OVERRIDES).verdicts

    fresh = 0
    for result, share, verdict in zip(batch, shares, verdicts, strict=True):
        if share is None or verdict.before.tokens + policy.block_overhead <= share:
            assert verdict.fate == "whole"
        if result.tool != "Read":
            fresh += verdict.after.tokens + policy.block_overhead
    ours = sum(result.tool != "Read" for result in batch)
    assert fresh <= max(budget, policy.minimum * ours)
