import json

import pytest

from headgate.cli import main
from tests.cli.bad_histories import UNREADABLE, long_history, unanswered, wrong_types
from tests.cli.conftest import HELD_TO_PERMISSIONS
from tests.histories import DIALECTS, KEYS, body, calls, results, round_of, said, user

UNANSWERED = {"anthropic": "A2", "openai-chat": "C1", "openai-responses": "R1", "gemini": "M2"}
"""The rule that a call without its result breaks."""

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.mark.proves("C-check")
def test_violations_are_a_table_and_exit_1(headgate):
    messages = [
        *calls("anthropic", ("c1", "ls", {}), ("c2", "ls", {})),
        *results("anthropic", ("c1", "ls", "a"), ("c9", "ls", "b")),
        *user("anthropic", " "),
    ]

    ran = headgate("check", stdin=body("anthropic", messages))

    assert ran.returncode == 1
    assert ran.stdout.decode().splitlines() == [
        "where                   rule  found",
        "messages[0].content[1]  A2    no tool_result for 'c2' in the next message",
        "messages[1].content[1]  A3    no tool_use 'c9' in the message before",
        "messages[2].content     A8    the text is only white space",
    ]
    assert ran.stderr == b"headgate: 3 violations of the rules of anthropic\n"


@pytest.mark.proves("C-check")
@every_dialect
def test_each_dialect_is_recognised_and_its_rules_are_applied(headgate, dialect):
    ran = headgate("check", "--json", stdin=unanswered(dialect))

    [record] = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert record.keys() == {"rule", "kind", "where", "found"}
    assert record["rule"] == UNANSWERED[dialect]
    assert record["where"].startswith(f"{KEYS[dialect]}[1]")


@pytest.mark.proves("C-check")
@every_dialect
def test_a_valid_history_is_exit_0_and_nothing_on_stdout(headgate, dialect):
    messages = user(dialect, "x") + round_of(dialect, 1, "a", "b")

    ran = headgate("check", stdin=body(dialect, messages))

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr == f"headgate: no violation of the rules of {dialect}\n".encode()


@pytest.mark.proves("C-check")
@every_dialect
@pytest.mark.parametrize("words", [[], ["-"], ["history.json"]])
def test_a_bare_array_and_a_body_are_judged_alike_from_a_file_or_stdin(headgate, dialect, words):
    whole = unanswered(dialect)
    bare = json.dumps(json.loads(whole)[KEYS[dialect]]).encode()
    seen = []
    for history in (whole, bare):
        headgate.file("history.json", history)
        seen.append(headgate("check", *words, "--dialect", dialect, "--json", stdin=history))

    assert seen[0].stdout == seen[1].stdout != b""
    assert [ran.returncode for ran in seen] == [1, 1]


@pytest.mark.proves("C-check", "H2")
@every_dialect
def test_calls_that_wait_for_their_results_are_missing_none_if_that_is_said(headgate, dialect):
    waiting = body(dialect, user(dialect, "x") + calls(dialect, ("c1", "ls", {})))

    assert headgate("check", "--dialect", dialect, stdin=waiting).returncode == 1
    assert headgate("check", "--dialect", dialect, "--pending", stdin=waiting).returncode == 0


@pytest.mark.proves("C-check")
def test_a_rule_of_one_model_is_applied_to_that_model(headgate):
    prefilled = body("anthropic", user("anthropic", "x") + said("anthropic", "The answer is"))

    older = headgate("check", "--dialect", "anthropic", "--model", "claude-opus-4", stdin=prefilled)
    newer = headgate(
        "check", "--dialect", "anthropic", "--model", "claude-opus-4-6", stdin=prefilled
    )

    assert (older.returncode, newer.returncode) == (0, 1)
    assert b" A20 " in newer.stdout


