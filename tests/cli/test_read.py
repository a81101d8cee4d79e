import json
import os
import pty
import re
import subprocess

import pytest

from headgate.measure.meters import meter_for
from tests.cli.conftest import LONGEST_S, PROGRAM

O200K = meter_for("o200k", "tokens")

LINES = [b"%d: the quick brown fox jumps over the lazy dog" % n for n in range(1, 4_001)]
TEXT = b"\n".join(LINES) + b"\n"
DOCUMENT = {"items": [{"id": n, "name": f"user {n}"} for n in range(2_000)], "total": 2_000}

NOT_THERE = b"headgate: no result 'r_aaaaaaaaaaaa' in this session; it may have expired\n"


def kept(headgate, content, *words):
    """The ref of a result that was shortened."""
    ran = headgate("trim", "--json", "--tokens", "300", *words, stdin=content)
    return json.loads(ran.stdout)["ref"]


@pytest.fixture
def ref(headgate):
    return kept(headgate, TEXT)


@pytest.mark.proves("C-read", "K6")
def test_lines_are_read_back(headgate, ref):
    out = headgate("read", ref, "--lines", "1001-1003").stdout

    assert b"\n".join(LINES[1000:1003]) in out
    assert LINES[999] not in out
    assert LINES[1003] not in out


@pytest.mark.proves("C-read", "K6")
def test_the_last_lines_are_read_back(headgate, ref):
    out = headgate("read", ref, "--lines", "-2").stdout

    assert b"\n".join(LINES[-2:]) in out
    assert LINES[-3] not in out


@pytest.mark.proves("C-read", "K6")
def test_bytes_are_read_back(headgate, ref):
    assert TEXT[100:140] in headgate("read", ref, "--bytes", "100-139").stdout


@pytest.mark.proves("C-read", "K6")
def test_pages_are_read_back_one_after_the_other(headgate, ref):
    first = headgate("read", ref, "--page", "1", "--page-size", "10").stdout
    second = headgate("read", ref, "--page", "2", "--page-size", "10").stdout

    assert b"\n".join(LINES[:10]) in first
    assert b"\n".join(LINES[10:20]) in second


@pytest.mark.proves("C-read", "K6")
def test_a_pattern_finds_its_lines(headgate, ref):
    out = headgate("read", ref, "--search", "^(17|3999): ").stdout

    assert LINES[16] in out
    assert LINES[3_998] in out
    assert LINES[1_000] not in out


@pytest.mark.proves("C-read", "K6")
def test_a_path_finds_its_part_of_json(headgate):
    ref = kept(headgate, json.dumps(DOCUMENT).encode())

    assert b"user 1234" in headgate("read", ref, "--path", "$.items[1234].name").stdout


@pytest.mark.proves("C-read", "K6", "R10")
@pytest.mark.parametrize("words", [[], ["--lines", "1-"], ["--search", "fox"], ["--bytes", "0-"]])
def test_an_answer_fits_its_limit_and_says_how_to_go_on(headgate, ref, words):
    out = headgate("read", ref, *words, "--tokens", "200").stdout.decode()

    assert O200K.count(out[:-1]) <= 200
    assert f"headgate read {ref}" in out


@pytest.mark.proves("C-read", "P16")
def test_following_what_an_answer_says_leads_through_the_whole(headgate):
    text = b"".join(b"line %d\n" % n for n in range(400))
    ref = kept(headgate, text * 2)
    words = ["read", ref, "--lines", "1-400", "--tokens", "700"]
    seen = set()
    for _ in range(20):
        out = headgate(*words).stdout.decode()
        seen |= set(re.findall(r"^line \d+$", out, re.M))
        more = re.search(r"`headgate (read [^`]*)`", out)
        if not more:
            break
        words = [*more[1].split(), "--tokens", "700"]

    assert len(seen) == 400


@pytest.mark.proves("C-read", "K6")
def test_the_last_result_is_found_by_recency_and_tool(headgate):
    kept(headgate, TEXT, "--tool", "grep")
    kept(headgate, TEXT.upper(), "--tool", "make")

    assert LINES[0].upper() in headgate("read", "--last", "--lines", "1").stdout
    assert LINES[0] in headgate("read", "--last", "--tool", "grep", "--lines", "1").stdout


@pytest.mark.proves("C-read")
def test_a_last_result_that_is_not_kept_is_told(headgate):
    none = headgate("read", "--last")
    headgate("trim", stdin=b"short")
    whole = headgate("read", "--last")
    other = headgate("read", "--last", "--tool", "grep")

    assert (none.returncode, none.stderr) == (1, b"headgate: no result in this session yet\n")
    assert whole.returncode == 1
    assert re.fullmatch(
        rb"headgate: the last result, 'trim_[0-9a-f]{8}', is not kept: it was shown whole; "
        rb"headgate store ls lists what is\n",
        whole.stderr,
    )
    assert other.stderr == b"headgate: no result of tool 'grep' in this session yet\n"


@pytest.mark.proves("C-read", "P1")
@pytest.mark.parametrize(
    "content",
    [TEXT, bytes(range(256)) * 400, b"\x1b[31mred\r\n" * 3_000, b"\xff" * 9_000, b"x" * 3_000_000],
    ids=["text", "every byte", "sequences", "no text", "more than a block"],
)
def test_raw_is_every_byte(headgate, content):
    ref = kept(headgate, content)

    ran = headgate("read", ref, "--raw")

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, content, b"")


