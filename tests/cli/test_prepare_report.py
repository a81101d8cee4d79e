import json
import re

import pytest

from tests.cli.preparing import LOG, looked, reported
from tests.histories import body, calls, user


@pytest.mark.proves("C-prepare", "H5", "H7", "R6", "A6")
def test_the_report_says_what_was_done_and_decided(headgate):
    headgate("prepare", "--session", "s", stdin=body("anthropic", looked("anthropic", LOG, "a")))
    more = [*calls("anthropic", ("c9", "bash", {})), *user("anthropic", "and?")]
    history = body("anthropic", looked("anthropic", LOG, "a") + more, model="claude-opus-4-6")

    report = reported(headgate, "--session", "s", stdin=history)

    assert list(report) == [
        *("dialect", "fixes", "gave_up", "results", "fresh", "epoch", "over_budget", "count"),
    ]
    assert (report["dialect"], report["gave_up"], report["fresh"]) == ("anthropic", None, 1)
    assert report["fixes"] == [
        {
            "kind": "missing",
            "where": "messages[3]",
            "call_id": "c9",
            "what": "bash has no result; it is said to be unknown",
        }
    ]
    assert (report["epoch"], report["over_budget"]) == (None, 0)
    cut, short, unknown = report["results"]
    assert [r["state"] for r in report["results"]] == ["replaced", "frozen", "fresh"]
    assert short == {
        "call_id": "call_1_1",
        "tool": "grep",
        "fate": "whole",
        "state": "frozen",
        "before": {"tokens": 1, "chars": 1, "lines": 1},
        "after": {"tokens": 1, "chars": 1, "lines": 1},
        "ref": None,
        "limit": {"count": 8000, "unit": "tokens"},
        "limit_by": "the policy's default",
        "reason": "fits",
        "age": 0,
    }
    assert (cut["fate"], cut["before"]["lines"]) == ("spilled", 3_000)
    assert cut["after"]["tokens"] <= 8_000 < cut["before"]["tokens"]
    assert re.fullmatch(r"r_[a-z2-7]{12}", cut["ref"])
    assert (unknown["call_id"], unknown["limit_by"]) == ("c9", "the limit of errors")
    counted = report["count"]
    assert counted["low"] < counted["likely"] < counted["tokens"]
    assert (counted["vocab"], counted["window"]) == ("o200k x 1.3", 1_000_000)
    assert [c["component"] for c in counted["components"]][:2] == ["results", "results"]
    assert {c["tool"] for c in counted["components"]} == {"grep", "bash", None}


@pytest.mark.proves("C-prepare", "P21")
@pytest.mark.parametrize("mode", [None, 0o644], ids=["new", "there"])
@pytest.mark.parametrize("umask", ["0", "0o777"])
def test_only_its_owner_may_read_the_report(headgate, mode, umask):
    report = headgate.folder / "report.json"
    if mode is not None:
        headgate.file("report.json", b"x" * 100_000).chmod(mode)

    reported(headgate, stdin=body("gemini", looked("gemini", "a")), after=f"os.umask({umask})")

    assert report.stat().st_mode & 0o777 == 0o600


@pytest.mark.proves("C-prepare")
@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("-", "--report: '-'; the history goes to stdout, so name a file"),
        ("/", "the report '/' cannot be written: is a directory"),
        ("no/such", "the report 'no/such' cannot be written: no such file or directory"),
        ("/dev/full", "the report '/dev/full' cannot be written: no space left on device"),
    ],
)
def test_a_report_that_cannot_be_written_is_one_clear_line(headgate, path, line):
    ran = headgate("prepare", "--report", path, stdin=body("gemini", looked("gemini", "a")))

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode() == f"headgate: {line}\n"


@pytest.mark.proves("C-prepare")
def test_a_report_can_go_to_a_pipe(headgate):
    headgate.file("history.json", body("gemini", looked("gemini", "a")))

    ran = headgate.shell("headgate prepare history.json --report /dev/fd/3 3>&1 >/dev/null")

    assert json.loads(ran.stdout)["dialect"] == "gemini"
