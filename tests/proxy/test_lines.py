from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headgate.proxy.lines import END_BYTES, Lines, TooLong


def fed(chunks, **options):
    lines = Lines(**options)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return found + lines.close()


def test_lines_come_whole_however_they_are_cut():
    assert fed([b'{"a"', b":1}\n\n  \n", b'{"b":2}\r\n{"c":3}']) == [
        b'{"a":1}',
        b'{"b":2}\r',
        b'{"c":3}',
    ]


@given(
    lines=st.lists(st.binary(max_size=9).filter(lambda b: b"\n" not in b and b.strip())),
    cuts=st.lists(st.integers(0, 80)),
)
def test_where_the_bytes_are_cut_makes_no_difference(lines, cuts):
    data = b"\n".join(lines)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[a:b] for a, b in pairwise(places)]
    assert fed(chunks) == lines


def test_a_line_that_is_too_long_is_not_held_but_its_ends_are():
    start, end = b'{"result":"', b'","id":7}'
    body = [b"x" * 1_000] * 50
    found = fed([start, *body, end + b"\n", b'{"id":8}\n'], most_bytes=10_000)

    [long, after] = found
    assert isinstance(long, TooLong)
    assert long.length == len(start) + 50_000 + len(end)
    assert long.head.startswith(start)
    assert long.tail.endswith(end)
    assert len(long.tail) <= END_BYTES
    assert after == b'{"id":8}'


def test_memory_stays_bounded_while_a_line_goes_on():
    lines = Lines(most_bytes=10_000)
    for _ in range(1_000):
        assert lines.feed(b"y" * 1_000) == []
    assert sum(map(len, lines._held)) <= END_BYTES