@pytest.mark.proves("C-read")
def test_raw_never_goes_to_a_terminal(headgate, ref):
    ours, theirs = pty.openpty()
    ran = headgate(
        "read", ref, "--raw", capture_output=False, stdout=theirs, stderr=subprocess.PIPE
    )
    os.set_blocking(ours, False)

    assert ran.returncode == 2
    assert ran.stderr == (
        b"headgate: --raw writes to a file or a pipe, never to a terminal; try --lines\n"
    )
    with pytest.raises(BlockingIOError):
        os.read(ours, 1)
    os.close(ours)
    os.close(theirs)


@pytest.mark.proves("C-read")
def test_a_reader_of_raw_who_leaves_early_is_success(headgate):
    kept(headgate, b"x\n" * 3_000_000)

    ran = headgate.shell("headgate read --last --raw | head -c 2")

    assert (ran.stdout, ran.stderr) == (b"x\n", b"")


@pytest.mark.proves("C-read", "K7", "P14")
@pytest.mark.parametrize("words", [[], ["--raw"], ["--lines", "1-2"], ["--search", "x"]])
def test_a_ref_that_is_not_there_is_1_with_one_clear_line(headgate, words):
    ran = headgate("read", "r_aaaaaaaaaaaa", *words)

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, b"", NOT_THERE)
    assert not headgate.state.exists()


@pytest.mark.proves("C-read", "K7", "P14")
def test_another_session_s_ref_looks_as_if_it_were_not_there(headgate, ref):
    for words in ([], ["--raw"], ["--lines", "1"]):
        ran = headgate("read", ref, *words, "--session", "other")

        assert (ran.returncode, ran.stdout) == (1, b"")
        assert ran.stderr == NOT_THERE.replace(b"r_aaaaaaaaaaaa", ref.encode())


@pytest.mark.proves("C-read")
@pytest.mark.parametrize("name", ["", "r_", "../../etc/passwd", "\x1b[31m", "r_" + "a" * 5_000])
def test_what_is_no_ref_is_not_there_either(headgate, name):
    ran = headgate("read", name)

    assert (ran.returncode, ran.stdout) == (1, b"")
    assert ran.stderr.count(b"\n") == 1
    assert b"\x1b" not in ran.stderr
    assert len(ran.stderr) < 1_100


@pytest.mark.proves("C-read")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "say which result: a ref as its marker says, or --last; not both"),
        (["r_aaaaaaaaaaaa", "--last"], "say which result"),
        (["r_aaaaaaaaaaaa", "--tool", "x"], "--tool goes with --last"),
        (["--last", "--raw", "--sql", "x"], "--raw gives the whole original; leave out --sql"),
        (["--last", "--raw", "--lines", "1"], "--raw gives the whole original; leave out --lines"),
        (["--last", "--page", "0"], "--page: '0'; it takes a whole number from 1"),
        (["--last", "--tokens", "12"], "--tokens: '12'; it takes a whole number from 128"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_line(headgate, words, line):
    ran = headgate("read", *words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().startswith(f"headgate: {line}")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-read", "P17")
@pytest.mark.parametrize(
    "words",
    [
        ["--lines", "9-3"],
        ["--lines", "x"],
        ["--bytes", "--", "zz"],
        ["--search", "("],
        ["--search", "(a+)+$" * 300],
        ["--path", "$["],
        ["--lines", "1", "--path", "$"],
    ],
)
def test_a_request_that_cannot_be_met_is_2_with_one_clear_line(headgate, ref, words):
    ran = headgate("read", ref, *words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"headgate: ")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.proves("C-read", "P18")
def test_what_is_read_back_is_not_live(headgate):
    ref = kept(headgate, b"\x1b[31mred\x1b]0;title\x07\x9b5n\xe2\x80\xae\n" * 3_000)

    for words in (
        [],
        ["--lines", "3-5"],
        ["--bytes", "0-99"],
        ["--search", "red"],
        ["--page", "2"],
    ):
        out = headgate("read", ref, *words).stdout
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae", out), words


def test_a_terminal_gets_an_answer_without_live_sequences(headgate, ref):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, "read", ref, "--lines", "7"], stdout=theirs, cwd=headgate.folder
    ) as running:
        os.close(theirs)
        assert running.wait(LONGEST_S) == 0
        out = os.read(ours, 65536)
    os.close(ours)

    assert LINES[6] in out
    assert b"\x1b" not in out


@pytest.mark.proves("C-read", "K6")
def test_a_query_over_the_last_result(headgate):
    rows = [{"status": "failed" if n % 7 == 0 else "ok", "ms": n} for n in range(700)]
    headgate("trim", "--tokens", "300", stdin=json.dumps(rows).encode())

    ran = headgate("read", "--last", "--sql", "SELECT status, count(*) n FROM result GROUP BY 1")
    bad = headgate("read", "--last", "--sql", "SELECT * FROM read_text('/etc/passwd')")

    assert (ran.returncode, ran.stderr) == (0, b"")
    lines = ran.stdout.decode().splitlines()
    assert lines[0] == "status,n"
    assert sorted(lines[1:3]) == ["failed,100", "ok,600"]
    assert lines[3].startswith("[rows 1-2 of 2; this is all #")
    assert (bad.returncode, bad.stdout) == (2, b"")
    assert bad.stderr.startswith(b"headgate: the query failed: Permission Error")
