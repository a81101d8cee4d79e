import os
from pathlib import Path

import pytest

from headgate.errors import StoreError
from headgate.retention import Retention
from headgate.spill.compress import compress
from headgate.spill.local import LocalStore
from tests.spill.housing import HOUR, Clock, counted, on_disk
from tests.spill.keeping import keep, session_path

NOW = Retention(age_s=None, live_s=0, free_bytes=None)
"""Nothing is live for long."""

LOG = b"".join(
    b"2026-11-15 10:00:%02d INFO step %d of the build\n" % (i % 60, i) for i in range(9_000)
)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    return LocalStore(tmp_path / "state", "s", retention=NOW, clock=clock)


def again(store: LocalStore) -> LocalStore:
    return LocalStore(store.state, store.session)


@pytest.mark.proves("K10", "P1")
def test_what_no_live_history_refers_to_is_compressed_and_reads_back_the_same(store, clock):
    about = keep(store, LOG)
    clock.now_ns += HOUR

    [done] = compress(store.house, NOW)

    assert (done.session, done.ref, done.before_bytes) == ("s", about.ref, len(LOG))
    assert done.after_bytes < len(LOG) / 3
    assert counted(store) == (done.after_bytes, 1)
    assert on_disk(store.state) == done.after_bytes
    for reader in (store, again(store)):
        assert reader.read(about.ref, 0, 1 << 30) == LOG
        assert reader.read(about.ref, 300_000, 300_050) == LOG[300_000:300_050]
        assert reader.about(about.ref).file is None
        assert reader.about(about.ref).chunk_lines == about.chunk_lines
    assert not Path(about.file).exists()
    assert list(compress(store.house, NOW)) == []


@pytest.mark.proves("K10")
def test_what_is_live_or_new_or_small_or_noise_stays_as_it_is(store, clock):
    live = keep(store, LOG + b"live").ref
    keep(store, b"small\n" * 9)
    keep(store, os.urandom(50_000))
    clock.now_ns += HOUR
    store.refer([b"link"], frozenset({live}))
    keep(store, LOG + b"new")
    before = on_disk(store.state)

    assert list(compress(store.house, Retention(age_s=None, live_s=60))) == []
    assert on_disk(store.state) == before


@pytest.mark.proves("K10", "K8")
def test_content_that_comes_again_is_there_as_it_came(store, clock, tmp_path):
    ref = keep(store, LOG).ref
    clock.now_ns += HOUR
    list(compress(store.house, NOW))

    about = keep(store, LOG, call_id="again")

    assert about.ref == ref
    assert Path(about.file).read_bytes() == LOG
    names = [path.name for path in (session_path(tmp_path / "state", "s") / "objects").iterdir()]
    assert names == [ref]
    assert counted(store) == (len(LOG), 1)


@pytest.mark.proves("P9", "K10")
def test_it_is_found_without_the_index(store, clock, tmp_path):
    ref = keep(store, LOG).ref
    clock.now_ns += HOUR
    list(compress(store.house, NOW))
    (session_path(tmp_path / "state", "s") / "index").unlink()

    assert again(store).read(ref, 0, 1 << 30) == LOG
    assert [about.length for about in again(store).all()] == [len(LOG)]


@pytest.mark.proves("K4", "K10")
def test_it_keeps_its_age_and_goes_when_it_is_too_old(store, clock):
    ref = keep(store, LOG).ref
    objects = session_path(store.state, "s") / "objects"
    written_ns = (objects / ref).stat().st_mtime_ns
    clock.now_ns += 30 * HOUR
    list(compress(store.house, NOW))
    assert (objects / f"{ref}.z").stat().st_mtime_ns == written_ns

    swept = store.house.sweep(Retention(age_s=29 * 3_600, live_s=0, free_bytes=None))

    assert [one.ref for one in swept.removed] == [ref]
    assert (on_disk(store.state), counted(store)) == (0, (0, 0))


@pytest.mark.proves("K10")
@pytest.mark.parametrize("at", [0, 20, 40, 60, -3])
def test_damage_is_told_and_never_returned(store, clock, tmp_path, at):
    ref = keep(store, LOG).ref
    clock.now_ns += HOUR
    list(compress(store.house, NOW))
    path = session_path(tmp_path / "state", "s") / "objects" / f"{ref}.z"
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)

    with pytest.raises(StoreError, match="is damaged"):
        again(store).read(ref, 0, 1 << 30)


@pytest.mark.proves("K10", "P15")
def test_where_the_quota_has_no_room_for_both_nothing_is_compressed(store, clock):
    keep(store, LOG)
    clock.now_ns += HOUR
    tight = Retention(age_s=None, live_s=0, session_bytes=len(LOG) + 10, free_bytes=None)

    assert list(compress(store.house, tight)) == []
    assert counted(store) == (len(LOG), 1)


@pytest.mark.proves("P10", "K10")
def test_a_kill_in_between_leaves_both_and_the_next_run_finishes(store, clock, tmp_path):
    ref = keep(store, LOG).ref
    clock.now_ns += HOUR
    list(compress(store.house, NOW))
    objects = session_path(tmp_path / "state", "s") / "objects"
    (objects / ref).write_bytes(LOG)
    (objects / ref).chmod(0o600)
    os.utime(objects / ref, ns=(clock.now_ns - 2 * HOUR,) * 2)

    assert again(store).read(ref, 0, 1 << 30) == LOG
    list(compress(store.house, NOW))

    assert [path.name for path in objects.iterdir()] == [f"{ref}.z"]
    assert again(store).read(ref, 0, 1 << 30) == LOG
