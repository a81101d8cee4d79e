import os

import pytest

from headgate.errors import RefGone
from headgate.retention import Retention
from headgate.spill.house import House
from headgate.spill.local import LocalStore
from headgate.spill.verify import Fault, verify
from tests.spill.housing import HOUR, Clock, text
from tests.spill.keeping import keep, session_path


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    return LocalStore(tmp_path / "state", "s", clock=clock)


@pytest.fixture
def look(store, clock):
    """Looks at everything as the command does, an hour later."""

    def looked(*, fix: bool = False) -> list[Fault]:
        clock.now_ns += HOUR
        return list(verify(House(store.state, clock), fix=fix))

    return looked


def files(store: LocalStore, folder: str = "objects"):
    return session_path(store.state, "s") / folder


@pytest.mark.proves("C-store")
def test_where_all_is_well_nothing_is_found_and_nothing_changed(store, look):
    for i in range(3):
        keep(store, text(i), call_id=f"c{i}")
    keep(store, b"\xff no text")
    before = sorted(path.stat().st_mtime_ns for path in store.state.rglob("*"))

    assert look() == []
    assert look(fix=True) == []
    assert sorted(path.stat().st_mtime_ns for path in store.state.rglob("*")) == before


@pytest.mark.proves("C-store", "K4")
def test_an_original_of_which_a_part_is_kept_is_well_until_it_changes(tmp_path, clock, look):
    retention = Retention(result_bytes=100, age_s=None, free_bytes=None)
    frugal = LocalStore(tmp_path / "state", "s", clock=clock, retention=retention)
    about = keep(frugal, text(1, 500))
    assert (about.length, about.full_length) == (100, 500)
    assert look() == []

    (files(frugal) / about.ref).write_bytes(b"x" * 100)

    assert [(fault.what, fault.where) for fault in look()] == [("damaged", about.ref)]


def test_where_there_is_nothing_nothing_is_found_or_made(tmp_path):
    assert list(verify(House(tmp_path / "none"), fix=True)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proves("C-store", "P9")
def test_a_damaged_original_is_set_aside_and_has_a_tombstone(store, look):
    ref = keep(store, text(0)).ref
    content = bytearray(text(0))
    content[50] ^= 1
    (files(store) / ref).write_bytes(content)

    assert look() == [Fault("s", "damaged", ref, "its bytes are not what was written")]
    [fault] = look(fix=True)
    assert fault.fixed == "set aside, and told to its session"
    assert (files(store, "damaged") / ref).read_bytes() == content
    with pytest.raises(RefGone, match="because its file was damaged"):
        store.about(ref)
    assert look() == []


@pytest.mark.proves("C-store", "P9")
def test_a_missing_original_gets_a_tombstone(store, look):
    ref = keep(store, text(0)).ref
    (files(store) / ref).unlink()

    [counts, fault] = look(fix=True)

    assert fault == Fault("s", "missing", ref, "its file is no longer there", "told to its session")
    assert counts.what == "counts"
    assert look() == []
    with pytest.raises(RefGone, match="because its file is no longer there"):
        LocalStore(store.state, "s").about(ref)


@pytest.mark.proves("C-store", "P10")
def test_an_object_without_its_line_is_listed(store, look):
    ref = keep(store, text(0)).ref
    (files(store, "index")).unlink()

    assert [(fault.what, fault.where) for fault in look() if fault.where == ref] == [
        ("unlisted", ref)
    ]
    look(fix=True)

    assert look() == []
    assert [about.ref for about in LocalStore(store.state, "s").all()] == [ref]


@pytest.mark.proves("C-store")
def test_an_object_that_is_not_what_its_name_says_is_set_aside(store, look):
    keep(store, text(0))
    (files(store) / "r_aaaaaaaaaaaa").write_bytes(b"foreign")
    (files(store) / "r_aaaaaaaaaaaa").chmod(0o600)
    os.utime(files(store) / "r_aaaaaaaaaaaa", ns=(0, 0))

    fault = next(fault for fault in look(fix=True) if fault.what == "damaged")

    assert "its content is not what the ref stands for" in fault.found
    assert (files(store, "damaged") / "r_aaaaaaaaaaaa").exists()


@pytest.mark.proves("C-store", "P10")
def test_what_killed_processes_left_is_removed_and_what_is_in_use_stays(store, look):
    keep(store, text(0))
    (files(store, "tmp") / ".tmp-left").touch(mode=0o600)
    busy = store.writer(call_id="c", tool="t")
    busy.write(b"x" * 300_000)

    assert look() == [Fault("s", "unfinished", "tmp/.tmp-left", "a killed process left it")]
    assert [fault.fixed for fault in look(fix=True)] == ["removed"]
    assert len(list(files(store, "tmp").iterdir())) == 1
    busy.abort()
    assert look() == []


@pytest.mark.proves("C-store", "P21")
def test_what_others_have_rights_on_is_made_private(store, look):
    ref = keep(store, text(0)).ref
    (files(store) / ref).chmod(0o644)
    files(store, "files").chmod(0o755)

    assert [(fault.where, fault.found) for fault in look()] == [
        ("sessions/s/files", "has mode 0755: others have rights on it"),
        (f"sessions/s/files/{ref}.txt", "has mode 0644: others have rights on it"),
        (f"sessions/s/objects/{ref}", "has mode 0644: others have rights on it"),
    ]
    look(fix=True)
    assert look() == []
    assert (files(store) / ref).stat().st_mode & 0o777 == 0o600


@pytest.mark.proves("C-store")
def test_a_link_and_a_strange_file_are_told_and_left_alone(store, look, tmp_path):
    keep(store, text(0))
    (files(store) / "notes").touch(mode=0o600)
    (files(store) / "link").symlink_to(tmp_path)

    found = {(fault.what, fault.where, fault.fixed) for fault in look(fix=True)}

    assert ("foreign", "objects/notes", "") in found
    assert ("foreign", "sessions/s/objects/link", "") in found
    assert (files(store) / "notes").exists()


@pytest.mark.proves("C-store", "P12")
def test_a_torn_journal_is_told_and_cut_back(store, look):
    keep(store, text(0))
    with files(store, "index").open("ab") as file:
        file.write(b"torn")

    fault = look(fix=True)[0]

    assert fault == Fault(
        "s",
        "journal",
        "index",
        "4 bytes at its end belong to no whole record",
        "they stand beside it now",
    )
    assert look() == []


@pytest.mark.proves("C-store")
def test_a_plain_file_that_belongs_to_nothing_is_removed(store, look):
    about = keep(store, text(0))
    (files(store, "files") / "other.txt").touch(mode=0o600)

    assert [fault.where for fault in look(fix=True)] == ["files/other.txt"]
    assert os.listdir(files(store, "files")) == [os.path.basename(about.file)]


@pytest.mark.proves("C-store", "P15")
def test_counts_that_are_wrong_are_told_and_made_right(store, look, clock):
    keep(store, text(0))
    with store.house.usage.locked() as books:
        books.set_total(books.total().plus(1_000, 3))

    [fault] = look(fix=True)

    assert (fault.session, fault.what, fault.fixed) == ("", "counts", "counted again")
    assert fault.found == "1,100 bytes in 4 originals are counted, and 100 in 1 are there"
    assert look() == []


def test_one_session_alone_can_be_looked_at(store, clock):
    keep(store, text(0))
    other = LocalStore(store.state, "other", clock=clock)
    ref = keep(other, text(1)).ref
    (session_path(store.state, "other") / "objects" / ref).unlink()

    sessions = [
        fault.session for fault in verify(House(store.state, clock), fix=False, session="s")
    ]

    assert "other" not in sessions
