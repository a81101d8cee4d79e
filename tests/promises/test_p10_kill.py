"""P10: kill -9 at any point leaves nothing torn, and nothing lost that was acknowledged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KILLS = 220


def dying(*arguments: str) -> dict[str, object]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.promises.dying", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return json.loads(ran.stdout)


@pytest.mark.proves("P10", "K3", "K1")
def test_a_kill_before_any_system_call_tears_nothing_and_the_next_run_is_harmless(tmp_path):
    found = dying("sweep", str(tmp_path))

    assert found["kills"] > 100
    assert (found["torn"], found["lost"], found["left"]) == ([], [], [])


@pytest.mark.proves("P10", "0.3")
def test_a_kill_before_any_system_call_leaves_the_key_whole_or_unmade(tmp_path):
    found = dying("sweep_key", str(tmp_path))

    assert found["kills"] > 20
    assert found["torn"] == []


@pytest.mark.proves("P10", "P9", "K4", "K10")
def test_a_kill_before_any_system_call_of_keeping_house_loses_nothing_untold(tmp_path):
    # A soak tries every call; a run of the suite every second one.
    found = dying("sweep_house", str(tmp_path), "1" if "HEADGATE_EXAMPLES" in os.environ else "2")

    assert found["kills"] > 100
    assert (found["lost"], found["left"], found["miscounted"]) == ([], [], [])


@pytest.mark.proves("P10", "K3", "H8")
def test_kills_at_random_moments_lose_nothing_that_was_acknowledged(tmp_path):
    found = dying("storm", str(tmp_path), str(KILLS), "10")

    assert found["kills"] == KILLS
    assert found["said"] >= KILLS
    assert (found["in_order"], found["torn"], found["lost"]) == (True, [], [])
