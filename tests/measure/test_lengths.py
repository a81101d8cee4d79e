from hypothesis import given
from hypothesis import strategies as st

from headgate.measure.lengths import BLOCK, bytes_in, chars_in

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
