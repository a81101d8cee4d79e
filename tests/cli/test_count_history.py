import json
import re

import pytest

from headgate import Gate
from headgate.cli import main
from headgate.cli.count_history import Whole
from headgate.measure.meters import meter_for
from headgate.testing import lines
from tests.cli.bad_histories import UNREADABLE, long_history, wrong_types
from tests.cli.conftest import HELD_TO_PERMISSIONS
from tests.histories import DIALECTS, KEYS, body, calls, results, round_of, said, user

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def talk(dialect):
    """A short history with every kind of component."""
    return [
        *user(dialect, "what is in there?"),
        *calls(dialect, ("c1", "ls", {"path": "a"})),
        *results(dialect, ("c1", "ls", lines(50))),
        *said(dialect, "fifty lines"),
        *user(dialect, "thanks"),
    ]


@pytest.mark.proves("C-count", "A6")
def test_the_number_is_alone_on_stdout_and_what_it_is_made_of_on_stderr(headgate):
    history = body("anthropic", talk("anthropic"), system="You are brief.")

    ran = headgate("count", stdin=history)

    assert (ran.returncode, ran.stdout) == (0, b"640\n")
    assert ran.stderr.decode().splitlines() == [
        "headgate: 5 messages in anthropic; estimated in o200k",
        "headgate:          599  results of ls",
        "headgate:           18  user",
        "headgate:           11  assistant",
        "headgate:            8  calls",
        "headgate:            4  system",
    ]


@pytest.mark.proves("C-count", "A6")
@every_dialect
def test_one_object_has_the_components_and_they_add_up(headgate, dialect):
    ran = headgate("count", "--dialect", dialect, "--json", stdin=body(dialect, talk(dialect)))

    record = json.loads(ran.stdout)
    assert ran.stderr == b""
    assert list(record) == [
        *("tokens", "exact", "low", "high", "vocab", "model", "dialect", "messages", "window"),
        *("observations", "components", "warnings"),
    ]
    assert record["tokens"] == sum(share["tokens"] for share in record["components"])
    assert record["components"][0]["component"] == "results"
    assert record["components"][0]["tool"] == "ls"
    assert (record["dialect"], record["messages"], record["vocab"]) == (dialect, 5, "o200k")
    assert (record["exact"], record["model"], record["window"]) == (False, None, None)


@pytest.mark.proves("C-count")
@every_dialect
@pytest.mark.parametrize("words", [["-"], [], ["history.json"]])
def test_a_body_and_with_its_dialect_a_bare_array_count_alike(headgate, dialect, words):
    whole = body(dialect, talk(dialect))
    bare = json.dumps(talk(dialect)).encode()
    seen = []
    for history in (whole, bare):
        headgate.file("history.json", history)
        seen.append(headgate("count", *words, "--dialect", dialect, stdin=history).stdout)

    assert seen[0] == seen[1]
    assert headgate("count", stdin=whole).stdout == seen[0]


@pytest.mark.proves("C-count")
def test_a_bare_array_whose_dialect_is_not_named_is_a_text(headgate):
    ran = headgate("count", stdin=json.dumps(talk("anthropic")).encode())

    assert ran.stderr == b"headgate: counted in o200k\n"


