import hashlib
import json
import os
import re
import signal
import subprocess

import pytest

from headgate.cli.output import visible
from headgate.measure.meters import meter_for
from tests.cli.conftest import HELD_TO_PERMISSIONS, LONGEST_S, ON_A_FULL_DISK, command

O200K = meter_for("o200k", "tokens")
CL100K = meter_for("cl100k", "tokens")

LOG = b"".join(
    b"2026-01-01 00:00:%02d INFO step %d of the build is done\n" % (n % 60, n) for n in range(2_000)
)
ERROR = b"2026-01-01 00:07:00 ERROR cannot connect to db-7: timeout after 30 s\n"
LOG_WITH_ERROR = LOG[: len(LOG) // 2] + b"\n" + ERROR + LOG[len(LOG) // 2 :]

RECORDS = json.dumps(
    [{"id": n, "name": f"user {n}", "mail": f"u{n}@example.org"} for n in range(900)]
)


def shown(ran):
    """What is on stdout, without the final line end."""
    assert ran.returncode == 0, ran.stderr
    text = ran.stdout.decode()
    assert text.endswith("\n")
    return text[:-1]


def ref_in(text):
    return re.search(r"r_[a-z2-7]{12}", text)[0]


@pytest.mark.proves("C-trim")
def test_what_fits_comes_out_as_it_went_in(headgate):
    text = "one\n\ttwo\n日本語\n"

    ran = headgate("trim", "--tokens", "128", stdin=text.encode())

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, text.encode(), b"")


@pytest.mark.proves("C-trim", "R10")
@pytest.mark.parametrize("most", [128, 200, 500, 2_000])
def test_n_counts_what_is_on_stdout_without_the_final_line_end(headgate, most):
    text = shown(headgate("trim", "--tokens", str(most), stdin=LOG_WITH_ERROR))

    assert 0.8 * most <= O200K.count(text) <= most


@pytest.mark.proves("C-trim", "R10")
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n" * 16])
def test_a_text_of_just_n_is_whole_and_of_one_more_is_not(headgate, end):
    text = "".join(f"{n} of the lines\n" for n in range(100)) + "the end" + end
    size = O200K.count(text.removesuffix("\n"))

    whole = headgate("trim", "--tokens", str(size), stdin=text.encode())
    short = headgate("trim", "--tokens", str(size - 1), stdin=text.encode())
    in_chars = headgate("trim", "--chars", str(len(text.removesuffix("\n"))), stdin=text.encode())

    assert whole.stdout.decode() == in_chars.stdout.decode() == text.removesuffix("\n") + "\n"
    assert "omitted" in shown(short)
    assert O200K.count(shown(short)) <= size - 1


@pytest.mark.proves("C-trim", "R10")
def test_n_counts_in_the_vocabulary_or_the_unit_that_was_named(headgate):
    in_cl100k = shown(headgate("trim", "--tokens", "300", "--vocab", "cl100k", stdin=LOG))
    in_chars = shown(headgate("trim", "--chars", "600", stdin=LOG))

    assert 270 <= CL100K.count(in_cl100k) <= 300
    assert 540 <= len(in_chars) <= 600


@pytest.mark.proves("C-trim")
def test_without_n_the_limits_of_the_preset_hold(headgate):
    text = LOG * 10

    assert 7_200 <= O200K.count(shown(headgate("trim", stdin=text))) <= 8_000
    assert O200K.count(shown(headgate("trim", "--preset", "default", stdin=text))) <= 8_000


@pytest.mark.proves("C-trim", "S4", "R15")
def test_the_error_in_the_middle_is_kept_and_the_marker_names_a_command_that_works(headgate):
    text = shown(headgate("trim", "--tokens", "400", stdin=LOG_WITH_ERROR))

    assert ERROR.decode() in text
    command = re.search(r"`headgate (read r_[a-z2-7]{12} --lines \d+-\d+)`", text)[1].split()
    first = int(command[-1].partition("-")[0])
    answer = headgate(*command)
    assert answer.returncode == 0
    assert LOG_WITH_ERROR.split(b"\n")[first - 1] in answer.stdout


@pytest.mark.proves("C-trim", "R15")
def test_the_marker_names_the_session_where_it_is_not_the_default(headgate):
    text = shown(headgate("trim", "--tokens", "400", "--session", "my agent's", stdin=LOG))

    found = re.search(r"`(headgate read r_[a-z2-7]{12} --session .* --lines \d+-\d+)`", text)[1]
    ran = headgate.shell(found)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.proves("C-trim", "S4")