@pytest.mark.proves("C-check")
def test_a_history_that_fits_two_dialects_is_exit_2_with_both_names(headgate):
    plain = json.dumps(user("anthropic", "x")).encode()

    ran = headgate("check", stdin=plain)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr == (
        b"headgate: stdin: this fits anthropic and openai-chat; say which with --dialect\n"
    )
    assert headgate("check", "--dialect", "openai-chat", stdin=plain).returncode == 0


@pytest.mark.proves("C-check", "P24")
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_history_is_one_clear_line(headgate, name):
    content, line = UNREADABLE[name]

    ran = headgate("check", stdin=content)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: stdin: ")
    assert line in ran.stderr.decode()
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-check")
def test_a_history_of_another_dialect_is_told_by_what_it_lacks(headgate):
    headgate.file("chat.json", unanswered("openai-chat"))

    ran = headgate("check", "chat.json", "--dialect", "gemini")

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode() == (
        "headgate: 'chat.json': the body has no 'contents', where gemini keeps its history; "
        "it has messages\n"
    )


@pytest.mark.proves("C-check")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["/no/such"], "'/no/such' cannot be read: no such file or directory"),
        (["/"], "'/' is a folder; name a file"),
        (["--dialect", "claude"], "--dialect: 'claude'; it is one of anthropic, openai-chat, "),
        (["one", "two"], "unrecognized arguments: two; see headgate check --help"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(headgate, words, line):
    ran = headgate("check", *words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().startswith(f"headgate: {line}")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-check")
def test_a_file_that_may_not_be_read_is_one_clear_line(headgate):
    headgate.file("history.json", unanswered("gemini")).chmod(0)

    ran = headgate("check", "history.json", after=HELD_TO_PERMISSIONS)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr == b"headgate: 'history.json' cannot be read: permission denied\n"


@pytest.mark.proves("C-check", "P24")
def test_an_input_that_no_request_is_as_long_as_is_not_read_to_its_end(headgate):
    with open(headgate.folder / "endless", "wb") as file:
        file.truncate(1 << 40)

    ran = headgate("check", "endless")

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr == (
        b"headgate: 'endless': more than 268,435,456 bytes; no request is that long\n"
    )


@pytest.mark.proves("C-check", "P24")
@pytest.mark.parametrize("half", [b"\\ud800", b"\xed\xa0\x80"], ids=["escaped", "raw"])
def test_half_of_a_surrogate_pair_is_a_violation(headgate, half):
    history = b'{"system": "s", "messages": [{"role": "user", "content": "%s"}]}' % half

    ran = headgate("check", "--json", stdin=history)

    assert ran.returncode == 1
    assert json.loads(ran.stdout)["where"] == "messages[0].content"


@pytest.mark.proves("C-check", "P18")
def test_no_id_is_live_in_the_table_and_no_key_moves_its_columns(headgate):
    messages = user("anthropic", "x") + results("anthropic", ("\x1b[31m\u202e", "ls", "a"))
    messages[0]["k" * 100_000] = "\ud800"

    ran = headgate("check", stdin=json.dumps(messages).encode())

    assert ran.returncode == 1
    assert b"\\x1b[31m\\u202e" in ran.stdout
    assert b"\x1b" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) < 250


@pytest.mark.proves("C-check", "P24")
@every_dialect
def test_a_hundred_thousand_messages_are_judged(headgate, dialect):
    ran = headgate("check", stdin=long_history(dialect), timeout=120)

    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr == f"headgate: no violation of the rules of {dialect}\n".encode()


@pytest.mark.proves("C-check", "P24")
def test_a_wrong_type_anywhere_is_a_violation_or_one_clear_line(state, tmp_path, capfdbinary):
    path = tmp_path / "history.json"
    for dialect, history in wrong_types():
        path.write_bytes(history)

        code = main(["check", str(path), "--dialect", dialect])

        out, err = capfdbinary.readouterr()
        assert (code, bool(out)) in ((0, False), (1, True), (2, False)), history
        assert err.count(b"\n") == 1, history
        assert b"fault" not in err, history
