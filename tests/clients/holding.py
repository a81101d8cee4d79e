"""What must hold of a run, however Headgate stood in between."""

from pathlib import Path

from headgate.cli.stats import ledgers
from headgate.failures import noted
from headgate.measure.meters import meter_for
from tests.clients.task import ODD, Run, results_in, unstable

METER = meter_for("o200k", "tokens")


def all_accepted(run: Run) -> None:
    """Every request was one that the strict stand-in accepts."""
    assert [(request.status, request.error) for request in run.requests] == [(200, "")] * 5
    assert run.model.turn == 5


def within_limits(run: Run) -> None:
    """Every result is within the limit of one, and the parallel ones within the budget."""
    sizes = [METER.count(text) for text in results_in(run.requests[-1])]
    assert len(sizes) == 5
    assert max(sizes) <= 8_000
    assert sum(sizes[:2]) <= 20_000


def shortened_well(run: Run) -> None:
    """Both parallel results are shortened, and each keeps the line that matters."""
    texts = results_in(run.requests[1])
    assert ["lines omitted, about " in text for text in texts] == [True, True]
    for odd in (ODD["one.log"], ODD["two.log"]):
        assert [odd in text for text in texts].count(True) == 1


def read_back(run: Run) -> None:
    """The agent read with its own tool what it had not been shown."""
    assert run.model.path
    wanted = Path(run.model.path).read_text().splitlines()[run.model.line]
    before, after = results_in(run.requests[2]), results_in(run.requests[3])
    assert not any(wanted in text for text in before)
    assert wanted in after[3]


def stable(run: Run) -> None:
    """What was sent once is sent again to the byte over five requests, recorded epochs apart."""
    assert len(unstable(run.requests)) <= epochs_in(run.state)


def epochs_in(state: Path) -> int:
    """How often old results moved down: only the gateway does that, when it pays."""
    return sum(len(ledger.epochs()) for ledger in ledgers(state, None))


def no_failure(run: Run) -> None:
    """Nothing was let through because something of ours failed."""
    assert noted(run.state) == []


ALWAYS = (all_accepted, within_limits, shortened_well, read_back, stable, no_failure)
