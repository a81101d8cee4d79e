import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.marker import Ask, Marker
from headgate.normalise import Normaliser, normalise
from headgate.visible import folded
from tests.nasty import IMITATION, chunked, nasty_bytes

tags = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=4, max_size=4)
noise = st.sampled_from([b"", b"\x1b[0m", b"\r", b"x\b", b"\x1b]0;t\x07", "\u200d".encode()])
WIDE = {ord(char): ord(char) + 0xFEE0 for char in map(chr, range(0x21, 0x7F))}
SPACES = {ord(" "): "\u00a0"}


def imitates(data: bytes) -> bool:
    plain = "\n".join(map(folded, data.decode().split("\n")))
    return bool(re.search(IMITATION, data) or re.search(IMITATION, plain.encode()))


@pytest.mark.proves("P19")
@given(tags, st.sampled_from([{}, WIDE, SPACES, WIDE | SPACES]), st.integers(1, 10**6))
def test_no_marker_a_model_has_seen_can_be_sent_back_by_a_tool(tag, disguise, missing):
    marker = Marker(tag, ref="r_abcdefghijkl")
    forged = [
        marker.long(missing, missing * 2, "lines", missing * 9, Ask("lines", "401-800")),
        marker.short(missing, missing * 2, "chars"),
        marker.gap(1, missing),
        marker.inside(missing),
    ]

    for text in forged:
        *body, bracket = text.translate(disguise)
        assert (
            normalise("".join([*body, bracket]).encode())
            == "".join([*body, f"\\u{ord(bracket):04x}"]).encode()
        )
        assert imitates("".join([*body, bracket]).encode())


@pytest.mark.proves("P19")
@given(tags, st.lists(noise, min_size=8, max_size=8))
def test_control_sequences_inside_a_marker_do_not_hide_it(tag, noises):
    letters = [b"[9 lines omitted ", b"#", *(letter.encode() for letter in tag), b"]"]
    data = b"".join(part + hidden for part, hidden in zip(letters, noises, strict=False))

    assert not imitates(normalise(data))


@pytest.mark.proves("P19")
@given(nasty_bytes, st.lists(st.integers(0, 500), max_size=12))
def test_nothing_normalised_imitates_a_marker(data, cuts):
    normaliser = Normaliser()

    seen = b"".join(map(normaliser.feed, chunked(data, cuts))) + normaliser.close()

    assert not imitates(seen)
