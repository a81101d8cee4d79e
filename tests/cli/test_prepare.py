import json
import os
import re

import pytest

from headgate.cli import main
from headgate.testing import lines
from tests.cli.bad_histories import (
    UNREADABLE,
    beyond_repair,
    long_history,
    unanswered,
    wrong_types,
)
from tests.cli.conftest import HELD_TO_PERMISSIONS, ON_A_FULL_DISK
from tests.cli.preparing import LOG, looked, reported
from tests.histories import DIALECTS, KEYS, body, calls, round_of, said, user

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def with_policy(**entries):
    """The environment, with entries of a policy in it."""
    return {**os.environ, **{f"HEADGATE_{name.upper()}": text for name, text in entries.items()}}


@pytest.mark.proves("C-prepare", "P5", "H3")
@every_dialect
@pytest.mark.parametrize("is_bare", [True, False], ids=["array", "body"])
def test_a_history_with_nothing_to_change_comes_out_as_the_same_bytes(headgate, dialect, is_bare):
    messages = looked(dialect, "a few \N{SNOWMAN} lines", "\x1b[31mred")
    whole = json.dumps(messages if is_bare else {KEYS[dialect]: messages, "odd": 1}, indent=2)
    history = whole.encode() + b"\n\n"

    ran = headgate("prepare", "--dialect", dialect, stdin=history)

    assert (ran.returncode, ran.stdout) == (0, history)


@pytest.mark.proves("C-prepare", "K1", "P1", "P6")
@every_dialect
def test_a_large_result_is_shortened_and_read_back_whole(headgate, dialect):
    history = body(dialect, looked(dialect, LOG, "short"))

    ran = headgate("prepare", "--session", "s", stdin=history)

    assert ran.returncode == 0
    assert len(ran.stdout) < len(history) / 2
    assert headgate("check", "--dialect", dialect, stdin=ran.stdout).returncode == 0
    [ref] = set(re.findall(rb'read_result\(ref=\\"(r_[a-z2-7]{12})\\", lines=', ran.stdout))
    read = headgate("read", ref.decode(), "--session", "s", "--raw")
    assert read.stdout == LOG.encode()


@pytest.mark.proves("C-prepare")
@every_dialect
def test_it_comes_out_in_the_form_it_came_in(headgate, dialect):
    messages = looked(dialect, LOG)
    array = headgate("prepare", "--dialect", dialect, stdin=json.dumps(messages).encode()).stdout
    whole = headgate("prepare", stdin=body(dialect, messages, odd=[1])).stdout

    assert json.loads(whole) == {"odd": [1], KEYS[dialect]: json.loads(array)}
    assert json.loads(array) != messages


@pytest.mark.proves("C-prepare", "H7", "H8", "P4")
@every_dialect
def test_what_was_decided_before_stands_in_a_longer_history_under_another_policy(headgate, dialect):
    first = looked(dialect, LOG, "short")
    longer = first + said(dialect, "hm") + user(dialect, "go on") + round_of(dialect, 2, LOG + "!")
    small = with_policy(result="300", batch="300", repeats="false")

    before = headgate("prepare", "--session", "s", stdin=body(dialect, first))
    after = headgate("prepare", "--session", "s", stdin=body(dialect, longer), env=small)

    sent, again = (json.loads(ran.stdout)[KEYS[dialect]] for ran in (before, after))
    assert sent != first
    assert again[: len(first)] == sent
    assert b"headgate: 2 results, 2 decided now; " in before.stderr
    assert b"headgate: 3 results, 1 decided now; " in after.stderr
    assert len(json.dumps(again[len(first) :])) < 3_000


@pytest.mark.proves("C-prepare", "P14", "0.2")
def test_another_session_decides_on_its_own(headgate):
    history = body("gemini", looked("gemini", LOG))
    one = headgate("prepare", "--session", "one", stdin=history).stdout

    other = headgate(
        "prepare", "--session", "other", stdin=history, env=with_policy(result="300")
    ).stdout

    assert len(other) < len(one) / 4


def story(dialect, rounds):
    """A history with many middling results."""
    messages = user(dialect, "look")
    for number in range(rounds):
        messages += round_of(dialect, number, lines(60 + number))
    return messages


