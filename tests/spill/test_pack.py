import os
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import StoreError
from headgate.spill.pack import packed_bytes, read_chunks, table_of, write_packed

CHUNK = 64
CONTENT = st.binary(max_size=400) | st.integers(0, 9).map(lambda n: b"line of a log\n" * n)


def packed(content: bytes) -> int:
    """A temporary file with the content compressed."""
    chunks = [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)]
    with tempfile.TemporaryFile() as file:
        assert (
            write_packed(file.fileno(), chunks, len(content), CHUNK)
            == os.fstat(file.fileno()).st_size
        )
        return os.dup(file.fileno())


@pytest.mark.proves("K10", "P1")
@given(content=CONTENT, span=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_any_chunks_come_back_as_they_were(content, span):
    fd = packed(content)
    table = table_of(fd)

    assert table is not None
    assert table.length == len(content)
    assert (
        read_chunks(fd, table, *span)
        == content[span[0] * CHUNK : max(span) * CHUNK][: max(span[1] - span[0], 0) * CHUNK]
    )
    os.close(fd)


@pytest.mark.proves("K10")
def test_text_gets_shorter_and_what_cannot_get_shorter_stands_as_it_is():
    text, noise = b"the same line again\n" * 100, os.urandom(2_000)
    lengths = []
    for content in (text, noise):
        fd = packed(content)
        lengths.append(os.fstat(fd).st_size)
        os.close(fd)

    assert lengths[0] < len(text)
    assert lengths[1] == len(noise) + 14 + 16 + 8 * 33


@pytest.mark.parametrize("damage", [b"", b"headgate-z-01\n", b"headgate-z-01\n" + b"\xff" * 16])
def test_a_head_that_makes_no_sense_is_none(damage):
    with tempfile.TemporaryFile() as file:
        file.write(damage)
        file.flush()

        assert table_of(file.fileno()) is None


@pytest.mark.proves("K10", "P24")
@given(at=st.integers(30, 70), byte=st.integers(0, 255))
def test_damage_gives_no_crash_and_no_more_than_a_chunk(at, byte):
    with tempfile.TemporaryFile() as file:
        write_packed(file.fileno(), [b"line of a log\n" * 4], 56, CHUNK)
        table = table_of(file.fileno())
        assert table is not None
        os.pwrite(file.fileno(), bytes([byte]), at)

        found = read_chunks(file.fileno(), table, 0, 1)
        assert found is None or len(found) <= CHUNK


def test_fewer_chunks_than_the_length_says_are_not_written():
    with tempfile.TemporaryFile() as file, pytest.raises(StoreError, match="has 2 chunks, not 1"):
        write_packed(file.fileno(), [b"x" * CHUNK], CHUNK + 1, CHUNK)


def test_it_never_takes_more_than_was_said():
    noise = os.urandom(1_000)
    fd = packed(noise)

    assert os.fstat(fd).st_size == packed_bytes(len(noise), CHUNK)
    os.close(fd)
