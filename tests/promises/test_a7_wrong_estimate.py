"""A7: whatever an estimate is off, it compacts too early or too late, and never loses anything."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Gate, Policy, tokens
from headgate.ageing import Ageing
from headgate.check import check
from tests.promises.stories import growing

RUNS = itertools.count()
POLICY = Policy(
    result=tokens(400),
    batch=tokens(900),
    classes={},
    ageing=Ageing(high=0.6, low=0.3, keep_last=1, least=tokens(128), spared=()),
)


@pytest.fixture(scope="module")
def one_state(tmp_path_factory):
    return tmp_path_factory.mktemp("state") / "headgate"


@pytest.mark.proves("A7", "H11", "P9")
@settings(max_examples=settings.default.max_examples // 4)
@given(growing(), st.integers(0, 10**7), st.integers(200, 10**7))
def test_no_report_however_wrong_loses_anything(one_state, story, reported, window):
    dialect, bodies, _ = story
    gate = Gate(POLICY, state=one_state, session=f"run-{next(RUNS)}")
    for sent in bodies:
        outcome = gate.prepare(sent, dialect=dialect, window_tokens=window)
        gate.observe(
            outcome.body, {"prompt_tokens": reported, "completion_tokens": 9}, dialect=dialect
        )

        assert check(outcome.body, dialect) == []
        for verdict in outcome.verdicts:
            assert verdict.ref is None or gate.original(verdict.ref)
            assert verdict.text is None or verdict.ref is not None