def test_lines_that_the_query_points_at_are_kept(headgate):
    needle = b"step 777 of"

    assert needle.decode() not in shown(headgate("trim", "--tokens", "300", stdin=LOG))
    lines = LOG.replace(b"step 777 of", b"flux capacitor at step 777 of")
    text = shown(headgate("trim", "--tokens", "300", "--query", "the flux capacitor", stdin=lines))
    assert "flux capacitor at step 777" in text


@pytest.mark.proves("C-trim", "S6")
def test_json_stays_json(headgate):
    text = shown(headgate("trim", "--tokens", "500", stdin=RECORDS.encode()))

    json.loads(text)
    assert O200K.count(text) <= 500
    assert ref_in(text)


@pytest.mark.proves("C-trim")
def test_the_kind_can_be_said(headgate):
    record = json.loads(
        headgate("trim", "--json", "--tokens", "300", "--kind", "diff", stdin=LOG).stdout
    )
    found = json.loads(headgate("trim", "--json", "--tokens", "300", stdin=LOG).stdout)

    assert (record["kind"], found["kind"]) == ("diff", "log")


@pytest.mark.proves("C-trim")
def test_json_gives_one_object_with_the_text_and_the_numbers(headgate):
    ran = headgate("trim", "--json", "--tokens", "300", stdin=LOG)

    assert ran.stdout.isascii()
    assert ran.stdout.count(b"\n") == 1
    record = json.loads(ran.stdout)
    assert record["fate"] == "spilled"
    assert record["ref"] == ref_in(record["text"])
    assert record["before"]["chars"] == len(LOG)
    assert record["before"]["lines"] == 2_000
    assert record["before"]["tokens"] == pytest.approx(O200K.count(LOG.decode()), rel=0.05)
    assert record["after"] == {
        "tokens": O200K.count(record["text"]),
        "chars": len(record["text"]),
        "lines": record["text"].count("\n") + 1,
    }
    assert record["after"]["tokens"] <= 300
    assert record["kind"] == "log"
    assert "300 allowed" in record["reason"]
    assert record["vocab"] == "o200k"
    in_chars = json.loads(headgate("trim", "--json", "--chars", "600", stdin=LOG).stdout)
    assert in_chars["vocab"] == "o200k"
    assert in_chars["after"]["tokens"] == O200K.count(in_chars["text"])


@pytest.mark.proves("C-trim")
def test_json_tells_of_what_fits_too(headgate):
    record = json.loads(headgate("trim", "--json", stdin=b'{"a": [1, 2]}').stdout)

    assert record["text"] == '{"a": [1, 2]}'
    assert (record["fate"], record["ref"], record["kind"]) == ("whole", None, "json")
    assert record["before"] == record["after"]


@pytest.mark.proves("C-trim", "R14")
def test_each_run_is_decided_anew(headgate):
    small = shown(headgate("trim", "--tokens", "200", stdin=LOG))
    large = shown(headgate("trim", "--tokens", "600", stdin=LOG))

    assert O200K.count(small) <= 200 < O200K.count(large)
    assert shown(headgate("trim", "--tokens", "200", stdin=LOG)) == small


@pytest.mark.proves("C-trim", "0.5")
def test_no_spill_keeps_no_original_and_says_so(headgate):
    text = shown(headgate("trim", "--tokens", "300", "--no-spill", stdin=LOG))

    assert "not kept" in text
    assert not re.search(r"r_[a-z2-7]{12}", text)
    assert headgate("store", "ls", "--json").stdout == b""


@pytest.mark.proves("C-trim", "R3")
def test_nothing_is_told_with_the_name_of_the_tool(headgate):
    assert shown(headgate("trim", "--tool", "grep", stdin=b"")) == "(grep finished without output)"
    assert shown(headgate("trim", stdin=b" \n")) == "(tool finished without output)"


@pytest.mark.proves("C-trim")
@pytest.mark.parametrize("words", [[], ["-"], ["log"], ["--", "log"]])
def test_a_file_and_stdin_give_the_same(headgate, words):
    headgate.file("log", LOG)

    ran = headgate("trim", "--tokens", "300", *words, stdin=LOG)

    assert shown(ran) == shown(headgate("trim", "--tokens", "300", stdin=LOG))


JSON_DEEP = b"[" * 100_000 + b"]" * 100_000

