import hashlib

import pytest

from headgate.errors import RefNotFound, StoreError
from headgate.spill.memory import MemoryStore
from headgate.types import About


def keep(store: MemoryStore, ref: str, content: bytes, *, tool: str = "grep") -> About:
    writer = store.writer(call_id="c1", tool=tool)
    writer.write(memoryview(content))
    return writer.commit(ref, hashlib.sha256(content).hexdigest())


def store_of(limit_bytes: int) -> MemoryStore:
    return MemoryStore(limit_bytes, clock=lambda: 7)


@pytest.mark.proves("K5")
def test_an_original_in_memory_is_read_back(tmp_path):
    store = store_of(100)
    about = keep(store, "r_aaaaaaaaaaaa", b"one\ntwo")

    assert about == About(
        ref="r_aaaaaaaaaaaa",
        sha256=hashlib.sha256(b"one\ntwo").hexdigest(),
        length=7,
        lines=2,
        call_id="c1",
        tool="grep",
        time_ns=7,
        chunk_bytes=262_144,
        chunk_lines=(1,),
        file=None,
    )
    assert store.about("r_aaaaaaaaaaaa") == about
    ranges = [(0, 3), (4, 99), (9, 99), (-3, 2), (2, -1)]
    assert [store.read("r_aaaaaaaaaaaa", *r) for r in ranges] == [b"one", b"two", b"", b"on", b""]
    assert store.path_for("r_aaaaaaaaaaaa", "c1") is None


@pytest.mark.proves("K5")
def test_the_oldest_make_room(tmp_path):
    store = store_of(10)
    for letter in "abc":
        keep(store, f"r_{letter * 12}", letter.encode() * 4)

    with pytest.raises(RefNotFound) as caught:
        store.read("r_aaaaaaaaaaaa", 0, 4)
    assert str(caught.value) == ("no result 'r_aaaaaaaaaaaa' in this session; it may have expired")
    assert [about.ref[2] for about in store.all()] == ["b", "c"]


@pytest.mark.proves("K5")
def test_all_of_the_bound_can_be_used():
    store = store_of(8)
    for letter in "ab":
        keep(store, f"r_{letter * 12}", letter.encode() * 4)

    assert [about.ref[2] for about in store.all()] == ["a", "b"]


@pytest.mark.proves("K9")
def test_what_is_larger_than_the_bound_is_refused_while_it_comes(tmp_path):
    store = store_of(10)
    keep(store, "r_aaaaaaaaaaaa", b"small")
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x" * 10)

    with pytest.raises(StoreError, match="more than the 10 bytes that may be kept in memory"):
        writer.write(b"x")

    with pytest.raises(ValueError, match="this writer has ended"):
        writer.commit("r_bbbbbbbbbbbb", "")
    assert [about.ref for about in store.all()] == ["r_aaaaaaaaaaaa"]


def test_the_same_ref_again_changes_nothing(tmp_path):
    store = store_of(10)
    first = keep(store, "r_aaaaaaaaaaaa", b"12345678")

    assert keep(store, "r_aaaaaaaaaaaa", b"12345678") == first
    assert len(store.all()) == 1


def test_other_bytes_than_promised_are_not_kept(tmp_path):
    store = store_of(10)
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x")

    with pytest.raises(StoreError, match="the bytes have sha256"):
        writer.commit("r_aaaaaaaaaaaa", "00" * 32)
    assert store.all() == []


def test_who_has_hashed_the_bytes_is_believed(tmp_path):
    store = store_of(10)
    writer = store.writer(call_id="c", tool="t", hashed=True)
    writer.write(b"x")

    assert writer.commit("r_aaaaaaaaaaaa", "AB" * 32).sha256 == "ab" * 32


def test_an_aborted_original_is_forgotten(tmp_path):
    store = store_of(10)
    writer = store.writer(call_id="c", tool="t")
    writer.write(b"x")
    writer.abort()
    writer.abort()

    assert store.all() == []
