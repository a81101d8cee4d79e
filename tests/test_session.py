import pytest

from headgate import Gate, Policy, Retention, tokens
from headgate.errors import RefGone
from headgate.testing import lines, result

SMALL = Policy(result=tokens(400))


def test_a_state_folder_that_is_named_is_used_whatever_the_environment_says(state, tmp_path):
    gate = Gate(SMALL, state=tmp_path / "named")

    gate.admit([result("bash", lines(300))])

    assert (tmp_path / "named" / "sessions" / "default" / "ledger").exists()
    assert not state.exists()


@pytest.mark.proves("K4")
def test_what_was_read_back_stays_longer_than_what_nobody_asked_for(state):
    retention = Retention(session_count=2, age_s=None, live_s=0, free_bytes=None)
    hours = iter(range(1, 100))
    gate = Gate(
        SMALL.replace(retention=retention), state=state, clock=lambda: next(hours) * 3_600 * 10**9
    )

    def kept(number):
        [shown] = gate.admit([result("bash", lines(300 + number), call_id=f"call_{number}")])
        return shown.verdict.ref

    read, forgotten = kept(1), kept(2)
    gate.read(read, {"lines": "1-2"})
    kept(3)

    assert gate.original(read) == lines(301).encode()
    with pytest.raises(RefGone):
        gate.original(forgotten)
