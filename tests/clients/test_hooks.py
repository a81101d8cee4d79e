"""Every CLI with our hook installed: what reaches the model is short, valid, stable, readable."""

import subprocess
import sys
from pathlib import Path

import pytest

from headgate.failures import noted
from headgate.measure.meters import meter_for
from headgate.testing import Provider
from tests.clients.programs import PROGRAMS, run
from tests.clients.task import LOGS, ODD, WANTED_LINE, Model, asked, logs, results_in, unstable

METER = meter_for("o200k", "tokens")
HEADGATE = str(Path(sys.executable).with_name("headgate"))


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def ran(request, tmp_path_factory):
    """One run of a CLI with the hook that `headgate install` wrote."""
    program = PROGRAMS[request.param]
    base = tmp_path_factory.mktemp(program.name)
    home, folder = base / "home", base / "work"
    for path in (home, folder):
        path.mkdir()
    for name, text in logs().items():
        (folder / name).write_text(text)
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    subprocess.run([HEADGATE, "install", program.name], env=environ, check=True)
    model = Model(program)
    with Provider(answer=model) as provider:
        done = run(program, home, folder, getattr(provider, program.url))
    print(done.stdout[-2_000:], done.stderr[-2_000:])
    return program, model, asked(provider), home / ".local" / "state" / "headgate"


def test_every_request_is_one_the_provider_accepts(ran):
    _, model, requests, _ = ran

    assert [(request.status, request.error) for request in requests] == [(200, "")] * 5
    assert model.turn == 5


def test_every_result_is_within_its_limit_and_a_batch_within_its_budget(ran):
    _, _, requests, _ = ran

    sizes = [METER.count(text) for text in results_in(requests[-1])]
    assert len(sizes) == 5
    assert max(sizes) <= 8_000
    assert sum(sizes[:2]) <= 20_000


def test_both_parallel_results_are_shortened_and_keep_the_line_that_matters(ran):
    _, _, requests, _ = ran

    for text in results_in(requests[1]):
        assert "lines omitted, about " in text
        assert any(odd in text for odd in (ODD["one.log"], ODD["two.log"]))


def test_a_failing_command_keeps_the_line_that_matters(ran):
    program, _, requests, _ = ran
    if program.name == "claude-code":
        return  # its hooks cannot replace a failure; Claude Code cuts it, and the gateway does more

    assert ODD["three.log"] in results_in(requests[2])[2]


def test_the_agent_reads_what_was_left_out_with_its_own_tool(ran):
    _, model, requests, _ = ran

    wanted = LOGS["one.log"].format(n=WANTED_LINE)
    before, after = results_in(requests[2]), results_in(requests[3])
    assert model.path
    assert not any(wanted in text for text in before)
    assert wanted in after[3]


def test_what_was_sent_once_is_sent_again_to_the_byte(ran):
    _, _, requests, _ = ran

    assert unstable(requests) == []


def test_no_hook_failed(ran):
    *_, state = ran

    assert noted(state) == []
