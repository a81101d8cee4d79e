import json

import pytest

from headgate import Gate, Policy, ToolResult, tokens
from headgate.failures import note
from headgate.testing import lines

LOG = lines(2_000)


@pytest.fixture
def used(state):
    """A session in which one result was shortened, and a part of it read back."""
    clock = iter(range(1_000, 2_000))
    policy = Policy(result=tokens(1_000), batch=None)
    gate = Gate(policy, session="agent", clock=lambda: next(clock))
    [shown] = gate.admit([ToolResult.of("grep", LOG, call_id="1")])
    gate.admit([ToolResult.of("ls", "a\nb", call_id="2")])
    assert shown.verdict is not None
    assert shown.verdict.ref is not None
    gate.read(shown.verdict.ref, {"lines": "500-520"})
    return shown.verdict


def test_a_table_by_tool_and_the_sums_below_it(headgate, used):
    ran = headgate("stats")

    heading, grep, ls = ran.stdout.decode().splitlines()
    assert heading.split() == [
        *("tool", "results", "shortened", "tokens", "shown", "read", "back", "kept", "out")
    ]
    assert grep.split()[:4] == ["grep", "1", "1", f"{used.before.tokens:,}"]
    assert ls.split() == ["ls", "1", "0", "3", "3", "0", "0"]
    first, second = ran.stderr.decode().splitlines()
    assert first.startswith("headgate: 2 results, 1 of them shortened; ")
    assert second.startswith("headgate: worth ")


def test_a_result_of_no_named_tool_is_not_said_to_be_gone(headgate, state):
    Gate(session="agent").admit([ToolResult.of("", LOG, call_id="1")])

    row = headgate("stats").stdout.decode().splitlines()[1]

    assert row.startswith("(no name) ")


def test_read_back_is_subtracted_and_money_is_told(headgate, used):
    ran = headgate("stats", "--json", "--price", "3")

    grep, _, whole = map(json.loads, ran.stdout.splitlines())
    assert grep["kept_out"] == grep["tokens"] - grep["shown"] - grep["read_back"]
    assert grep["read_back"] > 0
    kept = used.before.tokens - used.after.tokens
    worth = kept * (1.25 + 0.1) - grep["read_back"] * 1.25
    assert grep["worth_tokens"] == round(worth)
    assert whole["total"]["dollars"] == pytest.approx(worth * 3 / 1_000_000, rel=1e-3)


def test_a_model_that_costs_nothing_saves_nothing(headgate, used):
    ran = headgate("stats", "--model", "devstral-small:free")

    assert ran.returncode == 0
    assert ran.stderr.decode().endswith(" tokens at the plain price of input, $0.00\n")


def test_a_name_that_is_a_book_leaves_the_table_its_form(headgate, state):
    Gate().admit([ToolResult.of("x" * 9_000, "a", call_id="1")])

    _, row = headgate("stats").stdout.decode().splitlines()

    assert row.split() == ["x" * 64 + "…", "1", "0", "1", "1", "0", "0"]


def test_the_prices_and_tokens_of_a_model(headgate, used):
    plain = json.loads(headgate("stats", "--json").stdout.splitlines()[-1])["total"]

    ran = headgate("stats", "--json", "--model", "claude-opus-5")

    whole = json.loads(ran.stdout.splitlines()[-1])["total"]
    assert whole["tokens"] == pytest.approx(plain["tokens"] * 1.58, rel=1e-3)
    assert whole["dollars"] == pytest.approx(whole["worth_tokens"] * 5 / 1_000_000, rel=1e-3)


def test_one_session_only(headgate, used):
    ran = headgate("stats", "--session", "other")

    assert ran.stdout == b""
    assert ran.stderr == b"headgate: 0 results, 0 of them shortened; 0 tokens kept out\n"


def test_the_last_days_only(headgate, used):
    ran = headgate("stats", "--days", "1")

    assert b"0 results" in ran.stderr


def test_failures_that_let_a_result_through_are_told(headgate, state):
    note("hook codex: ValueError: nope", state)

    ran = headgate("stats")

    assert b"let through untouched 1 time, because of a failure; the last: hook codex" in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--price", "0"], "takes a number above 0"),
        (["--days", "x"], "takes a number above 0"),
        (["--model", "gpt-5", "--price", "1"], "leave out --price, or --model"),
        (["--model", "no-such-model"], "the price of 'no-such-model' is not known; say --price"),
    ],
)
def test_what_makes_no_sense_is_one_clear_line(headgate, words, said):
    ran = headgate("stats", *words)

    assert ran.returncode == 2
    assert said in ran.stderr.decode()
    assert ran.stderr.count(b"\n") == 1
