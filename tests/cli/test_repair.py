import json
import os
import pty
import subprocess

import pytest

from headgate.cli import main
from tests.cli.bad_histories import (
    UNREADABLE,
    beyond_repair,
    long_history,
    unanswered,
    wrong_types,
)
from tests.cli.conftest import HELD_TO_PERMISSIONS, LONGEST_S, command
from tests.histories import DIALECTS, KEYS, body, calls, results, round_of, user

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


@pytest.mark.proves("C-repair", "H1", "H5", "P6")
@every_dialect
def test_a_repaired_history_is_accepted_and_each_fix_is_told(headgate, dialect):
    ran = headgate("repair", stdin=unanswered(dialect))

    assert ran.returncode == 0
    assert headgate("check", "--dialect", dialect, stdin=ran.stdout).returncode == 0
    assert ran.stderr.decode().splitlines() == [
        f"headgate: {KEYS[dialect]}[1]: grep has no result; it is said to be unknown (missing)",
        "headgate: 1 fix: 1 missing",
    ]


@pytest.mark.proves("C-repair", "H5")
def test_fixes_are_counted_by_their_kind(headgate):
    messages = [
        *user("anthropic", "x"),
        *calls("anthropic", ("c1", "ls", {}), ("c2", "ls", {})),
        *results("anthropic", ("c8", "ls", "a"), ("c9", "ls", "b")),
    ]

    ran = headgate("repair", stdin=body("anthropic", messages))

    *fixes, count = ran.stderr.decode().splitlines()
    assert count == "headgate: 4 fixes: 2 missing, 2 orphan"
    assert fixes == [
        "headgate: messages[1]: ls has no result; it is said to be unknown (missing)",
        "headgate: messages[1]: ls has no result; it is said to be unknown (missing)",
        "headgate: messages[2]: a result that answers no call is taken out (orphan)",
        "headgate: messages[2]: a result that answers no call is taken out (orphan)",
    ]


@pytest.mark.proves("C-repair", "H3", "P5")
@every_dialect
@pytest.mark.parametrize("end", [b"", b"\n", b" \r\n\n"], ids=["none", "line", "lines"])
def test_a_valid_history_comes_out_as_the_very_same_bytes(headgate, dialect, end):
    messages = user(dialect, "\N{SNOWMAN} x") + round_of(dialect, 1, "a\u202eb", "b")
    whole = {"unknown": [1.5, "kept"], KEYS[dialect]: messages}
    spaced = json.dumps(whole, indent=3, ensure_ascii=False).encode()
    history = spaced.replace(b"1.5", b"1.50e400") + end
    headgate.file("history.json", history)

    ran = headgate("repair", "history.json")

    assert (ran.returncode, ran.stdout) == (0, history)
    assert ran.stderr == b"headgate: there is nothing to repair\n"


@pytest.mark.proves("C-repair", "P7", "H4")
def test_what_a_repair_does_not_need_to_touch_keeps_its_bytes(headgate):
    history = (
        b'{ "system":"s",\n  "messages" : [ {"role":"user",  "content":"caf\xc3\xa9 \\u00e9"},\n'
        b'    {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}'
        b',{"role":"user","content":"and?"} ], "odd" :1e400 }\n'
    )

    out = headgate("repair", stdin=history).stdout

    before, mended, after = out.partition(b'{"role":"user","content":[{"type":"tool_result"')
    assert mended
    assert history.startswith(before)
    assert after.endswith(b' ], "odd" :1e400 }\n')


@pytest.mark.proves("C-repair")
@every_dialect
def test_a_bare_array_comes_out_as_one(headgate, dialect):
    whole = unanswered(dialect)
    bare = json.dumps(json.loads(whole)[KEYS[dialect]]).encode()

    out = headgate("repair", "-", "--dialect", dialect, stdin=bare).stdout

    assert json.loads(out) == json.loads(headgate("repair", stdin=whole).stdout)[KEYS[dialect]]


