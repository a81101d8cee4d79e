import pytest

from headgate.testing import lines
from tests.histories import calls, results, round_of, user
from tests.preparing import AGEING, every_dialect, prepared


@pytest.mark.proves("H13")
@every_dialect
def test_an_identical_result_becomes_a_reference_to_the_first(dialect, gate_with):
    gate = gate_with(AGEING.replace(repeats=True))
    messages = (
        user(dialect, "x") + round_of(dialect, 1, lines(60)) + round_of(dialect, 2, lines(60))
    )

    outcome = prepared(gate, dialect, messages)

    assert outcome.verdicts[1].text == (
        "[the same as the result of call_1_0 above (grep), unchanged]"
    )
    assert gate.original(outcome.verdicts[1].ref) == lines(60).encode()
    assert outcome.verdicts[1].fate == "spilled"


@pytest.mark.proves("H13", "0.5")
def test_a_reference_is_not_called_kept_where_nothing_is(gate_with):
    gate = gate_with(AGEING.replace(repeats=True, spill=False))
    story = round_of("anthropic", 1, lines(60)) + round_of("anthropic", 2, lines(60))

    reference = prepared(gate, "anthropic", user("anthropic", "x") + story).verdicts[1]

    assert (reference.base, reference.fate, reference.ref) == ("call_1_0", "shaped", None)


@pytest.mark.proves("H13")
def test_a_file_read_again_becomes_the_difference(gate_with):
    gate = gate_with(AGEING.replace(repeats=True))
    read = {"file_path": "a.py"}
    first = [
        *calls("anthropic", ("c1", "Read", read)),
        *results("anthropic", ("c1", "Read", lines(80))),
    ]
    again = [
        *calls("anthropic", ("c2", "Read", read)),
        *results("anthropic", ("c2", "Read", lines(80, n40="changed"))),
    ]

    outcome = prepared(gate, "anthropic", user("anthropic", "x") + first + again)

    text = outcome.verdicts[1].text
    assert text.startswith("[the same as the result of c1 above (Read a.py) but for:]\n@@ ")
    assert "\n-10:00:40 INFO worker 40 is fine\n+changed\n" in text


@pytest.mark.proves("H13")
def test_a_reference_moves_down_with_its_base(gate_with):
    policy = AGEING.replace(repeats=True)
    story = (
        user("anthropic", "x")
        + round_of("anthropic", 1, lines(100))
        + round_of("anthropic", 2, lines(100))
    )
    story += [m for n in range(3, 9) for m in round_of("anthropic", n, lines(60 + n))]

    outcome = prepared(gate_with(policy), "anthropic", story, window_tokens=6_000)

    base, reference = outcome.verdicts[:2]
    assert base.age > 0
    assert reference.age == 2
