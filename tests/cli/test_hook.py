"""`headgate hook` as the agents call it: a program of its own that never stops them."""

import json
import subprocess
import sys

import pytest

from headgate.failures import noted
from tests.cli.conftest import LONGEST_S, ON_A_FULL_DISK
from tests.hooks import events
from tests.hooks.events import BIG, bash, raw

LOADED = """
import sys
from headgate.cli import main
main(sys.argv[1:])
print(*sys.modules)
"""

LIGHT = {"argparse", "dataclasses", "inspect", "msgspec", "typing"}
"""Nothing of this may be waited for after every tool call."""


def test_a_big_result_is_answered_in_the_words_of_the_cli(headgate, state):
    ran = headgate("hook", "codex", stdin=raw(events.codex(BIG)))

    assert (ran.returncode, ran.stderr) == (0, b"")
    answer = json.loads(ran.stdout)
    assert answer["decision"] == "block"
    assert "ERROR: replica lag 9321ms" in answer["reason"]
    assert f"{state}/sessions/codex-{events.SESSION}/files/r_" in answer["reason"]


def test_a_small_result_is_answered_with_nothing(headgate):
    ran = headgate("hook", "codex", stdin=raw(events.codex("3 passed")))

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_small_result_loads_next_to_nothing(state):
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, "hook", "claude-code"],
        input=raw(events.claude_code(bash("3 passed"))),
        capture_output=True,
        timeout=LONGEST_S,
        check=True,
    )

    loaded = set(ran.stdout.decode().split())
    assert "headgate.hooks.door" in loaded
    assert {name for name in loaded if name.startswith("headgate.")} == {
        *("headgate.cli", "headgate.cli.dispatch", "headgate.cli.hook", "headgate.cli.output"),
        *("headgate.errors", "headgate.hooks", "headgate.hooks.door", "headgate.version"),
    }
    assert loaded & LIGHT == set()


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (["codex"], b"x" * 9_000, "hook codex: JSONDecodeError"),
        (["codex"], b"[%b]" % b",".join([b"1"] * 9_000), "the event is no object"),
        (["vim"], raw(events.codex(BIG)), "there is no client 'vim'"),
        ([], b"{}", "the following arguments are required: NAME"),
        (["codex", "--preset", "nope"], raw(events.codex(BIG)), "nope"),
    ],
)
def test_whatever_goes_wrong_the_agent_goes_on_and_it_is_noted(headgate, state, words, stdin, said):
    ran = headgate("hook", *words, stdin=stdin)

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert said in ran.stderr.decode()
    assert ran.stderr.endswith(b"; the result was let through as it was\n")
    assert [said in failure.what for failure in noted(state)] == [True]


def test_the_policy_of_the_environment_holds_for_small_results_too(headgate, monkeypatch):
    small = raw(events.codex("one line of output\n" * 150))
    assert headgate("hook", "codex", stdin=small).stdout == b""

    monkeypatch.setenv("HEADGATE_RESULT", "200")
    ran = headgate("hook", "codex", stdin=small)

    assert "[line 1 comes 150 times" in json.loads(ran.stdout)["reason"]


def test_a_preset_that_is_asked_for_holds_whatever_the_environment_says(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_RESULT", "200")
    small = raw(events.codex("one line of output\n" * 150))

    assert headgate("hook", "codex", "--preset", "default", stdin=small).stdout == b""


def test_a_full_disk_leaves_the_result_within_its_limit(headgate):
    ran = headgate("hook", "codex", stdin=raw(events.codex(BIG)), after=ON_A_FULL_DISK)

    assert ran.returncode == 0
    assert "not kept, run the tool again for less" in json.loads(ran.stdout)["reason"]
