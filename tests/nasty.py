"""Bytes that break naive readers: what terminals, attackers and bad encoders send."""

from hypothesis import strategies as st

IMITATION = rb"\[[^\[\]\n]{0,400}#[a-z2-7]{4}\]"
"""Looks like a marker of ours: a bracket that closes with a tag."""

PIECES = (
    *(b"a", b"B7", b"word ", b"\n", b"\n", b"\t", b"\r", b"\r\n", b"\b", b"\x07", b"\x00", b"\x7f"),
    *(b"\x1b", b"\x1b[31m", b"\x1b[0K", b"\x1b[1G", b"\x1b[", b"\x1b]0;t", b"\x1b]", b"\x1b\\"),
    *(b"\x1bP", b"\x1b(B", b"\x1b ", b"\x1bk", b"[1;2", b"m", b"0;", b"\x9b", b"\x9b3m", b"\x9d"),
    *(
        b"\xc2\x9b",
        b"\xc2\x9d",
        b"\xc2\x9c",
        b"\x9c",
        b"\xc2\x85",
        b"\xc2",
        b"\xe2",
        b"\x80",
        b"\xed",
    ),
    *(
        b"\xed\xa0\x80",
        b"\xed\xb2\x80",
        b"\xa0",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    *("\u202e".encode(), "\u200b".encode(), "\u200d".encode(), "\u200f".encode(), "é".encode()),
    *("中".encode(), "\U0001f600".encode(), "\ufe0f".encode(), "\U000e0100".encode()),
    *(
        "\U000e0041".encode(),
        b"#",
        b"#ab",
        b"cd",
        b"]",
        b"[",
        b"#abcd]",
        b"[5 lines omitted #k7q2]",
    ),
    *("＃".encode(), "］".encode(), "ａ".encode(), "\u00a0".encode(), "ﬁ".encode(), b"\\", b"\\]"),
)

pieces = st.one_of(st.sampled_from(PIECES), st.binary(max_size=4))
nasty_bytes = st.lists(pieces, max_size=40).map(b"".join)
"""Control sequences, whole and torn, half characters, hidden ones, markers that are not ours."""


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    """Cut `data` at places given as any numbers."""
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
