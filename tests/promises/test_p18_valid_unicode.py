import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.normalise import Normaliser, normalise, only_unicode
from tests.nasty import nasty_bytes

BIDI = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), *"\u200e\u200f\u061c"}


def has_raw_controls(text: str) -> bool:
    return any(
        (unicodedata.category(char) == "Cc" and char not in "\t\n")
        or char in BIDI
        or 0xE0000 <= ord(char) <= 0xE007F
        for char in text
    )


@pytest.mark.proves("P18")
@given(st.one_of(nasty_bytes, st.binary(max_size=300)))
def test_any_bytes_are_normalised_to_valid_unicode_without_raw_controls(data):
    assert not has_raw_controls(normalise(data).decode())


@pytest.mark.proves("P18")
@given(st.text(st.characters(), max_size=200))
def test_any_text_is_normalised_to_valid_unicode_without_raw_controls(text):
    assert not has_raw_controls(normalise(text.encode("utf-8", "surrogatepass")).decode())


@pytest.mark.proves("P18")
@given(st.lists(st.binary(max_size=20), max_size=20))
def test_every_stream_of_chunks_is_normalised_to_valid_unicode(chunks):
    normaliser = Normaliser()

    seen = b"".join(map(normaliser.feed, chunks)) + normaliser.close()

    assert not has_raw_controls(seen.decode())


@pytest.mark.proves("P18", "0.4")
@given(st.one_of(nasty_bytes, st.binary(max_size=300)))
def test_a_text_to_be_edited_is_valid_unicode(data):
    valid = only_unicode(data)

    assert valid.decode().encode() == valid