BAD_INPUT = {
    "not utf-8": bytes(range(256)) * 300,
    "latin-1": "ein Gerät, drei Geräte\n".encode("latin-1") * 800,
    "nuls": b"a\0b\n" * 8_000,
    "raw surrogates": b"x\xed\xa0\x80y\n" * 4_000,
    "surrogates in json": json.dumps([{"text": "a\ud800b", "n": n} for n in range(1_500)]).encode(),
    "a million spaces": b" " * 1_000_000,
    "a million tabs and line ends": b"\t\n" * 500_000,
    "special tokens": b"<|endoftext|><|im_start|>system\n" * 1_500,
    "json 100,000 deep": JSON_DEEP,
    "objects 50,000 deep": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "nan": b"[" + b"NaN, 1e400, -Infinity, " * 1_500 + b"1]",
    "1e400": b"[" + b"1e400, -1e-400, " * 1_500 + b"1]",
    "duplicate keys": b"{" + b", ".join(b'"k%d": %d' % (n % 7, n) for n in range(4_000)) + b"}",
    "40 digits": json.dumps([10**39 + n for n in range(1_500)]).encode(),
    "50 marks on a letter": ("e" + "\u0301" * 50).encode() * 900,
    "escape sequences": b"\x1b[31mred\x1b[0m \x1b]52;c;cm0gLXJm\x07 \x1b]8;;http://x\x1b\\y\n"
    * 1_500,
    "8-bit sequences": b"\x9b31mred\x9b0m\n" * 4_000,
    "bidi and tags": "a\u202eb\u2066c\U000e0041d\n".encode() * 2_500,
    "progress bars": b"".join(b"\r%d%% done" % (n % 101) for n in range(9_000)),
    "imitated markers": b"[12 of 30 lines omitted; `headgate read r_aaaaaaaaaaaa` #abcd]\n" * 700,
    "utf-16": ("\ufeff" + "wide text\n" * 4_000).encode("utf-16-le"),
    "a truncated character": "日本語".encode() * 4_000 + b"\xe6\x97",
    "windows line ends": b"line of text\r\n" * 5_000,
    "unclosed json": b'{"items": [' + b'{"a": "b"},' * 4_000,
}


@pytest.mark.proves("C-trim", "R10", "P1", "P18", "P24")
@pytest.mark.parametrize("name", list(BAD_INPUT))
def test_any_input_is_shown_within_its_limit_and_read_back_whole(headgate, name):
    content = BAD_INPUT[name]
    text = shown(headgate("trim", "--tokens", "300", stdin=content))

    assert O200K.count(text) <= 300
    assert visible(text) == text
    back = headgate("read", "--last", "--raw")
    assert hashlib.sha256(back.stdout).digest() == hashlib.sha256(content).digest()


@pytest.mark.proves("C-trim", "S6")
@pytest.mark.parametrize("name", ["surrogates in json", "1e400", "duplicate keys", "40 digits"])
def test_odd_json_is_still_json(headgate, name):
    text = shown(headgate("trim", "--tokens", "400", stdin=BAD_INPUT[name]))

    json.loads(text)


@pytest.mark.proves("S6")
def test_numbers_keep_all_their_digits(headgate):
    text = shown(headgate("trim", "--tokens", "400", stdin=BAD_INPUT["40 digits"]))

    assert str(10**39) in text


@pytest.mark.proves("C-trim", "R10")
@pytest.mark.parametrize("name", ["escape sequences", "bidi and tags", "nuls", "not utf-8"])
def test_the_limit_holds_for_escapes_where_the_text_of_a_tool_is_not_changed(headgate, name):
    text = shown(headgate("trim", "--tool", "read_file", "--tokens", "300", stdin=BAD_INPUT[name]))

    assert O200K.count(text) <= 300
    assert visible(text) == text


@pytest.mark.proves("C-trim", "R10")
def test_small_text_full_of_controls_is_measured_as_it_is_seen(headgate):
    content = b"\x1b[1;2H\x1b[3;4H\n" * 40
    words = ["trim", "--tool", "read_file"]

    assert O200K.count(shown(headgate(*words, "--tokens", "300", stdin=content))) <= 300
    assert len(shown(headgate(*words, "--chars", "600", stdin=content))) <= 600


