import os
import sys
from pathlib import Path

import pytest

from headgate.doctor import live
from headgate.install.plan import Site


@pytest.fixture
def site(tmp_path):
    """A site on whose PATH stand only the programs that a test puts there."""
    (tmp_path / "bin").mkdir()
    environ = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    return Site(tmp_path, "/opt/headgate", tmp_path / "state", environ=environ)


def program(site: Site, name: str, script: str) -> None:
    path = Path(site.environ["PATH"], name)
    path.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o700)


@pytest.mark.parametrize(
    ("client", "name"),
    [("claude-code", "claude"), ("codex", "codex"), ("gemini", "gemini"), ("opencode", "opencode")],
)
def test_a_cli_that_is_not_there_is_named(site, client, name):
    [check] = live.checks(client, site)

    assert (check.ok, check.says) == (False, f"there is no command {name!r} on the PATH")


def test_a_cli_that_never_asks_its_model_is_told_with_its_last_words(site):
    program(site, "gemini", "echo Invalid auth method selected. >&2; exit 41")

    [check] = live.checks("gemini", site)

    assert check.ok is False
    assert check.says == (
        "it asked its model 0 times, 2 are needed; it said: Invalid auth method selected."
    )


def test_the_stand_in_is_the_provider_of_the_cli(site):
    program(site, "claude", 'echo "$ANTHROPIC_BASE_URL $ANTHROPIC_API_KEY $PWD"')

    [check] = live.checks("claude-code", site)

    assert "http://127.0.0.1:" in check.says
    assert " doctor " in check.says
    assert "/headgate-doctor-" in check.says


CLAUDE_WITHOUT_HOOKS = """
import json, os, urllib.request
def say(*messages):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages, "tools": [
        {"name": "Bash", "description": "runs", "input_schema": {"type": "object"}}]}
    headers = {"x-api-key": "k", "anthropic-version": "2023-06-01",
               "content-type": "application/json"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(asked))["content"]
go = {"role": "user", "content": "go"}
said = say(go)
preview = "Output too large. Preview: " + open("big.txt").read(2000)
result = {"type": "tool_result", "tool_use_id": said[-1]["id"], "content": preview}
say(go, {"role": "assistant", "content": said}, {"role": "user", "content": [result]})
"""


def test_a_hook_that_was_not_called_is_told_as_that(site, tmp_path):
    script = tmp_path / "claude.py"
    script.write_text(CLAUDE_WITHOUT_HOOKS)
    program(site, "claude", f"exec {sys.executable} {script}")

    [check] = live.checks("claude-code", site)

    assert (check.name, check.ok) == ("called", False)
    assert check.says == (
        "the hook was not called, or its answer not taken; 'Output too large. Preview: worker 1: "
        "compiled module_1.c in '… arrived"
    )
