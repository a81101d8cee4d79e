"""Every CLI through the gateway: what reaches the model is short, valid, stable, readable."""

import json
import subprocess

import pytest

from headgate.testing import Provider
from tests.clients.holding import ALWAYS
from tests.clients.programs import HEADGATE, PROGRAMS, clean, headgate, run
from tests.clients.task import ODD, Model, Run, asked, prepared, results_in


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def ran(request, tmp_path_factory):
    """One run of a CLI through a gateway, as `headgate install --gateway` sets it up."""
    program = PROGRAMS[request.param]
    home, folder = prepared(tmp_path_factory.mktemp(program.name))
    model = Model(program)
    with Provider(answer=model) as provider:
        upstreams = [f"--upstream={name}={provider.url}" for name in UPSTREAMS]
        words = [HEADGATE, "gateway", "--port=0", "--no-admin", "--json", *upstreams]
        with subprocess.Popen(words, env=clean(home), stdout=subprocess.PIPE) as gateway:
            try:
                url = json.loads(gateway.stdout.readline())["url"]
                below = "/v1" if program.url == "openai_url" else ""
                program.setup(home, "http://replaced.invalid" if program.is_set else url + below)
                headgate(home, "install", program.name, "--gateway", "--url", url)
                done = run(program, home, folder, url + below)
            finally:
                gateway.terminate()
    print(done.stdout[-2_000:], done.stderr[-2_000:])
    return Run(program, model, asked(provider), home / ".local" / "state" / "headgate")


UPSTREAMS = ("anthropic", "openai", "gemini")


@pytest.mark.parametrize("holds", ALWAYS, ids=lambda holds: holds.__name__)
def test_it_holds_through_the_gateway(ran, holds):
    holds(ran)


def test_a_failing_command_keeps_the_line_that_matters(ran):
    # Claude Code cuts the middle out of a failure before anybody else sees it.
    kept = ODD["three.log"] in results_in(ran.requests[2])[2]
    assert kept or ran.program.name == "claude-code"
