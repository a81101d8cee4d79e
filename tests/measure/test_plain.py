import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.meters import meter_for
from headgate.measure.plain import PlainMeter

EXACT = meter_for("o200k", "tokens")
PLAIN = PlainMeter()

PROSE = "Every result of a tool goes through the gate before a model sees any of it. " * 20
CODE = (
    "def admit(self, batch: Sequence[ToolResult]) -> list[Verdict]:\n    return plan(batch)\n" * 20
)
TABLE = "2026-11-15,4821,worker-17,0.00231,ok\n" * 40
RULES = ("=" * 78 + "\n" + "_" * 78 + "\n" + "─" * 78 + "\n") * 10


@pytest.mark.proves("A2")
@pytest.mark.parametrize("text", [PROSE, CODE, TABLE], ids=["prose", "code", "table"])
def test_tokens_are_about_right_without_a_vocabulary(text):
    assert PLAIN.count(text) == pytest.approx(EXACT.count(text), rel=0.25)


@pytest.mark.proves("A2")
def test_a_ruled_line_costs_a_few_tokens_not_one_for_each_mark():
    assert PLAIN.count(RULES) < len(RULES) / 10


@pytest.mark.proves("A2")
def test_the_rule_is_found_by_its_name():
    assert meter_for("pieces", "tokens").name == "pieces"


@pytest.mark.proves("A2")
def test_a_large_text_is_estimated_from_samples_of_it():
    text = (PROSE + CODE + TABLE) * 30

    assert PLAIN.estimate(text.encode()) == pytest.approx(PLAIN.count(text), rel=0.05)


@given(st.text())
def test_any_text_has_a_number(text):
    assert PLAIN.count(text) >= 0


def test_nothing_is_nothing():
    assert (PLAIN.count(""), PLAIN.estimate(b"")) == (0, 0)


def test_a_megabyte_of_one_character_takes_no_time_to_speak_of():
    assert PLAIN.count(" " * 1_000_000) < PLAIN.count("=" * 1_000_000 + "x")
