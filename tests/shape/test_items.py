import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.shape.items import BLOCK_BYTES, items_of, lines_of

PIECES = [
    b"0",
    b"{}",
    b'"a, b"',
    b'{"id":7,"tags":[{"id":1},{"id":2}]}',
    b'{"id":8,"text":"],[{\\",\\""}',
    b"[1,[2,[3]]]",
    b"null",
    b'{ "x" : 1 }',
    b'"\\ud800"',
    b"NaN",
]


def written(pieces: list[bytes], separator: bytes) -> bytes:
    return b"[%b]" % separator.join(pieces)


def test_items_are_had_by_number():
    items = items_of(b'[1, "two",{"three": 3}]')

    assert (len(items), items[0], items[1], items[2]) == (3, b"1", b'"two"', b'{"three": 3}')
    assert items.length(2) == 12


@pytest.mark.parametrize("number", [-1, 3])
def test_there_is_no_item_beyond_the_ends(number):
    with pytest.raises(IndexError):
        items_of(b"[1,2,3]")[number]


def test_an_empty_array_has_no_items():
    assert len(items_of(b"[ ]")) == 0


@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5),
    st.sampled_from([b",", b", ", b",\n    "]),
    st.integers(1, 60_000),
)
def test_a_long_array_in_blocks_has_the_items_of_the_whole(pattern, separator, count):
    pieces = (pattern * count)[: 600_000 // max(map(len, pattern))]
    raw = written(pieces, separator)

    items = items_of(raw)

    assert len(items) == len(pieces)
    for number in {0, 1, len(pieces) // 2, len(pieces) - 1} & set(range(len(pieces))):
        assert items[number] == pieces[number]


def test_a_long_array_is_cut_into_blocks_that_cover_it():
    raw = json.dumps([{"id": number, "name": "x" * 40} for number in range(20_000)]).encode()

    blocks = [block for block, _ in items_of(raw).blocks(len(raw))]

    assert len(blocks) > 10
    assert [block.first for block in blocks[1:]] == [
        block.first + block.count for block in blocks[:-1]
    ]
    assert blocks[-1].first + blocks[-1].count == 20_000
    assert max(block.stop - block.start for block in blocks) <= 3 * BLOCK_BYTES


def test_only_so_many_bytes_of_blocks_are_given():
    raw = json.dumps(list(range(200_000))).encode()

    given_bytes = sum(len(data) for _, data in items_of(raw).blocks(BLOCK_BYTES))

    assert BLOCK_BYTES <= given_bytes <= 3 * BLOCK_BYTES


@pytest.mark.proves("P24")
def test_a_million_tiny_items_take_no_object_each():
    raw = written([b"{}"] * 1_000_000, b",")

    tracemalloc.start()
    items = items_of(raw)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(items) == 1_000_000
    assert most < 2 * len(raw)


@pytest.mark.parametrize("separator", [b",", b" ,  ", b",\n"])
def test_a_place_in_a_block_is_told_its_item(separator):
    pieces = [b'{"n":%d,"s":"%b"}' % (number, b"x" * (number % 50)) for number in range(5_000)]
    items = items_of(written(pieces, separator))

    for block, data in items.blocks(1 << 30):
        number = block.first + block.count - 1
        place = data.index(b'"n":%d,' % number)
        assert items.numbers_at(block, [0, place]) == [block.first, number]


def test_lines_are_items_too():
    lines = lines_of(b'{"a":1}\n\n{"b":2}\n')

    assert [lines[number] for number in range(len(lines))] == [b'{"a":1}', b"", b'{"b":2}']


def test_a_line_end_at_the_end_begins_no_line():
    assert len(lines_of(b"1\n2")) == len(lines_of(b"1\n2\n")) == 2


def test_many_lines_are_had_by_number_and_by_place():
    written_lines = [b'{"n":%d}' % number for number in range(50_000)]
    lines = lines_of(b"\n".join(written_lines))

    assert len(lines) == 50_000
    assert [lines[number] for number in (0, 9_999, 49_999)] == [
        written_lines[number] for number in (0, 9_999, 49_999)
    ]
    for block, data in lines.blocks(1 << 30):
        assert lines.numbers_at(block, [len(data) - 1]) == [block.first + block.count - 1]
