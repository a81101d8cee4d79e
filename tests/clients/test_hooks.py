"""Every CLI with our hook installed: what reaches the model is short, valid, stable, readable."""

import pytest

from headgate.testing import Provider
from tests.clients.holding import ALWAYS, METER
from tests.clients.programs import PROGRAMS, headgate, run
from tests.clients.task import ODD, Model, Run, asked, prepared, results_in


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def ran(request, tmp_path_factory):
    """One run of a CLI with the hook that `headgate install` wrote."""
    program = PROGRAMS[request.param]
    home, folder = prepared(tmp_path_factory.mktemp(program.name))
    headgate(home, "install", program.name)
    model = Model(program)
    with Provider(answer=model) as provider:
        done = run(program, home, folder, getattr(provider, program.url))
    print(done.stdout[-2_000:], done.stderr[-2_000:])
    return Run(program, model, asked(provider), home / ".local" / "state" / "headgate")


@pytest.mark.parametrize("holds", ALWAYS, ids=lambda holds: holds.__name__)
def test_it_holds_through_a_hook(ran, holds):
    holds(ran)


def test_a_failing_command_is_within_the_limit_of_errors_and_keeps_what_matters(ran):
    text = results_in(ran.requests[2])[2]

    assert METER.count(text) <= 4_000
    # The hooks of Claude Code cannot replace a failure; what is left of one is its own choice.
    assert ODD["three.log"] in text or ran.program.name == "claude-code"
