import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.terminal import STATE_CHARS, STRING_CHARS, Terminal


def shown(text: str) -> str:
    terminal = Terminal()
    return terminal.feed(text) + terminal.close()


@pytest.mark.proves("R4")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("plain\n", "plain\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b[38;5;208mmore\x1b[m", "red and more"),
        ("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x1b[2J\x1b[Hcleared", "cleared"),
        ("\x9b31mred\x9b0m", "red"),
        ("\udc9b31mred\udc9b0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("\x1b]0;title\x9ctext", "text"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c2VjcmV0\x07pasted", "pasted"),
        ("\x1bP1$r0m\x1b\\after", "after"),
        ("\x1b_application\x1b\\after", "after"),
        ("\x1bktitle\x1b\\after", "after"),
        ("\x1b(B\x1b)0\x1b7\x1b8\x1b=\x1b>text\x1bc", "text"),
    ],
)
def test_a_control_sequence_leaves_nothing(written, read):
    assert shown(written) == read


@pytest.mark.proves("R4")
@pytest.mark.parametrize(
    "written",
    [
        "\x1b]0;never ends",
        "\x1b]0;ends on the next line\nsecond\x07",
        "\x1bPnever ends\n",
        "\x1b[31",
        "\x1b",
        "\x1b\nx",
        "\x9d0;never ends",
        "\x1b[" + "1" * 1_000 + "m",
        "\udc9bquoted\udc9b",
    ],
)
def test_an_unfinished_sequence_swallows_nothing(written):
    assert shown(written) == written


def test_a_sequence_ends_where_the_next_begins():
    assert shown("\x1b]0;tit\x1b[0mle\x07") == "\x1b]0;title\x07"
    assert shown("\x1b\x1b[31m[32m") == "\x1b[32m"


@pytest.mark.proves("R4")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("10%\r50%\r100%\n", "100%\n"),
        ("Downloading...\rDone\n", "Done\n"),
        ("10%\r20%\r", "20%"),
        ("10%\r20%\r\n", "20%\n"),
        ("dos\r\nlines\r\r\n", "dos\nlines\n"),
        ("\r\r\rx", "x"),
        ("\r\n\r\n", "\n\n"),
        ("one\rtwo\nthree\rfour\nfive", "two\nfour\nfive"),
        ("50%\x1b[2K\x1b[1G75%\x1b[2K\x1b[Gdone\n", "done\n"),
        ("50%\x1b[1000D\x1b[Kdone\n", "done\n"),
        ("fold:start\r\x1b[0K$ make\n", "$ make\n"),
    ],
)
def test_a_line_that_is_overwritten_keeps_its_last_state(written, read):
    assert shown(written) == read


@pytest.mark.proves("R4")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("|\b/\b-\b\\\bdone", "done"),
        ("abc\b \bX", "abX"),
        ("N\bNA\bAM\bME\bE", "NAME"),
        ("_\bu_\bn_\bd", "und"),
        ("abc\b\b\n", "abc\n"),
        ("\b\b\babc", "abc"),
        ("old\ba\b\b\bnew\n", "new\n"),
    ],
)
def test_a_backspace_takes_back_what_is_written_over(written, read):
    assert shown(written) == read


def test_a_long_state_is_no_progress_bar_and_stays():
    long = "x" * STATE_CHARS

    assert shown(f"10%\r{long}\r50%\r100%\n") == f"{long}\\r100%\n"
    assert shown(f"{long}\r\n") == f"{long}\n"
    assert shown(f"{long}y\r{long}z\n") == f"{long}y\\r{long}z\n"


def test_past_a_long_state_a_backspace_is_left_to_be_shown():
    long = "x" * STATE_CHARS

    assert shown(f"ab\bc{long}\bd") == f"ac{long}\bd"


def test_an_endless_line_is_let_go():
    terminal = Terminal()
    passed = sum(len(terminal.feed("x" * 50_000)) for _ in range(100))

    assert 5_000_000 - passed <= STATE_CHARS


def test_an_endless_sequence_is_let_go():
    terminal = Terminal()
    passed = len(terminal.feed("\x1b]0;"))
    passed += sum(len(terminal.feed("x" * 50_000)) for _ in range(100))

    assert 5_000_004 - passed <= STRING_CHARS + STATE_CHARS + 4


def test_the_longest_string_is_taken_out_and_one_longer_is_not():
    fits = "x" * STRING_CHARS

    assert shown(f"a\x1b]{fits}\x07b") == "ab"
    assert shown(f"a\x1b]{fits}x\x07b") == f"a\x1b]{fits}x\x07b"


alphabet = st.sampled_from("ab0;m[]\\GP\x07\x08\r\n\x1b\x9b\x9c\x9d\udc9b\udc9c")


@pytest.mark.proves("R4")
@given(st.lists(st.text(alphabet, max_size=12), max_size=8))
def test_what_is_read_does_not_depend_on_the_pieces(pieces):
    terminal = Terminal()
    in_pieces = "".join(map(terminal.feed, pieces)) + terminal.close()

    assert in_pieces == shown("".join(pieces))


@given(st.text(alphabet, max_size=60))
def test_line_ends_stay(written):
    assert shown(written).count("\n") == written.count("\n")