@pytest.mark.proves("C-count", "P24")
@pytest.mark.parametrize(
    "text",
    [
        b'{"messages": ["not", "a", "history"]}',
        b'{"messages": [{"from": "me", "subject": "hi"}]}',
        b'{"messages": []}',
        b'{"input": "a prompt"}',
        b'{"input": [1, 2, 3]}',
        b'{"contents": ["a.txt", "b.txt"]}',
        b'{"contents": {"a": 1}}',
        b'{"messages": [',
        b'{"messages": NaN}',
        b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=lambda text: text[:40].decode(),
)
def test_json_that_only_looks_like_a_body_is_a_text(headgate, text):
    ran = headgate("count", stdin=text)

    assert (ran.returncode, ran.stderr) == (0, b"headgate: counted in o200k\n")
    assert int(ran.stdout) == meter_for("o200k", "tokens").count(text.decode())


@pytest.mark.proves("C-count", "A1")
@pytest.mark.parametrize(
    ("more", "words"), [({"model": "gpt-5.1"}, ()), ({}, ("--dialect", "openai-responses"))]
)
def test_a_request_that_is_one_text_costs_what_one_message_of_it_does(headgate, more, words):
    texts = [{"role": "user", "content": "a prompt of six words here"}]
    one, several = (
        headgate("count", "--json", *words, stdin=json.dumps({**more, "input": said}).encode())
        for said in (texts[0]["content"], texts)
    )

    one, several = json.loads(one.stdout), json.loads(several.stdout)
    assert one["tokens"] == several["tokens"] > 6
    assert one["components"] == several["components"]
    assert one["dialect"] == "openai-responses"


@pytest.mark.proves("C-count", "A1")
def test_it_is_counted_for_the_model_that_is_asked_for_else_for_the_one_in_the_body(headgate):
    history = body("anthropic", talk("anthropic"), model="claude-sonnet-4-6")

    named = headgate("count", stdin=history)
    asked = headgate("count", "--model", "claude-opus-4-8", stdin=history)
    exact = headgate("count", "--vocab", "cl100k", stdin=history)

    first = r"headgate: 5 messages in anthropic; [\d,]+ to [\d,]+, estimated in o200k x "
    assert re.match(first + "1.16 for claude-sonnet-4-6\n", named.stderr.decode())
    assert re.match(first + "1.7 for claude-opus-4-8\n", asked.stderr.decode())
    assert exact.stderr.startswith(b"headgate: 5 messages in anthropic; estimated in cl100k\n")
    assert int(exact.stdout) < int(named.stdout) < int(asked.stdout)


@pytest.mark.proves("C-count", "A4")
def test_what_was_learnt_about_a_model_is_used_and_told(headgate):
    gate = Gate(state=headgate.state)
    messages = talk("anthropic")
    for tokens in (2_000, 4_000, 6_000):
        sent = body("anthropic", messages)
        gate.observe(sent, {"input_tokens": tokens, "output_tokens": 0}, model="claude-opus-4-8")
        messages = [*messages, *said("anthropic", "ok"), *user("anthropic", lines(60))]
    history = body("anthropic", talk("anthropic"), model="claude-opus-4-8")

    ran = headgate("count", stdin=history)

    assert ran.stderr.decode().splitlines()[0].endswith(", learnt from 2 reports")


@pytest.mark.proves("C-count", "A6")
def test_a_window_that_is_nearly_full_is_warned_of(headgate):
    history = body("openai-chat", round_of("openai-chat", 1, "word " * 7_000), model="gpt-4")

    ran = headgate("count", stdin=history)
    record = json.loads(headgate("count", "--json", stdin=history).stdout)

    assert re.search(rb"headgate: 7,\d+ tokens are 8\d% of the window of 8,192, over", ran.stderr)
    assert record["window"] == 8_192
    assert len(record["warnings"]) == 2


@pytest.mark.proves("C-count")
def test_large_results_are_counted_whole_unless_an_estimate_will_do(headgate):
    text = "".join(f"{n * n} is the square of {n}\n" for n in range(20_000))
    history = body("gemini", user("gemini", "x") + round_of("gemini", 1, text))

    whole = int(headgate("count", stdin=history).stdout)
    estimate = int(headgate("count", "--estimate", stdin=history).stdout)

    assert whole - meter_for("o200k", "tokens").count(text) in range(60)
    assert estimate == pytest.approx(whole, rel=0.05)


def test_a_meter_that_counts_all_of_a_text_is_otherwise_the_same():
    meter = meter_for("cl100k", "tokens")

    whole = Whole(meter)

    assert (whole.unit, whole.name, whole.count("a b")) == ("tokens", "cl100k", 2)
    assert whole.estimate(b"hello world " * 10_000) == meter.count("hello world " * 10_000)


@pytest.mark.proves("C-count")
def test_only_the_largest_of_many_components_are_told(headgate):
    asked = [(f"c{n}", f"tool_{n}", {}) for n in range(40)]
    given = [(f"c{n}", f"tool_{n}", "x " * n) for n in range(40)]
    history = body("anthropic", [*calls("anthropic", *asked), *results("anthropic", *given)])

    ran = headgate("count", stdin=history)

    assert len(ran.stderr.splitlines()) == 22
    assert ran.stderr.endswith(b"headgate: and 23 more\n")
    assert len(json.loads(headgate("count", "--json", stdin=history).stdout)["components"]) == 43


@pytest.mark.proves("C-count")
def test_a_body_that_fits_two_dialects_is_exit_2_with_both_names(headgate):
    plain = body("anthropic", user("anthropic", "x"))

    ran = headgate("count", stdin=plain)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr == (
        b"headgate: stdin: this fits anthropic and openai-chat; say which with --dialect\n"
    )
    assert headgate("count", "--dialect", "openai-chat", stdin=plain).stdout == b"5\n"


@pytest.mark.proves("C-count", "P24")
@pytest.mark.parametrize("name", [name for name in UNREADABLE if name != "plain messages"])
def test_what_is_no_history_of_its_dialect_is_one_clear_line(headgate, name):
    content = UNREADABLE[name][0]

    ran = headgate("count", "--dialect", "openai-chat", stdin=content)

    if content == b"[]":
        assert (ran.returncode, ran.stdout) == (0, b"0\n")
        return
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: stdin: ")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-count")
def test_a_file_that_cannot_be_read_is_one_clear_line(headgate):
    headgate.file("history.json", body("gemini", talk("gemini"))).chmod(0)

    folder = headgate("count", "--dialect", "gemini", "/")
    forbidden = headgate("count", "history.json", after=HELD_TO_PERMISSIONS)

    assert (folder.returncode, folder.stderr) == (2, b"headgate: '/' is a folder; name a file\n")
    assert (forbidden.returncode, forbidden.stderr) == (
        2,
        b"headgate: 'history.json' cannot be read: permission denied\n",
    )