@pytest.mark.proves("C-prepare", "H9", "H10", "A6")
@every_dialect
def test_a_window_that_fills_up_moves_old_results_down_once(headgate, dialect):
    history = body(dialect, story(dialect, 12))
    words = ["--session", "s", "--window", "9000", "--model", "gpt-4o"]

    report = reported(headgate, *words, stdin=history)
    ran = headgate("prepare", *words, stdin=history)

    assert report["epoch"]["why"] == "the window is filling up"
    assert report["epoch"]["moved"] == [r["call_id"] for r in report["results"] if r["age"]]
    assert report["epoch"]["moved"][0] == "call_0_0"
    assert (report["count"]["window"], report["results"][-1]["age"]) == (9_000, 0)
    assert b"moved down" not in ran.stderr
    assert f"{report['count']['likely']:,} tokens (".encode() in ran.stderr


@pytest.mark.proves("C-explain", "P25", "H10", "H11")
def test_explain_tells_what_prepare_decided_and_why_it_moved(headgate):
    history = body("anthropic", story("anthropic", 12))
    report = reported(headgate, "--window", "9000", "--model", "gpt-4o", stdin=history)
    moved = report["results"][0]

    by_ref, by_call = (
        [json.loads(line) for line in headgate("explain", name, "--json").stdout.splitlines()]
        for name in (moved["ref"], moved["call_id"])
    )
    page = headgate("explain", moved["ref"]).stdout.decode()

    assert by_ref == by_call
    first, later = by_ref
    assert (first["fate"], first["epoch"], first["text"]) == ("whole", None, lines(60))
    assert (later["fate"], later["epoch"]) == (moved["fate"], "the window is filling up")
    assert (
        later["text"]
        in json.loads(headgate("prepare", stdin=history).stdout)["messages"][2]["content"][0][
            "content"
        ]
    )
    assert page.count("\nshown\n") == 2
    assert "\nmoved    down, because the window is filling up\n" in page


@pytest.mark.proves("C-prepare", "R8")
def test_a_tenth_of_the_window_is_the_most_for_a_batch(headgate):
    history = body("openai-chat", looked("openai-chat", LOG))

    report = reported(headgate, "--window", "20000", "--model", "gpt-4o", stdin=history)

    assert 1_800 < report["results"][0]["after"]["tokens"] <= 2_000


@pytest.mark.proves("C-prepare", "A6")
def test_a_window_that_is_nearly_full_is_warned_of(headgate):
    history = body("openai-chat", user("openai-chat", "word " * 900))

    ran = headgate(
        "prepare",
        "--dialect",
        "openai-chat",
        "--window",
        "1000",
        "--model",
        "gpt-4o",
        stdin=history,
    )

    assert re.search(rb"\d+ tokens are 9\d% of the window of 1,000, over 75%\n", ran.stderr)
    assert re.search(rb"\d+ tokens are 9\d% of the window of 1,000, over 85%\n", ran.stderr)


@pytest.mark.proves("C-prepare", "P3")
def test_what_goes_over_the_budget_because_it_may_not_be_shortened_is_told(headgate):
    messages = user("gemini", "look") + round_of("gemini", 1, lines(100), tool="Read")
    small = with_policy(batch="300")

    report = reported(headgate, stdin=body("gemini", messages), env=small)
    ran = headgate("prepare", "--session", "other", stdin=body("gemini", messages), env=small)

    over = report["results"][0]["after"]["tokens"] + 4 - 300
    assert (report["results"][0]["fate"], report["over_budget"]) == ("whole", over)
    assert ran.stderr.decode().splitlines()[0] == (
        f"headgate: {over:,} tokens over the budgets of their batches, by what may not be shortened"
    )


@pytest.mark.proves("C-prepare", "H1", "P6")
def test_a_broken_history_is_repaired_and_each_fix_is_told(headgate):
    ran = headgate("prepare", stdin=unanswered("openai-responses"))

    assert ran.returncode == 0
    assert headgate("check", stdin=ran.stdout).returncode == 0
    assert ran.stderr.decode().splitlines()[:2] == [
        "headgate: input[1]: grep has no result; it is said to be unknown (missing)",
        "headgate: 1 fix: 1 missing",
    ]