@pytest.mark.proves("C-trim", "R10", "P1", "K9")
def test_one_line_of_100_mb_passes_in_pieces(headgate):
    content = b"0123456789abcdef ghijkl" * (100_000_000 // 23)
    file = headgate.file("line", content)

    text = shown(headgate("trim", "--tokens", "300", str(file)))

    assert O200K.count(text) <= 300
    with open(headgate.folder / "back", "wb") as out:
        assert (
            headgate("read", ref_in(text), "--raw", capture_output=False, stdout=out).returncode
            == 0
        )
    assert hashlib.sha256((headgate.folder / "back").read_bytes()).digest() == (
        hashlib.sha256(content).digest()
    )


@pytest.mark.proves("C-trim")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--tokens", "127"], "--tokens: '127'; it takes a whole number from 128 to 1,000,000,000"),
        (["--chars", "511"], "--chars: '511'; it takes a whole number from 512"),
        (["--tokens", "-5"], "--tokens: '-5'; it takes a whole number from 128"),
        (["--tokens", "many"], "--tokens: 'many'; it takes a whole number from 128"),
        (["--tokens", "1e3"], "--tokens: '1e3'; it takes a whole number from 128"),
        (["--tokens", "200", "--chars", "600"], "--chars: not allowed with argument --tokens"),
        (["--tokens"], "--tokens: expected one argument"),
        (["--preset", "nope"], "no preset 'nope'; there is default"),
        (["--vocab", "nope"], "vocab is 'nope'; there is o200k, cl100k"),
        (["--kind", "nope"], "--kind: 'nope'; it is one of json, jsonl"),
        (["--session", ""], "--session: ''; it takes 1 to 128 printable characters"),
        (["/no/such/file"], "'/no/such/file' cannot be read: no such file or directory"),
        (["no\x1b[31mfile"], "'no\\x1b[31mfile' cannot be read: no such file or directory"),
        (["."], "'.' is a folder; name a file"),
        (["one", "two"], "unrecognized arguments: two"),
        (["--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_what_cannot_run_is_one_clear_line(headgate, words, line):
    ran = headgate("trim", *words, stdin=LOG)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().startswith(f"headgate: {line}")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-trim")
def test_a_file_that_may_not_be_read_is_one_clear_line(headgate):
    headgate.file("secret", LOG).chmod(0)

    ran = headgate("trim", "secret", after=HELD_TO_PERMISSIONS)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr == b"headgate: 'secret' cannot be read: permission denied\n"


def shown_but_not_kept(ran):
    text = shown(ran)
    assert O200K.count(text) <= 300
    assert "not kept" in text
    assert not re.search(r"r_[a-z2-7]{12}", text)
    assert ran.stderr.startswith(b"headgate: nothing was kept: ")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-trim", "K5", "P8")
@pytest.mark.parametrize("size", [1, 200], ids=["held", "streamed"])
def test_a_full_disk_is_told_and_the_result_is_shown(headgate, size):
    ran = headgate("trim", "--tokens", "300", stdin=LOG * size, after=ON_A_FULL_DISK)

    shown_but_not_kept(ran)
    assert b"file-size limit" in ran.stderr


@pytest.mark.proves("C-trim", "K5", "P8")
@pytest.mark.parametrize("size", [1, 200], ids=["held", "streamed"])
def test_a_read_only_state_directory_is_told_and_the_result_is_shown(headgate, size):
    headgate.state.mkdir(mode=0o500)

    ran = headgate("trim", "--tokens", "300", stdin=LOG * size, after=HELD_TO_PERMISSIONS)

    shown_but_not_kept(ran)
    assert b"permission denied" in ran.stderr


@pytest.mark.proves("C-trim", "K5")
def test_a_state_directory_that_became_read_only_still_reads(headgate):
    text = shown(headgate("trim", "--tokens", "300", stdin=LOG))
    for path in [headgate.state, *headgate.state.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)

    ran = headgate("read", ref_in(text), "--lines", "2", after=HELD_TO_PERMISSIONS)
    again = headgate("trim", "--tokens", "300", stdin=LOG[:-9], after=HELD_TO_PERMISSIONS)

    assert LOG.splitlines()[1] in ran.stdout
    shown_but_not_kept(again)


def test_a_state_directory_that_is_relative_is_one_clear_line(headgate):
    ran = headgate("trim", env={**os.environ, "HEADGATE_STATE_DIR": "here"})

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: HEADGATE_STATE_DIR is 'here'")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.proves("K3")
def test_who_is_ended_early_leaves_nothing_unfinished(headgate, number):
    with subprocess.Popen(
        command("trim", after=f"import signal\nsignal.signal({int(number)}, signal.SIG_DFL)"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as trim:
        trim.stdin.write(b"a line of output\n" * 2_000_000)
        trim.stdin.flush()
        trim.send_signal(number)
        trim.stdin.close()
        assert trim.wait(LONGEST_S) == 128 + number
        assert trim.stderr.read() == b""
    assert list((headgate.state / "sessions" / "default" / "tmp").glob("*")) == []
    assert headgate("store", "verify").returncode == 0
