import logging

import pytest

from headgate import Gate, Policy, tokens
from headgate.events import Admitted, LedgerRepaired, SweepFailed
from headgate.testing import BadStore, lines, result
from headgate.unheard import Unheard

SMALL = Policy(result=tokens(200))


@pytest.mark.proves("K5")
def test_a_gate_without_hooks_logs_once_that_it_cannot_keep(tmp_path, caplog):
    gate = Gate(SMALL, state=tmp_path, store=BadStore(most_bytes=10))

    for number in range(2):
        gate.admit([result("grep", lines(100 + number))])

    assert caplog.record_tuples == [
        ("headgate", logging.WARNING, "a result could not be kept: the disk is full")
    ]


def test_a_gate_with_a_hook_leaves_it_to_the_hook(tmp_path, caplog):
    events = []
    gate = Gate(SMALL, state=tmp_path, store=BadStore(most_bytes=10), hooks=[events.append])

    gate.admit([result("grep", lines(100))])

    assert [type(event).__name__ for event in events] == ["SpillFailed", "Admitted"]
    assert caplog.record_tuples == []


def test_failures_without_end_are_not_logged_without_end(caplog):
    unheard = Unheard()

    for number in range(1_000):
        unheard(SweepFailed(f"file {number} is gone"))

    assert len(caplog.messages) == 100


def test_only_what_went_wrong_is_logged(caplog):
    unheard = Unheard()

    unheard(Admitted((), None, 0, 0))
    unheard(SweepFailed("a folder is gone"))
    unheard(LedgerRepaired("/s/ledger", 7, 1_000))

    assert caplog.messages == [
        "what is kept could not be put in order: a folder is gone",
        "/s/ledger was damaged: 1,000 records are whole",
    ]
