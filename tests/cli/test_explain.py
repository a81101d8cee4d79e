import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import HELD_TO_PERMISSIONS

LOG = b"".join(b"%d INFO step %d of the build\n" % (n, n) for n in range(3_000))


def trimmed(headgate, content, *words):
    return json.loads(headgate("trim", "--json", *words, stdin=content).stdout)


@pytest.mark.proves("C-explain", "P25", "R6")
def test_a_decision_is_told_with_its_rule_its_numbers_and_its_bytes(headgate):
    decided = trimmed(headgate, LOG, "--tokens", "300", "--tool", "make")

    ran = headgate("explain", decided["ref"])

    page, shown = ran.stdout.decode().split("\nshown\n")
    parts = dict(line.split(None, 1) for line in page.splitlines())
    assert ran.returncode == 0
    assert re.fullmatch(
        r"'trim_\w+' of tool 'make', \d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*", parts["call"]
    )
    assert parts["fate"] == f"spilled, {decided['kind']}"
    assert parts["rule"] == "at most 300 tokens: the operator's override"
    assert f"{len(LOG):,} characters, 3,000 lines (tokens in o200k)" in parts["before"]
    assert parts["after"].startswith(f"{decided['after']['tokens']:,} tokens, ")
    assert parts["reason"] == decided["reason"]
    assert parts["original"].startswith(f"{decided['ref']}, {len(LOG):,} bytes, {headgate.state}/")
    assert parts["sha256"] == hashlib.sha256(LOG).hexdigest()
    assert shown == decided["text"] + "\n"


@pytest.mark.proves("C-explain", "P25")
def test_the_plain_file_that_is_named_holds_the_original(headgate):
    decided = trimmed(headgate, LOG, "--tokens", "300")

    record = json.loads(headgate("explain", decided["ref"], "--json").stdout)

    assert Path(record["file"]).read_bytes() == LOG


@pytest.mark.proves("C-explain", "P25")
def test_one_object_for_each_decision_on_the_same_content(headgate):
    small = trimmed(headgate, LOG, "--tokens", "200")
    large = trimmed(headgate, LOG, "--tokens", "400")

    records = [
        json.loads(line) for line in headgate("explain", small["ref"], "--json").stdout.splitlines()
    ]

    assert small["ref"] == large["ref"]
    assert [record["text"] for record in records] == [small["text"], large["text"]]
    assert [record["limit"] for record in records] == [
        {"count": 200, "unit": "tokens"},
        {"count": 400, "unit": "tokens"},
    ]


@pytest.mark.proves("C-explain", "P25")
def test_a_call_id_leads_to_its_decision(headgate):
    trimmed(headgate, LOG, "--tokens", "300")
    [listed] = [json.loads(line) for line in headgate("store", "ls", "--json").stdout.splitlines()]

    ran = headgate("explain", listed["call_id"])

    assert ran.returncode == 0
    assert listed["ref"].encode() in ran.stdout


@pytest.mark.proves("C-explain", "P25")
def test_what_went_in_whole_is_explained_too(headgate):
    headgate("run", "--", "echo", "hello")
    whole = headgate("read", "--last").stderr.decode()
    call_id = re.search(r"run_[0-9a-f]{8}", whole)[0]

    out = headgate("explain", call_id).stdout.decode()

    assert "\nfate     whole\n" in out
    assert "\nreason   fits\n" in out
    assert "\noriginal not kept\n" in out


@pytest.mark.proves("C-explain")
@pytest.mark.parametrize("name", ["r_aaaaaaaaaaaa", "toolu_\x1b[31m"])
def test_what_nobody_decided_on_is_1_with_one_clear_line(headgate, name):
    ran = headgate("explain", name)

    assert (ran.returncode, ran.stdout) == (1, b"")
    assert ran.stderr.startswith(b"headgate: no result '")
    assert ran.stderr.endswith(b"' in this session; it may have expired\n")
    assert b"\x1b" not in ran.stderr


@pytest.mark.proves("C-explain", "P14")
def test_another_session_s_decisions_are_not_told(headgate):
    decided = trimmed(headgate, LOG, "--tokens", "300")

    assert headgate("explain", decided["ref"], "--session", "other").returncode == 1


@pytest.mark.proves("C-explain", "P18")
def test_no_name_is_live_on_the_page(headgate):
    decided = trimmed(headgate, LOG, "--tokens", "300", "--tool", "gr\x1b[31mep\u202e")

    out = headgate("explain", decided["ref"]).stdout

    assert b"of tool 'gr\\x1b[31mep\\u202e'" in out
    assert b"\x1b" not in out


@pytest.mark.parametrize(
    "words",
    [("explain", "r_aaaaaaaaaaaa"), ("explain", "toolu_01A"), ("read", "--last")],
)
def test_a_state_folder_that_cannot_be_read_is_no_missing_result(headgate, words):
    trimmed(headgate, LOG, "--tokens", "128")
    headgate.state.chmod(0)

    told = headgate(*words, after=HELD_TO_PERMISSIONS)

    headgate.state.chmod(0o700)
    assert (told.returncode, told.stdout) == (2, b"")
    assert told.stderr.decode() == (
        f"headgate: the state folder {headgate.state}: permission denied; "
        "check its owner and mode\n"
    )
