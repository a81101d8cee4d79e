import hashlib

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from headgate.spill.chunks import BESIDE_BYTES, CHUNK_BYTES, Counted, Tally, chunks_hold


def counted(*blocks: bytes, clean: bool | None = None) -> Counted:
    tally = Tally(clean)
    for block in blocks:
        tally.add(block)
    return tally.counted()


def test_an_original_in_numbers():
    assert counted(b"one\ntwo\nthree") == Counted(
        sha256="058053d87c818d699cde0f00d670bca0e1c6ad857caa9758ea6a556d7c64fcee",
        length=13,
        lines=3,
        chunk_lines=(2,),
        sums=xxhash.xxh3_64_digest(b"one\ntwo\nthree"),
        clean=True,
    )


def test_an_empty_original_has_no_lines_and_no_chunks():
    assert counted() == counted(b"")
    assert (counted().length, counted().lines, counted().chunk_lines) == (0, 0, ())


@pytest.mark.parametrize(("text", "lines"), [(b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2)])
def test_a_last_line_without_an_end_counts(text, lines):
    assert counted(text).lines == lines


def test_lines_are_counted_and_summed_by_chunk():
    first, second = b"a\n" * (CHUNK_BYTES // 2), b"\n" * 5 + b"end"
    whole = counted(first + second)

    assert whole.chunk_lines == (CHUNK_BYTES // 2, 5)
    assert whole.sums == xxhash.xxh3_64_digest(first) + xxhash.xxh3_64_digest(second)
    assert counted(first, second) == whole


@pytest.mark.parametrize("passed", [b"", b"and more"])
def test_who_has_hashed_the_bytes_says_their_digest(passed):
    blocks = [b"a\n" * (CHUNK_BYTES // 2), b"b\xff"]
    ours, hashed = Tally(), Tally(hashed=True)
    for tally in (ours, hashed):
        for block in blocks:
            tally.add(block)
        if passed:
            tally.pass_by(passed)

    sha256 = hashlib.sha256(b"".join(blocks) + passed).hexdigest()
    assert hashed.counted(sha256) == ours.counted()
    assert ours.counted().sha256 == sha256


def test_only_what_stands_before_stop_is_counted():
    tally = Tally()
    tally.add(b"a\nb\xff", 3)

    assert tally.counted() == counted(b"a\nb")


@pytest.mark.parametrize("size", [BESIDE_BYTES - 1, BESIDE_BYTES, 3 * BESIDE_BYTES + 5])
def test_a_large_block_is_hashed_the_same_beside(size):
    block = b"0123456789\n" * (size // 11 + 1)

    assert counted(block[:size]).sha256 == hashlib.sha256(block[:size]).hexdigest()
    aligned = size - size % CHUNK_BYTES
    assert counted(block[:aligned], block[aligned:size]) == counted(block[:size])


@pytest.mark.parametrize(
    ("blocks", "clean"),
    [
        ((b"plain",), True),
        (("é€😀".encode(),), True),
        ((b"nul\0",), False),
        ((b"\xff\xfe",), False),
        (("€".encode()[:2],), False),
        (("\ud800".encode("utf-8", "surrogatepass"),), False),
        ((b"x" * (CHUNK_BYTES - 1) + "€".encode(),), True),
        ((b"x" * (CHUNK_BYTES - 1) + b"\xe2", b"\x82\xac"), True),
        ((b"x" * (CHUNK_BYTES - 1) + b"\xe2", b"plain"), False),
    ],
)
def test_clean_is_valid_utf8_without_nul_across_chunks_too(blocks, clean):
    assert counted(*blocks).clean is clean


@given(st.binary(max_size=50))
def test_clean_agrees_with_decoding(content):
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"

    assert counted(content).clean is ("\0" not in text)


@pytest.mark.parametrize("known", [True, False])
def test_what_the_caller_knows_is_believed(known):
    assert counted(b"\xff", clean=known).clean is known
    assert counted(b"plain", clean=known).clean is known


def test_checksums_hold_for_any_run_of_chunks_and_not_for_other_bytes():
    content = bytes(range(256)) * 10
    sums = b"".join(xxhash.xxh3_64_digest(content[i : i + 100]) for i in range(0, 2_560, 100))

    assert chunks_hold(content, 0, sums, 100)
    assert chunks_hold(content[300:500], 3, sums, 100)
    assert chunks_hold(content[2_500:], 25, sums, 100)
    assert chunks_hold(b"", 99, sums, 100)
    assert not chunks_hold(content[300:500], 2, sums, 100)
    assert not chunks_hold(content[300:499], 3, sums, 100)
    assert not chunks_hold(b"\0" * 100, 0, sums, 100)
    assert not chunks_hold(content + b"more", 0, sums, 100)
