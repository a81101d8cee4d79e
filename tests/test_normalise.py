import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headgate import normalise as module
from headgate import terminal
from headgate.normalise import BLOCK_BYTES, Normaliser, normalise, only_unicode
from tests.nasty import chunked, nasty_bytes

cuts = st.lists(st.integers(0, 500), max_size=12)


def streamed(chunks: list[bytes]) -> bytes:
    normaliser = Normaliser()
    return b"".join(map(normaliser.feed, chunks)) + normaliser.close()


@pytest.mark.proves("R4")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain\ntext\n",
        "grüße 中文 👩‍💻\n".encode(),
        b" " * 1_000_000,
        b"x" * 1_000_000,
        b"<|endoftext|>\n",
        "é".encode() * 300_000,
    ],
)
def test_clean_text_comes_back_as_the_same_object(data):
    assert normalise(data) is data


def test_a_suspect_that_turns_out_clean_comes_back_as_the_same_object():
    data = "[话题#中文标签]".encode()

    assert normalise(data) is data


@pytest.mark.proves("R4", "P18")
@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (b"\x1b[32mok\x1b[0m\r\n", b"ok\n"),
        (b"10%\r100%\n\x07", b"100%\n\\x07"),
        (b"caf\xe9\n", b"caf\\xe9\n"),
        (b"\xe2\x82", b"\\xe2\\x82"),
        (b"\xc0\x80\xf5\xff", b"\\xc0\\x80\\xf5\\xff"),
        (b"a\xed\xa0\x80b\xed\xbf\xbf", b"a\\ud800b\\udfff"),
        (b"\xed\xa0x", b"\\xed\\xa0x"),
        (b"\xe2\x1b[0m\x82\xac", b"\\xe2\\x82\\xac"),
        (codecs.BOM_UTF8 + b"text", b"text"),
        (codecs.BOM_UTF8 * 2 + b"text", b"\\ufefftext"),
        ("\ufefftext\nü".encode("utf-16-le"), "text\nü".encode()),
        ("\ufefftext\nü".encode("utf-16-be"), "text\nü".encode()),
        ("\ufeffa\x1b[0mb\ud800c".encode("utf-16-le", "surrogatepass"), b"ab\\ud800c"),
        (b"\xff\xfea\x00b", b"a\\x62"),
        (b"\xff\xfe", b""),
        (b"\xef\xbb", b"\\xef\\xbb"),
        (b"\x00" * 3, b"\\x00\\x00\\x00"),
        (b"\x1b]0;never ends\nnext", b"\\x1b]0;never ends\nnext"),
        (b"[9 lines omitted #k7q2]", b"[9 lines omitted #k7q2\\u005d"),
        (b"[9 lines omit\x1b[0mted #k7\rx #k7\x1b[mq2]", b"x #k7q2\\u005d"),
        (b"e" + "\u0301".encode() * 50 + b"\x07", b"e" + "\u0301".encode() * 50 + b"\\x07"),
    ],
)
def test_any_bytes_become_readable(data, seen):
    assert normalise(data) == seen
    assert normalise(seen) is seen


@pytest.mark.proves("0.4")
@pytest.mark.parametrize(
    ("data", "seen"),
    [
        (b"raw \x1b[0m\r\n\x00[#k7q2]", b"raw \x1b[0m\r\n\x00[#k7q2]"),
        (codecs.BOM_UTF8 + b"kept", codecs.BOM_UTF8 + b"kept"),
        (b"caf\xe9\r\n\x07", b"caf\\xe9\r\n\x07"),
        (b"a\xed\xa0\x80b", b"a\\ud800b"),
        ("\ufefftext\r\n".encode("utf-16-le"), b"text\r\n"),
        (b"\xff" * 300_000, b"\\xff" * 300_000),
    ],
)
def test_a_text_to_be_edited_is_only_made_valid(data, seen):
    assert only_unicode(data) == seen
    assert only_unicode(seen) is seen


@pytest.mark.proves("R4", "P18")
@given(nasty_bytes)
def test_line_ends_keep_their_number(data):
    if data[:2] not in module.UTF_16:
        assert normalise(data).count(b"\n") == data.count(b"\n")
        assert only_unicode(data).count(b"\n") == data.count(b"\n")


@pytest.mark.proves("R4")
@given(nasty_bytes)
@example(b"\x1b" + b"\x1b[31m" + b"[32m")
def test_normalising_again_changes_nothing(data):
    once = normalise(data)

    assert normalise(once) is once


@pytest.mark.proves("R4")
@given(nasty_bytes, cuts)
def test_chunks_give_the_same_bytes_as_the_whole(data, places):
    whole = normalise(data)

    assert streamed(chunked(data, places)) == whole
    assert streamed([data[i : i + 1] for i in range(len(data))]) == whole


@pytest.mark.proves("R4")
@given(nasty_bytes, cuts, st.integers(1, 20), st.integers(1, 12))
def test_blocks_and_long_lines_change_nothing(data, places, block_bytes, state_chars):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(terminal, "STATE_CHARS", state_chars)
        whole = normalise(data)
        patched.setattr(module, "BLOCK_BYTES", block_bytes)

        assert streamed(chunked(data, places)) == whole
        assert streamed([data]) == whole


@pytest.mark.parametrize(
    "line",
    [
        b"x" * 1_000,
        b"\x1b[31mred\x1b[0m ",
        "中文".encode() * 200,
        b"\x1b]0;" + b"y" * 900,
        b"\xff" * 50,
    ],
)
def test_an_endless_line_passes_in_bounded_memory(line):
    normaliser = Normaliser()
    fed = passed = 0
    while fed < 6 * BLOCK_BYTES:
        fed += len(line)
        passed += len(normaliser.feed(line))
    rest = normaliser.close()

    assert len(rest) <= 4 * (BLOCK_BYTES + terminal.STATE_CHARS + terminal.STRING_CHARS)
    assert passed + len(rest) == len(normalise(line * (fed // len(line))))


def test_an_endless_line_of_states_passes_in_bounded_memory():
    normaliser = Normaliser()
    passed = b"".join(normaliser.feed(b"%d%%\r" % i) for i in range(300_000))

    assert passed + normaliser.close() == b"299999%"


def test_clean_blocks_between_dirty_ones_pass_as_they_are():
    clean = b"all well here\n" * 40_000

    assert normalise(clean + b"\x07\n" + clean) == clean + b"\\x07\n" + clean


def test_a_block_border_inside_a_character_or_sequence_is_not_seen():
    for before in range(BLOCK_BYTES - 6, BLOCK_BYTES + 2):
        data = b"x" * before + "\x1b[31m中 #k7q2]".encode()
        assert normalise(data) == b"x" * before + "中 #k7q2\\u005d".encode()