@pytest.mark.proves("C-prepare", "H3")
def test_what_cannot_be_repaired_goes_out_as_it_came_and_exit_1(headgate):
    ran = headgate("prepare", "--report", "report.json", stdin=beyond_repair())

    why = "an assistant message with thinking would have to be changed"
    assert (ran.returncode, ran.stdout) == (1, beyond_repair())
    assert ran.stderr.decode().splitlines()[0] == (
        f"headgate: it goes out as it came, because it cannot be repaired: {why}"
    )
    report = json.loads((headgate.folder / "report.json").read_bytes())
    assert (report["gave_up"], report["results"]) == (why, [])


@pytest.mark.proves("C-prepare", "H2")
@every_dialect
def test_calls_that_wait_for_their_results_are_left_alone_if_that_is_said(headgate, dialect):
    waiting = body(dialect, user(dialect, "x") + calls(dialect, ("c1", "ls", {})))

    ran = headgate("prepare", "--dialect", dialect, "--pending", stdin=waiting)

    assert (ran.returncode, ran.stdout) == (0, waiting)


@pytest.mark.proves("C-prepare", "R15")
def test_the_marker_names_the_way_that_the_policy_says_this_model_has(headgate):
    history = body("gemini", looked("gemini", LOG))
    headgate.file("policy.toml", '[marker]\nreader = "file"\n')

    shown = headgate(
        "prepare",
        stdin=history,
        env={**os.environ, "HEADGATE_POLICY": str(headgate.folder / "policy.toml")},
    ).stdout

    path = re.search(rb"the whole is in (/[^ ]*)", shown)[1]
    with open(path, "rb") as file:
        assert file.read() == LOG.encode()


@pytest.mark.proves("C-prepare")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--preset", "nope"], "no preset 'nope'; there is default"),
        (["--window", "0"], "--window: '0'; it takes a whole number from 1 to "),
        (["--window", "x"], "--window: 'x'; it takes a whole number from 1 to "),
        (["--dialect", "claude"], "--dialect: 'claude'; it is one of anthropic, "),
        (["--session", ""], "--session: ''; it takes 1 to 128 printable characters"),
        (["/no/such"], "'/no/such' cannot be read: no such file or directory"),
        (["/"], "'/' is a folder; name a file"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(headgate, words, line):
    ran = headgate("prepare", *words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().startswith(f"headgate: {line}")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-prepare", "P24")
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_history_is_one_clear_line_and_nothing_on_stdout(headgate, name):
    content, line = UNREADABLE[name]

    ran = headgate("prepare", "--report", "report.json", stdin=content)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: stdin: ")
    assert line in ran.stderr.decode()
    assert ran.stderr.count(b"\n") == 1
    assert not (headgate.folder / "report.json").exists()


@pytest.mark.proves("C-prepare", "P8", "K5")
@pytest.mark.parametrize("fault", [ON_A_FULL_DISK, HELD_TO_PERMISSIONS], ids=["full", "forbidden"])
def test_a_disk_that_cannot_keep_anything_does_not_stop_it(headgate, fault):
    headgate.state.mkdir(mode=0o700)
    if fault is HELD_TO_PERMISSIONS:
        headgate.state.chmod(0o500)

    ran = headgate("prepare", stdin=body("gemini", looked("gemini", LOG)), after=fault)

    headgate.state.chmod(0o700)
    assert ran.returncode == 0
    assert b"headgate: nothing was kept: " in ran.stderr
    assert b"not kept, run the tool again for less" in ran.stdout
    assert len(ran.stdout) < 40_000


@pytest.mark.proves("C-prepare", "P24")
@every_dialect
def test_a_hundred_thousand_messages_are_prepared(headgate, dialect):
    history = long_history(dialect)

    ran = headgate("prepare", stdin=history, timeout=240)

    assert (ran.returncode, ran.stdout) == (0, history)


@pytest.mark.proves("C-prepare", "P24")
def test_a_wrong_type_anywhere_is_prepared_or_told_never_a_fault(state, tmp_path, capfdbinary):
    path = tmp_path / "history.json"
    for dialect, history in wrong_types():
        path.write_bytes(history)

        code = main(["prepare", str(path), "--dialect", dialect])

        out, err = capfdbinary.readouterr()
        assert b"fault" not in err, history
        if code == 2:
            assert (out, err.count(b"\n")) == (b"", 1), history
        elif b" fix" not in err:
            assert out == history
        else:
            json.loads(out)
