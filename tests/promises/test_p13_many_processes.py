"""P13: many processes on one session agree on one decision per call."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.disk import Folder
from headgate.journal import Journal
from headgate.ledger import Ledger
from headgate.spill.local import LocalStore
from tests.spill.keeping import session_path

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.promises.many"]
PROCESSES = 8
RACED = 2_000
CALLS = 60


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Path, list[dict[str, object]]]:
    """Eight processes decided the same calls at one time: the state folder, and what each saw."""
    state = tmp_path_factory.mktemp("state")
    working = [
        subprocess.Popen(
            [*COMMAND, str(state), f"p{i}", str(RACED), str(CALLS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(PROCESSES)
    ]
    assert [process.stdout.readline() for process in working] == ["ready\n"] * PROCESSES
    for process in working:
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=300) for process in working]
    assert [
        (process.returncode, err) for process, (_, err) in zip(working, ended, strict=True)
    ] == [(0, "")] * PROCESSES
    return state, [json.loads(out) for out, _ in ended]


@pytest.mark.proves("P13", "R14", "0.2")
def test_every_process_shows_the_same_verdict_for_every_call(ran):
    state, seen = ran
    ledger = Ledger(Journal(Folder(session_path(state, "s")) / "ledger"))
    written = {entry.key.call_id: entry.verdict.text for entry in ledger}

    assert len(written) == RACED + CALLS
    assert [one["stood"] for one in seen] == [written] * PROCESSES
    assert len(set(written.values())) > 1


@pytest.mark.proves("P13")
def test_no_call_is_decided_twice_and_nothing_is_damaged(ran):
    state, seen = ran
    records = Journal(Folder(session_path(state, "s")) / "ledger").catch_up()

    assert len(records) == RACED + CALLS
    assert [(one["failure"], one["repairs"]) for one in seen] == [(None, 0)] * PROCESSES
    assert [path.name for path in state.rglob("*.damaged-*")] == []


@pytest.mark.proves("P13", "K8")
def test_what_eight_processes_kept_is_there_once_and_whole(ran):
    state, _ = ran
    store = LocalStore(state, "s", name_by="call")
    kept = {about.ref: store.read(about.ref, 0, 99) for about in store.all()}

    assert sorted(kept.values()) == sorted(b"content %d\n" % i for i in range(CALLS))
    assert len(os.listdir(session_path(state, "s") / "objects")) == CALLS
    assert sorted(os.listdir(session_path(state, "s") / "files")) == sorted(
        f"c{i}.txt" for i in range(CALLS)
    )
    assert [path.name for path in state.rglob(".tmp-*")] == []
