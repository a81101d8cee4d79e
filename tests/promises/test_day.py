"""A day of traffic with kills on a small disk; `make soak` lives through a longer one."""

import json
import subprocess
import sys

import pytest
from hypothesis import settings

from tests.promises.test_p11_full_disk import ROOT, can_mount, mounted

SESSIONS = 20


@pytest.mark.proves("P15", "P9", "P10", "P11", "K4")
@pytest.mark.xdist_group("disk")
def test_over_a_day_no_quota_is_passed_no_live_ref_lost_and_every_lost_one_is_told(tmp_path):
    rounds = min(max(settings.default.max_examples // 30, 6), 240)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    before = mounted(f"size={6 + rounds // 8}m", str(state)) if can_mount() else []
    words = ["-m", "tests.promises.day", str(tmp_path), str(SESSIONS), str(rounds), "7"]

    ran = subprocess.run(
        [*before, sys.executable, "-B", *words], cwd=ROOT, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["failed"], found["over"]) == ("", [])
    assert (found["live_lost"], found["untold"]) == ([], [])
    assert found["kills"] >= rounds
    assert found["ever"] > found["there"] > 0
    assert 0 < found["live_bytes"] < found["most_bytes"] <= 2_200_000
