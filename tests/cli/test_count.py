import json

import pytest

HUNDRED_LINES = b"".join(b"line %d of the text\n" % n for n in range(100))


@pytest.mark.proves("C-count", "A1")
def test_the_number_is_on_stdout_and_its_vocabulary_on_stderr(headgate):
    ran = headgate("count", stdin=b"hello world hello")

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"3\n", b"headgate: counted in o200k\n")


@pytest.mark.proves("C-count", "A1")
@pytest.mark.parametrize("words", [["-"], [], ["text"]])
def test_a_file_and_stdin_count_alike(headgate, words):
    headgate.file("text", HUNDRED_LINES)

    assert headgate("count", *words, stdin=HUNDRED_LINES).stdout == b"700\n"


@pytest.mark.proves("C-count", "A1")
def test_a_model_without_a_vocabulary_is_an_estimate_that_says_so(headgate):
    ran = headgate("count", "--model", "claude-sonnet-4-6", stdin=HUNDRED_LINES)

    assert ran.stdout == b"812\n"
    assert ran.stderr == b"headgate: estimated in o200k x 1.16 for claude-sonnet-4-6\n"


@pytest.mark.proves("C-count")
def test_an_estimate_of_a_large_text_comes_from_samples(headgate):
    text = HUNDRED_LINES * 100
    ran = headgate("count", "--estimate", stdin=text)

    exact = int(headgate("count", stdin=text).stdout)
    assert int(ran.stdout) == pytest.approx(exact, rel=0.05)
    assert ran.stderr == b"headgate: estimated from samples in o200k\n"


@pytest.mark.proves("C-count")
def test_one_object_names_number_and_vocabulary(headgate):
    ran = headgate("count", "--vocab", "cl100k", "--json", stdin=b"hello world")

    assert json.loads(ran.stdout) == {
        "tokens": 2,
        "exact": True,
        "vocab": "cl100k",
        "multiplier": 1.0,
        "model": None,
    }
    assert ran.stderr == b""


@pytest.mark.proves("C-count", "P24")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (b"", b"0\n"),
        (b"<|endoftext|>", b"7\n"),
        (b"a\xffb", b"4\n"),
        (b" " * 1_000_000, b"7813\n"),
        (b"e" + "\u0301".encode() * 50, b"51\n"),
    ],
    ids=["nothing", "special", "not utf-8", "spaces", "marks"],
)
def test_any_bytes_are_counted(headgate, text, tokens):
    ran = headgate("count", stdin=text)

    assert (ran.returncode, ran.stdout) == (0, tokens)


@pytest.mark.proves("C-count")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--vocab", "nope"], b"headgate: vocab is 'nope'; there is o200k, cl100k"),
        (["/no/such"], b"headgate: '/no/such' cannot be read: no such file or directory"),
        (["/"], b"headgate: '/' is a folder; name a file"),
        (["--vocab", "o200k", "--model", "gpt-4o"], b"headgate: --model: not allowed with"),
    ],
)
def test_what_cannot_be_counted_is_one_clear_line(headgate, words, line):
    ran = headgate("count", *words)

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(line)
    assert ran.stderr.count(b"\n") == 1