@pytest.mark.proves("C-repair", "P6")
@every_dialect
def test_repairing_twice_is_repairing_once(headgate, dialect):
    once = headgate("repair", stdin=unanswered(dialect)).stdout

    twice = headgate("repair", "--dialect", dialect, stdin=once)

    assert (twice.returncode, twice.stdout) == (0, once)
    assert twice.stderr == b"headgate: there is nothing to repair\n"


@pytest.mark.proves("C-repair", "H2")
@every_dialect
def test_calls_that_wait_for_their_results_are_left_alone_if_that_is_said(headgate, dialect):
    waiting = body(dialect, user(dialect, "x") + calls(dialect, ("c1", "ls", {})))

    ran = headgate("repair", "--dialect", dialect, "--pending", stdin=waiting)

    assert (ran.returncode, ran.stdout) == (0, waiting)


@pytest.mark.proves("C-repair", "H5")
def test_the_report_is_one_object_for_each_fix_if_asked_for(headgate):
    ran = headgate("repair", "--json", stdin=unanswered("anthropic"))

    assert json.loads(ran.stderr) == {
        "kind": "missing",
        "where": "messages[1]",
        "call_id": "c1",
        "what": "grep has no result; it is said to be unknown",
    }
    assert headgate("repair", "--json", stdin=ran.stdout).stderr == b""


@pytest.mark.proves("C-repair", "H3")
def test_what_cannot_be_repaired_goes_out_as_it_came_with_the_reason_and_exit_1(headgate):
    history = beyond_repair() + b"\n"

    told = headgate("repair", stdin=history)
    record = headgate("repair", "--json", stdin=history)

    why = "an assistant message with thinking would have to be changed"
    assert (told.returncode, told.stdout) == (1, history)
    assert told.stderr.decode() == (
        f"headgate: it goes out as it came, because it cannot be repaired: {why}\n"
    )
    assert (record.returncode, record.stdout) == (1, history)
    assert json.loads(record.stderr) == {"gave_up": why}


@pytest.mark.proves("C-repair", "H3")
def test_what_would_still_be_refused_is_told_and_exit_1(headgate):
    history = json.loads(unanswered("anthropic"))
    history["messages"][0]["content"] = [{"type": "image", "source": {"type": "tape"}}]

    ran = headgate("repair", stdin=json.dumps(history).encode())
    records = headgate("repair", "--json", stdin=json.dumps(history).encode())

    *fixes, left = ran.stderr.decode().splitlines()
    assert ran.returncode == 1
    assert fixes[-1] == "headgate: 1 fix: 1 missing"
    assert left == (
        "headgate: left as it is: messages[0].content[0]: the source of the image is 'tape' "
        "(A16: images)"
    )
    assert [set(json.loads(line)) for line in records.stderr.splitlines()] == [
        {"kind", "where", "call_id", "what"},
        {"left"},
    ]


@pytest.mark.proves("C-repair", "P24")
@pytest.mark.parametrize("half", [b"\\ud800", b"\xed\xa0\x80"], ids=["escaped", "raw"])
def test_half_of_a_surrogate_pair_is_replaced(headgate, half):
    history = b'{"system": "s", "messages": [{"role": "user", "content": "a%sb"}]}' % half

    ran = headgate("repair", stdin=history)

    assert ran.returncode == 0
    assert json.loads(ran.stdout)["messages"][0]["content"] == "a\ufffdb"
    assert ran.stderr.endswith(b"headgate: 1 fix: 1 surrogate\n")


@pytest.mark.proves("C-repair", "H3", "P24")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"NaN", b"NaN at character 22 is not JSON"),
        (b'"\xff"', b"byte 0xff at 23 is not UTF-8"),
        (b"[" * 100_000 + b"]" * 100_000, b"the body is nested too deep to be a request"),
    ],
    ids=["NaN", "no UTF-8", "deep"],
)
def test_what_no_provider_reads_is_not_said_to_be_in_order(headgate, value, why):
    history = b'{"messages": [{"odd": %s, "role": "user", "content": "x"}]}' % value

    ran = headgate("repair", "--dialect", "anthropic", stdin=history)

    assert (ran.returncode, ran.stdout) == (1, history)
    assert ran.stderr == b"headgate: left as it is: %s\n" % why