@pytest.mark.proves("C-count", "P24")
@pytest.mark.parametrize("half", [b"\\ud800", b"\xed\xa0\x80"], ids=["escaped", "raw"])
def test_half_of_a_surrogate_pair_is_counted(headgate, half):
    history = b'{"system": "s", "messages": [{"role": "user", "content": "%s"}]}' % half

    ran = headgate("count", stdin=history)

    assert ran.returncode == 0
    assert 5 < int(ran.stdout) < 20


@pytest.mark.proves("C-count", "P18")
def test_no_tool_s_name_is_live(headgate):
    messages = user("gemini", "x") + round_of("gemini", 1, "a", tool="ls\x1b[31m\u202e")

    ran = headgate("count", stdin=body("gemini", messages))

    assert b"results of ls\\x1b[31m\\u202e\n" in ran.stderr


@pytest.mark.proves("C-count", "P24")
@every_dialect
def test_a_hundred_thousand_messages_are_counted(headgate, dialect):
    ran = headgate("count", "--json", stdin=long_history(dialect), timeout=120)

    record = json.loads(ran.stdout)
    assert (ran.returncode, record["messages"]) == (0, 99_999)
    assert record["tokens"] == pytest.approx(565_000, rel=0.01)


@pytest.mark.proves("C-count", "P24")
def test_a_wrong_type_anywhere_is_counted_or_told_never_a_fault(state, tmp_path, capfdbinary):
    path = tmp_path / "history.json"
    for dialect, history in wrong_types():
        path.write_bytes(history)

        code = main(["count", str(path), "--dialect", dialect])

        out, err = capfdbinary.readouterr()
        assert b"fault" not in err, history
        assert (code, bool(out)) in ((0, True), (2, False)), history
        assert code == 0 or err.count(b"\n") == 1, history


def test_every_dialect_keeps_its_history_where_the_quick_look_expects_it():
    from headgate.cli.count import ARRAYS

    assert set(ARRAYS) == {f'"{key}"'.encode() for key in KEYS.values()}
