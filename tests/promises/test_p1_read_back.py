"""P1: every byte that was kept can be read back, whatever it was and however it came."""

import hashlib
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.refs import ref_of
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.key import installation_key
from headgate.spill.local import LocalStore
from headgate.spill.memory import MemoryStore
from headgate.types import Store

PIECES = st.lists(st.binary(max_size=400), max_size=12)
NEAR_CHUNKS = [
    0,
    1,
    CHUNK_BYTES - 1,
    CHUNK_BYTES,
    CHUNK_BYTES + 1,
    2 * CHUNK_BYTES,
    5 * CHUNK_BYTES + 3,
]


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


def kept(store: Store, state, pieces: list[bytes]) -> str:
    """Keep an original that comes in pieces, and answer with its ref."""
    sha256 = hashlib.sha256(b"".join(pieces)).hexdigest()
    ref = ref_of(installation_key(state), "s", sha256)
    writer = store.writer(call_id="c", tool="t")
    for piece in pieces:
        writer.write(piece)
    writer.commit(ref, sha256)
    return ref


@pytest.mark.proves("P1", "K9")
@given(pieces=PIECES, span=st.tuples(st.integers(-10, 5_000), st.integers(-10, 5_000)))
@settings(max_examples=settings.default.max_examples // 2)
def test_any_bytes_in_any_pieces_are_read_back_whole_and_in_part(state, pieces, span):
    content = b"".join(pieces)
    ref = kept(LocalStore(state, "s"), state, pieces)

    again = LocalStore(state, "s")
    about = again.about(ref)
    assert again.read(ref, 0, about.length) == content
    assert (about.length, about.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert again.read(ref, *span) == content[max(span[0], 0) : max(span[1], 0)]


@pytest.mark.proves("P1")
@pytest.mark.parametrize("length", NEAR_CHUNKS)
def test_originals_of_about_a_chunk_are_read_back_at_every_border(state, length):
    content = os.urandom(length)
    store = LocalStore(state, "s")
    ref = kept(store, state, [content[: length // 3], content[length // 3 :]])

    borders = [*range(0, length, CHUNK_BYTES), length]
    for border in borders:
        for start, stop in [(border - 2, border + 2), (0, border), (border, length)]:
            assert store.read(ref, start, stop) == content[max(start, 0) : max(stop, 0)]


@pytest.mark.proves("P1")
@given(content=st.binary(max_size=2_000))
@settings(max_examples=settings.default.max_examples // 2)
def test_lines_are_counted_as_they_stand(state, content):
    ref = kept(LocalStore(state, "s"), state, [content])
    about = LocalStore(state, "s").about(ref)

    assert about.lines == len(content.split(b"\n")) - (not content or content.endswith(b"\n"))
    assert sum(about.chunk_lines) == content.count(b"\n")


@pytest.mark.proves("P1")
@given(pieces=PIECES)
@settings(max_examples=settings.default.max_examples // 4)
def test_memory_gives_back_what_it_was_given(state, pieces):
    store = MemoryStore(1 << 20)
    ref = kept(store, state, pieces)

    assert store.read(ref, 0, 1 << 20) == b"".join(pieces)
