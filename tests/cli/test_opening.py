from argparse import Namespace

import pytest

from headgate.cli.opening import (
    Reporter,
    Seen,
    for_stdout,
    new_call,
    policy_for,
    session_for,
    within,
)
from headgate.cli.output import CommandError
from headgate.errors import PolicyError
from headgate.events import LedgerFailed, LedgerRepaired, SpillCut, SpillFailed, SweepFailed
from headgate.measure.meters import meter_for
from headgate.policy import Policy, ToolRule
from headgate.retention import Retention
from headgate.types import chars, tokens
from headgate.view import View


def asked(**given):
    blank = {"tokens": None, "chars": None, "vocab": None, "preset": None, "no_spill": False}
    return Namespace(**{**blank, "session": None, **given})


def test_on_stdout_no_wire_adds_to_a_result_and_the_marker_names_the_command():
    policy = for_stdout(Policy())

    assert (policy.block_overhead, policy.memory_bytes, policy.marker.reader) == (0, 0, "cli")
    assert policy.result == tokens(8_000)
    assert policy.batch == tokens(20_000)


def test_a_limit_holds_whatever_the_tool_the_error_or_the_store():
    policy = within(
        Policy(tools={"grep": ToolRule(limit=tokens(9_000))}, store_fails="whole"), chars(600)
    )

    assert policy.unit == "chars"
    assert policy.result == policy.error == chars(600)
    assert policy.batch is None
    assert policy.errors == "same"
    assert policy.store_fails == "shape"
    assert (dict(policy.tools), dict(policy.classes)) == ({}, {})


@pytest.mark.proves("K4", "R16")
def test_a_limit_changes_nothing_of_what_is_kept_or_shown_to_people():
    policy = Policy(retention=Retention(session_count=7), view=View(lines=7))

    held = within(policy, tokens(300))

    assert (held.retention, held.view) == (policy.retention, policy.view)


def test_the_environment_rules_unless_a_flag_says_otherwise():
    environ = {"HEADGATE_RESULT": "4000", "HEADGATE_VOCAB": "cl100k", "HEADGATE_DEBUG": "1"}

    assert policy_for(asked(), environ).result == tokens(4_000)
    assert policy_for(asked(), environ).vocab == "cl100k"
    assert policy_for(asked(tokens=300), environ).result == tokens(300)
    assert policy_for(asked(vocab="o200k"), environ).vocab == "o200k"
    assert policy_for(asked(preset="default"), environ).result == tokens(8_000)


@pytest.mark.parametrize("environ", [{"HEADGATE_PRESET": "delta"}, {"HEADGATE_VOCAB": "chars/4"}])
def test_a_limit_in_tokens_is_in_tokens_whatever_rule_the_policy_counts_by(environ):
    assert policy_for(asked(), environ).vocab == "chars/4"
    assert policy_for(asked(tokens=300), environ).vocab == "o200k"
    assert policy_for(asked(tokens=300, vocab="chars/4"), environ).vocab == "chars/4"
    assert policy_for(asked(tokens=300), {"HEADGATE_VOCAB": "cl100k"}).vocab == "cl100k"


def test_a_policy_file_is_read_and_the_environment_stands_above_it(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('result = "3000 tokens"\nkeep = "tail"\n')
    environ = {"HEADGATE_POLICY": str(file)}

    assert policy_for(asked(), environ).result == tokens(3_000)
    assert policy_for(asked(), {**environ, "HEADGATE_RESULT": "2000"}).result == tokens(2_000)
    assert policy_for(asked(), {**environ, "HEADGATE_RESULT": "2000"}).keep == "tail"


def test_a_policy_file_may_be_written_as_windows_does(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_bytes(b'\xef\xbb\xbfresult = "3000 tokens"\r\nkeep = "tail"\r\n')

    policy = policy_for(asked(), {"HEADGATE_POLICY": str(file)})

    assert (policy.result, policy.keep) == (tokens(3_000), "tail")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"result = 3", "result is 3 tokens; the marker alone needs 128 tokens"),
        (b"[", "not TOML"),
        (b"a = '\xff'", "is not UTF-8 at byte 5"),
    ],
)
def test_a_policy_file_that_cannot_hold_is_named(tmp_path, content, words):
    file = tmp_path / "policy.toml"
    file.write_bytes(content)

    with pytest.raises(CommandError, match=words) as raised:
        policy_for(asked(), {"HEADGATE_POLICY": str(file)})
    assert str(file) in str(raised.value)


def test_a_policy_file_that_is_not_there_is_named():
    with pytest.raises(CommandError, match=r"'/no/such\.toml' cannot be read: no such file"):
        policy_for(asked(), {"HEADGATE_POLICY": "/no/such.toml"})


def test_a_vocabulary_that_is_not_there_is_refused_in_any_unit():
    for given in (asked(vocab="nope"), asked(vocab="nope", chars=600)):
        with pytest.raises(PolicyError, match="vocab is 'nope'; there is o200k, cl100k"):
            policy_for(given, {})


def test_the_session_is_the_flag_then_the_environment_then_default():
    assert session_for(asked(session="a"), {"HEADGATE_SESSION": "b"}) == "a"
    assert session_for(asked(), {"HEADGATE_SESSION": "b"}) == "b"
    assert session_for(asked(), {}) == "default"
    with pytest.raises(CommandError, match="HEADGATE_SESSION"):
        session_for(asked(), {"HEADGATE_SESSION": "a\nb"})


def test_every_call_has_an_id_of_its_own():
    assert len({new_call("trim") for _ in range(100)}) == 100


def test_an_escape_that_takes_the_place_of_a_control_is_measured():
    meter = Seen(meter_for("o200k", "chars"))

    assert meter.count("a\x1bb") == len("a\\x1bb")
    assert meter.estimate(b"a\x1bb") == len("a\\x1bb")
    assert meter.count("plain\ttext\n") == 11
    assert meter.estimate(b"plain\ttext\n") == 10
    assert (meter.unit, meter.name) == ("chars", "chars")


def test_what_could_not_be_kept_is_said_once(capfdbinary):
    report = Reporter()
    report(SpillFailed("r_a", "c", "the disk is full"))
    report(LedgerFailed("the disk is full"))
    report(LedgerRepaired("/x/ledger", 12, 3))

    assert capfdbinary.readouterr().err.decode() == (
        "headgate: nothing was kept: the disk is full\n"
        "headgate: /x/ledger was damaged: 3 records are whole, 12 bytes after them were set aside\n"
    )


@pytest.mark.proves("K4")
def test_what_was_cut_and_what_could_not_be_swept_is_told(capfdbinary):
    report = Reporter()
    report(SpillCut("r_aaaaaaaaaaaa", "c1", 1_000, 5_000))
    report(SweepFailed("the sessions folder is gone"))

    assert capfdbinary.readouterr().err.decode().splitlines() == [
        "headgate: only the first 1,000 of 5,000 bytes were kept, as retention says",
        "headgate: what is kept could not be put in order: the sessions folder is gone",
    ]