@pytest.mark.proves("C-repair", "P24")
@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_history_is_one_clear_line_and_nothing_on_stdout(headgate, name):
    content, line = UNREADABLE[name]

    ran = headgate("repair", stdin=content)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: stdin: ")
    assert line in ran.stderr.decode()
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-repair", "P24")
@every_dialect
def test_a_history_of_another_dialect_is_told_by_what_it_lacks(headgate, dialect):
    other = "gemini" if dialect != "gemini" else "openai-chat"
    headgate.file("history.json", unanswered(dialect))

    ran = headgate("repair", "history.json", "--dialect", other)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode() == (
        f"headgate: 'history.json': the body: expected {KEYS[other]!r}, where {other} keeps its "
        f"history, found {KEYS[dialect]}\n"
    )


@pytest.mark.proves("C-repair")
def test_a_file_that_cannot_be_read_is_one_clear_line(headgate):
    headgate.file("history.json", unanswered("gemini")).chmod(0)

    folder = headgate("repair", "/")
    forbidden = headgate("repair", "history.json", after=HELD_TO_PERMISSIONS)

    assert (folder.returncode, folder.stderr) == (2, b"headgate: '/' is a folder; name a file\n")
    assert (forbidden.returncode, forbidden.stderr) == (
        2,
        b"headgate: 'history.json' cannot be read: permission denied\n",
    )


@pytest.mark.proves("C-repair", "P18")
def test_a_terminal_is_shown_what_it_would_obey(headgate):
    history = body("gemini", user("gemini", "a\u202eb"))
    ours, theirs = pty.openpty()

    subprocess.run(
        command("repair"),
        input=history,
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=LONGEST_S,
        check=True,
    )

    os.close(theirs)
    assert os.read(ours, 4096).decode() == history.decode().replace("\u202e", "\\u202e") + "\r\n"
    os.close(ours)


@pytest.mark.proves("C-repair", "P24")
@every_dialect
def test_a_hundred_thousand_messages_are_repaired(headgate, dialect):
    messages = json.loads(long_history(dialect))[KEYS[dialect]]
    [lost] = calls(dialect, ("lost", "grep", {}))
    messages[50_001] = lost

    ran = headgate("repair", stdin=body(dialect, messages), timeout=120)

    assert ran.returncode == 0
    assert f"headgate: {KEYS[dialect]}[50001]: grep has no result; ".encode() in ran.stderr
    assert headgate("check", "--dialect", dialect, stdin=ran.stdout, timeout=120).returncode == 0


@pytest.mark.proves("C-repair", "H5", "P24")
def test_fifty_thousand_fixes_are_told_one_by_one(headgate):
    lost = [m for n in range(50_000) for m in calls("openai-chat", (f"c{n}", "ls", {}))]
    history = body("openai-chat", user("openai-chat", "x") + lost + user("openai-chat", "and?"))

    ran = headgate("repair", stdin=history, timeout=120)

    assert ran.returncode == 0
    assert ran.stderr.count(b"\n") == 50_001
    assert ran.stderr.endswith(b"headgate: 50,000 fixes: 50,000 missing\n")


@pytest.mark.proves("C-repair", "P24", "H3")
def test_a_wrong_type_anywhere_is_repaired_or_told_never_a_fault(state, tmp_path, capfdbinary):
    path = tmp_path / "history.json"
    for dialect, history in wrong_types():
        path.write_bytes(history)

        code = main(["repair", str(path), "--dialect", dialect])

        out, err = capfdbinary.readouterr()
        assert b"fault" not in err, history
        if code == 2:
            assert (out, err.count(b"\n")) == (b"", 1), history
        elif b" fix" not in err:
            assert out == history
        else:
            json.loads(out)
