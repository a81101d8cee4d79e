"""P4: between epochs every message of a prepared history has the same bytes in the next turn."""

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from headgate import Gate, Policy, tokens
from headgate.ageing import Ageing
from headgate.check import check
from headgate.testing import lines
from tests.histories import DIALECTS, body, calls, results, round_of, said, user
from tests.promises.stories import growing, key_of

RUNS = itertools.count()
POLICY = Policy(result=tokens(400), batch=tokens(900), classes={})
WORLDS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "POSIX", "TZ": "America/New_York", "PYTHONUTF8": "1"},
    {"PYTHONHASHSEED": "random", "LC_ALL": "en_US.UTF-8", "TZ": "Europe/Berlin"},
)


@pytest.fixture(scope="module")
def one_state(tmp_path_factory):
    return tmp_path_factory.mktemp("state") / "headgate"


def messages(sent: bytes, dialect: str) -> list[object]:
    return json.loads(sent)[key_of(dialect)]


@pytest.mark.proves("P4", "P6", "H8", "P5")
@settings(max_examples=settings.default.max_examples // 4)
@given(growing())
def test_every_message_keeps_its_bytes_from_turn_to_turn(one_state, story):
    dialect, bodies, counts = story
    session = f"run-{next(RUNS)}"
    before: list[object] = []
    for turn, (sent, count) in enumerate(zip(bodies, counts, strict=True)):
        # A new gate each turn: only the ledger carries over; the policy of the day may change.
        policy = POLICY if turn % 2 == 0 else POLICY.replace(result=tokens(200))
        outcome = Gate(policy, state=one_state, session=session).prepare(sent, dialect=dialect)
        now = messages(outcome.body, dialect)

        assert now[: len(before)] == before
        assert check(outcome.body, dialect) == []
        assert len(now) == count
        before = now


@pytest.mark.proves("P4", "H10", "P6", "H11")
@settings(max_examples=settings.default.max_examples // 4)
@given(growing())
def test_bytes_change_only_in_a_recorded_epoch(one_state, story):
    dialect, bodies, _ = story
    session = f"aged-{next(RUNS)}"
    policy = POLICY.replace(
        ageing=Ageing(high=0.6, low=0.3, keep_last=1, least=tokens(128), spared=())
    )
    before: list[object] = []
    for sent in bodies:
        gate = Gate(policy, state=one_state, session=session)
        outcome = gate.prepare(sent, dialect=dialect, window_tokens=2_500)
        now = messages(outcome.body, dialect)

        assert outcome.epoch is not None or now[: len(before)] == before
        assert check(outcome.body, dialect) == []
        for verdict in outcome.verdicts:
            if verdict.ref is not None:
                assert gate.original(verdict.ref)
        before = now


GREP = ("a", "grep", {"q": 1})
READ = ("b", "read", {"path": "x"})


def _growing_to(dialect: str, *steps: list[dict]) -> list[bytes]:
    return [body(dialect, came) for came in itertools.accumulate(steps)]


def _sent_of(bodies: list[bytes], dialect: str, state: Path) -> list[object]:
    """The last of these requests as it goes out, if it begins with all that went out before."""
    before: list[object] = []
    for came in bodies:
        outcome = Gate(POLICY, state=state, session="s").prepare(came, dialect=dialect)
        now = messages(outcome.body, dialect)
        assert now[: len(before)] == before
        assert check(outcome.body, dialect) == []
        before = now
    return before


@pytest.mark.proves("P4", "P6")
@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_an_answer_right_behind_a_call_leaves_what_was_sent(tmp_path, dialect):
    first, second = said(dialect, "hm"), said(dialect, "well")
    bodies = _growing_to(
        dialect,
        user(dialect, "go") + calls(dialect, GREP),
        first + user(dialect, "on"),
        calls(dialect, READ),
        second,
    )

    sent = _sent_of(bodies, dialect, tmp_path)

    assert len(sent) == 8
    assert [sent[3], sent[7]] == [*first, *second]


@pytest.mark.proves("P4", "P6")
def test_an_answer_right_behind_a_call_without_id_leaves_what_was_sent(tmp_path):
    call = {"role": "model", "parts": [{"functionCall": {"name": "grep", "args": {}}}]}
    again = {"role": "model", "parts": [{"text": "hm"}, *call["parts"]]}
    found = {"functionResponse": {"name": "grep", "response": {"result": "found"}}}
    answered = {"role": "user", "parts": [found]}
    bodies = _growing_to("gemini", [*user("gemini", "go"), call], [again, answered])

    sent = _sent_of(bodies, "gemini", tmp_path)

    assert len(sent) == 5
    assert sent[3:] == [again, answered]


@pytest.mark.proves("P4", "P6")
@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_calls_in_a_row_stay_as_they_were_sent_together_or_one_by_one(tmp_path, dialect):
    later = ("c", "ls", {}), ("d", "ls", {})
    bodies = _growing_to(
        dialect,
        user(dialect, "go") + said(dialect, "hm") + calls(dialect, GREP),
        calls(dialect, READ),
        said(dialect, "ok")
        + user(dialect, "and?")
        + calls(dialect, later[0])
        + calls(dialect, later[1]),
        calls(dialect, ("e", "ls", {})) + results(dialect, ("e", "ls", "x.py")),
    )

    sent = _sent_of(bodies, dialect, tmp_path)

    steps = [json.dumps(message) for message in sent if message["role"] in ("assistant", "model")]
    called = ["".join(i for i in "abcde" if f'"id": "{i}"' in step) for step in steps]
    assert [ids for ids in called if ids] == (
        ["a", "b", "c", "d", "e"] if dialect == "anthropic" else ["a", "b", "cd", "e"]
    )


@pytest.mark.proves("P4", "P6", "P22")
@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_a_call_or_a_late_result_behind_an_interrupted_call_leaves_what_was_sent(tmp_path, dialect):
    bodies = _growing_to(
        dialect,
        user(dialect, "go") + calls(dialect, GREP),
        calls(dialect, READ) + results(dialect, ("b", "read", "the file")),
        said(dialect, "well") + results(dialect, ("a", "grep", "late")) + user(dialect, "so?"),
    )

    sent = _sent_of(bodies, dialect, tmp_path)

    assert sent[3:5] == calls(dialect, READ) + results(dialect, ("b", "read", "the file"))
    assert "late" not in json.dumps(sent)


@pytest.mark.proves("P4", "P13")
def test_processes_with_other_hash_seeds_locales_and_time_zones_send_the_same(tmp_path):
    draw = random.Random(7)
    stories = {dialect: user(dialect, "begin") for dialect in DIALECTS}
    before: dict[str, list[object]] = {dialect: [] for dialect in DIALECTS}
    for turn in range(8):
        asked = []
        for dialect in DIALECTS:
            texts = [lines(draw.choice([3, 90, 250]), n1=f"{turn}-{i}") for i in range(3)]
            stories[dialect] = stories[dialect] + round_of(dialect, turn, *texts)
            stories[dialect] += said(dialect, "ok") + user(dialect, "next")
            asked.append(
                {
                    "session": dialect,
                    "dialect": dialect,
                    "body": body(dialect, stories[dialect]).decode(),
                    "limit": 200 + 50 * turn,
                }
            )
        for dialect, sent in zip(DIALECTS, _in_another_process(asked, tmp_path, turn), strict=True):
            now = messages(sent.encode(), dialect)
            assert now[: len(before[dialect])] == before[dialect]
            before[dialect] = now


def _in_another_process(asked: list[dict], state: Path, turn: int) -> list[str]:
    world = {**os.environ, **WORLDS[turn % len(WORLDS)]}
    ran = subprocess.run(
        [sys.executable, "-m", "tests.promises.preparing", str(state / "state")],
        input="\n".join(json.dumps(one) for one in asked),
        capture_output=True,
        text=True,
        env=world,
        cwd=Path(__file__).parent.parent.parent,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]
