import json
import os
import re

import pytest

from headgate import Gate, Policy, RequestError, chars, tokens, utf8_bytes
from headgate.hooks import CLIENTS
from headgate.hooks.answering import answered, client_of, event_of, session_of
from headgate.hooks.heard import Heard
from headgate.measure.meters import meter_for
from headgate.presets import ETHOS
from tests.hooks import events
from tests.hooks.events import BIG, SESSION, bash, raw

METER = meter_for("o200k", "tokens")
PATH = re.compile(r"the whole is in (\S+) #")


def shown_by(name, answer):
    """What the model gets, as the CLI reads the answer."""
    if name == "claude-code":
        return answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    if name == "codex":
        return answer["reason"]
    if name == "gemini":
        [path] = [answer["hookSpecificOutput"]["tailToolCallRequest"]["args"]["file_path"]]
        with open(path, encoding="utf-8") as file:
            return file.read()
    return answer["output"]


def event_for(name, text, home):
    if name == "claude-code":
        return events.claude_code(bash(text), home=home)
    if name == "gemini":
        return events.gemini(text, home=home)
    return {"codex": events.codex, "opencode": events.opencode}[name](text)


@pytest.fixture(autouse=True)
def home(state, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.parametrize("name", CLIENTS)
def test_a_big_result_is_shortened_and_its_file_holds_every_byte(home, name):
    answer = answered(name, raw(event_for(name, BIG, home)), Policy())

    assert answer is not None
    text = shown_by(name, answer)
    assert METER.count(text) <= 8_000
    assert "ERROR: replica lag 9321ms" in text
    found = PATH.search(text)
    assert found is not None
    with open(found[1], encoding="utf-8") as file:
        assert file.read() == BIG
    assert os.stat(found[1]).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", CLIENTS)
def test_the_same_event_again_gets_the_same_answer(home, name):
    event = raw(event_for(name, BIG, home))

    assert answered(name, event, Policy()) == answered(name, event, Policy())


@pytest.mark.parametrize("name", CLIENTS)
def test_a_small_result_is_left_alone(home, name):
    assert answered(name, raw(event_for(name, "3 passed", home)), Policy()) is None


def test_a_small_result_with_escapes_is_made_readable(home):
    event = raw(events.claude_code(bash("\x1b[31mred\x1b[0m"), home=home))

    answer = answered("claude-code", event, Policy())

    assert answer is not None
    assert shown_by("claude-code", answer) == "red"


def test_two_streams_share_the_limit_of_one_result(home):
    event = raw(events.claude_code(bash(BIG, BIG), home=home))

    answer = answered("claude-code", event, Policy(result=tokens(2_000)))

    assert answer is not None
    updated = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert METER.count(updated["stdout"]) + METER.count(updated["stderr"]) <= 2_000


def test_two_streams_share_the_budget_where_a_result_has_no_limit_of_its_own(home):
    event = raw(events.claude_code(bash(BIG, BIG), home=home))

    answer = answered("claude-code", event, ETHOS)

    assert answer is not None
    updated = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert len(updated["stdout"]) + len(updated["stderr"]) <= 80_000


@pytest.mark.parametrize("limit", [chars(3_000), utf8_bytes(3_000), tokens(700)])
def test_what_codex_passes_on_never_raises_the_limit_of_a_policy(home, limit):
    answer = answered("codex", raw(events.codex(BIG)), Policy(result=limit))

    assert answer is not None
    assert meter_for("o200k", limit.unit).count(answer["reason"]) <= limit.count


def test_the_whole_comes_from_the_file_the_cli_wrote(home):
    whole = home / ".claude" / "projects" / "-work" / SESSION / "tool-results" / "b1.txt"
    whole.parent.mkdir(parents=True)
    whole.write_text(BIG)
    response = bash(BIG[:30_000], persistedOutputPath=str(whole), persistedOutputSize=len(BIG))

    answer = answered("claude-code", raw(events.claude_code(response, home=home)), Policy())

    assert answer is not None
    updated = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert "of 4,000 lines omitted" in updated["stdout"]
    assert "ERROR: replica lag 9321ms" in updated["stdout"]
    assert "persistedOutputPath" not in updated


def test_a_failing_command_keeps_its_end_within_the_limit_of_errors(home):
    event = raw(events.opencode(BIG + "\nmake: *** [all] Error 2", is_error=True))

    answer = answered("opencode", event, Policy())

    assert answer is not None
    assert answer["output"].endswith("make: *** [all] Error 2")
    assert METER.count(answer["output"]) <= 4_000


def test_an_answer_fits_in_what_codex_passes_on(home):
    event = raw(events.codex({"content": [{"type": "text", "text": BIG + "é" * 9_000}] * 3}))

    answer = answered("codex", event, Policy())

    assert answer is not None
    assert len(answer["reason"].encode()) <= 9_900


def test_each_run_of_an_agent_is_a_session_of_its_own(home):
    answered("codex", raw(events.codex(BIG)), Policy())

    entry = Gate(session=f"codex-{SESSION}").ledger.last()
    assert entry is not None
    assert (entry.verdict.call_id, entry.verdict.fate) == ("call_01", "spilled")


def test_reading_the_file_of_an_original_is_noted(home):
    answered("codex", raw(events.codex(BIG)), Policy())
    gate = Gate(session=f"codex-{SESSION}")
    entry = gate.ledger.last()
    assert entry is not None
    command = {"command": f"sed -n 7p /s/files/{entry.verdict.ref}.txt"}
    other = {"command": "cat /s/files/r_aaaaaaaaaaaa.txt"}

    answered("codex", raw(events.codex("line 7", tool_input=command, tool_use_id="2")), Policy())
    answered("codex", raw(events.codex("line 7", tool_input=other, tool_use_id="3")), Policy())

    noted = [(read.ref, read.tokens) for read in gate.ledger.reads()]
    assert noted == [(entry.verdict.ref, METER.count("line 7"))]


def test_a_session_without_a_usable_name_is_the_clients():
    assert session_of("codex", Heard("", "c", "t", {}, {})) == "codex"
    assert session_of("codex", Heard("x" * 200, "c", "t", {}, {})) == "codex"
    assert session_of("codex", Heard("a\nb", "c", "t", {}, {})) == "codex"


def test_an_unknown_client_is_named_with_those_there_are():
    with pytest.raises(RequestError, match="no client 'vim'; there is claude-code, codex, gemini"):
        client_of("vim")


def test_an_event_that_is_no_object_is_refused():
    with pytest.raises(RequestError, match="the event is no object but list"):
        event_of(json.dumps([1]).encode())
