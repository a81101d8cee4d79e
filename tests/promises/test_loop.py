"""Whatever tools do and whenever a loop is cancelled or killed, every call is answered once."""

import gc
import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import settings

from headgate import Gate
from headgate.agent import Agent
from headgate.testing import ScriptedClient
from tests.agent.talking import model_of
from tests.promises.looping import (
    DIALECTS,
    POLICY,
    STUBBORN_S,
    TURNS,
    batch_of,
    tools,
    turn_of,
    wrong_with,
)

ROUNDS = settings.default.max_examples // 10
"""20 in a usual run, 1,000 with `make soak`; each is a turn of two batches."""


@pytest.mark.proves("G2", "P10")
def test_a_killed_loop_leaves_a_history_that_goes_on(state):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.promises.looping", str(state), str(ROUNDS)],
        capture_output=True,
        text=True,
        timeout=60 + ROUNDS,
    )

    assert ran.stderr == ""
    told = json.loads(ran.stdout)
    assert (told["rounds"], told["wrong"]) == (ROUNDS, [])
    assert told["killed"] > 0


@pytest.mark.proves("G1", "G2", "G5")
def test_failing_dawdling_and_cancelled_tools_leave_nothing_behind(state):
    registry, reasons, held = tools(), set(), []
    for number in range(ROUNDS):
        draw = random.Random(f"batch {number}")
        dialect = DIALECTS[number // TURNS % 3]
        client = ScriptedClient(batch_of(draw), batch_of(draw), "Done.", seed=f"{number}")
        if number % TURNS == 0:
            gate = Gate(POLICY, state=state, session=f"s{number // TURNS}")
            conversation = None
        agent = Agent(model_of(dialect, client), registry, gate, conversation=conversation)
        with agent:
            turn = turn_of(agent, draw, is_cancelled=number % 2 == 1)
        conversation = agent.conversation
        reasons.add(turn.reason)
        assert wrong_with(conversation, dialect) == []
        assert {request.status for request in client.requests} <= {200}
        if number % TURNS == TURNS - 1:
            held.append(_open_files())

    registry.close()
    assert reasons == {"end", "cancelled"}
    # A gate that is open holds its journals; those of conversations that ended are let go.
    assert _open_files() - held[0] <= 4
    assert max(held) - held[0] <= 4
    _nothing_runs()


def _open_files() -> int:
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir())) if os.path.isdir("/proc/self/fd") else 0


def _nothing_runs() -> None:
    """Only threads that wait for another call are left, once the stubborn tool has ended."""
    waited = threading.Event()
    for _ in range(100):
        busy = [
            thread.name
            for thread in threading.enumerate()
            if thread.name in ("headgate-model", "headgate-loop")
        ]
        if not busy:
            return
        waited.wait(STUBBORN_S)
    raise AssertionError(f"still running: {busy}")
