import gzip
import sys
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.gateway.inflate import PIECE_BYTES, CannotInflate, inflated, inflating

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKED = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": zstd.compress,
    "identity": lambda data: data,
    "": lambda data: data,
}
TEXT = b'{"messages": [' + b"caf\xc3\xa9 " * 1_000 + b"]}"


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_comes_back_as_it_was(encoding):
    assert inflated(PACKED[encoding](TEXT), encoding, 100_000) == TEXT


@pytest.mark.parametrize("encoding", PACKED)
def test_a_body_comes_back_in_pieces_of_one_byte(encoding):
    undo = inflating(encoding)
    packed = PACKED[encoding](TEXT)
    pieces = [piece for byte in packed for piece in undo.feed(bytes([byte]))]

    assert b"".join(pieces) == TEXT
    assert undo.is_complete


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_cut_short_is_told(encoding):
    with pytest.raises(CannotInflate):
        inflated(PACKED[encoding](TEXT)[:-3], encoding, 100_000)
    with pytest.raises(CannotInflate):
        inflated(b"", encoding, 100_000)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_in_another_encoding_is_told(encoding):
    with pytest.raises(CannotInflate):
        inflated(b"\xff\xfe no such thing at all, whoever reads it", encoding, 100_000)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_let_go_at_the_bound(encoding):
    bomb = PACKED[encoding](bytes(50_000_000))

    assert inflated(bomb, encoding, 1_000_000) is None


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_what_comes_out_at_once_is_bounded(encoding):
    bomb = PACKED[encoding](bytes(5_000_000))

    pieces = list(inflating(encoding).feed(bomb))

    assert b"".join(pieces) == bytes(5_000_000)
    assert max(map(len, pieces)) <= 2 * PIECE_BYTES


def test_gzip_of_two_members_is_one_body():
    assert inflated(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", 100) == b"one two"


def test_zstd_of_two_frames_is_one_body():
    assert inflated(zstd.compress(b"one ") + zstd.compress(b"two"), "zstd", 100) == b"one two"


def test_deflate_without_its_wrapper_is_read_too():
    bare = zlib.compressobj(wbits=-15)

    assert inflated(bare.compress(TEXT) + bare.flush(), "deflate", 100_000) == TEXT


def test_an_unknown_encoding_is_named():
    with pytest.raises(CannotInflate, match="'gzip, br' is not known"):
        inflating("gzip, br")


@given(st.binary(), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_garbage_is_refused_or_read_and_never_more(garbage, encoding):
    try:
        body = inflated(garbage, encoding, 10_000)
    except CannotInflate:
        return
    assert body is None or len(body) <= 10_000
