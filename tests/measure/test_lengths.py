import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.lengths import BLOCK, bytes_in, chars_in, line_ends_in

any_text = st.text(st.characters(), max_size=100)


@given(any_text)
def test_characters_and_bytes_are_counted_without_a_copy_of_the_whole(text):
    data = text.encode("utf-8", "backslashreplace")

    assert bytes_in(text) == len(data)
    assert chars_in(data) == len(data.decode())


def test_blocks_do_not_change_the_count():
    text = "é" * BLOCK + "x"

    assert bytes_in(text) == 2 * BLOCK + 1
    assert chars_in(text.encode()) == BLOCK + 1


@given(st.lists(st.integers(0, 3_000), max_size=12), st.binary(max_size=3))
def test_line_ends_are_counted_however_far_apart(gaps, end):
    data = b"\n".join(b"x" * gap for gap in gaps) + end

    assert line_ends_in(data) == data.count(b"\n")


@pytest.mark.parametrize("line", [b"\n", b"a\n", b"a" * 59 + b"\n", b"a" * 5_000 + b"\n", b"a"])
def test_line_ends_of_a_large_text_are_counted_block_by_block(line):
    data = line * (2 * BLOCK // len(line) + 7)

    assert line_ends_in(data) == data.count(b"\n")
    assert line_ends_in(b"x" * 1_000 + data) == data.count(b"\n")
