import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.retention import Retention
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.local import LocalStore
from headgate.spill.plain import COPY_BYTES
from headgate.spill.private import digest_name
from headgate.spill.usage import Counts
from headgate.spill.verify import verify
from headgate.types import About
from tests.spill.keeping import keep, session_path


def inode(path) -> int:
    return os.stat(path).st_ino


def text_of(path) -> str:
    return Path(path).read_text(encoding="utf-8")


def object_of(state, about: About):
    return session_path(state, "s") / "objects" / about.ref


@pytest.mark.proves("K2")
def test_the_plain_file_of_clean_text_is_the_original_itself(tmp_path):
    about = keep(LocalStore(tmp_path, "s"), "clean é text\n".encode())

    assert about.file == f"{tmp_path}/sessions/s/files/{about.ref}.txt"
    assert inode(about.file) == inode(object_of(tmp_path, about))


@pytest.mark.proves("K2")
@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"caf\xe9\n", "caf\\xe9\n"),
        (b"a\0b", "a\\x00b"),
        (b"\xff\xfe\x00x", "\\xff\\xfe\\x00x"),
        ("€".encode()[:2], "\\xe2\\x82"),
        (b"x" * (CHUNK_BYTES - 1) + "€\0".encode(), "x" * (CHUNK_BYTES - 1) + "€\\x00"),
    ],
)
def test_the_plain_file_of_other_bytes_is_a_copy_that_shows_them(tmp_path, content, shown):
    store = LocalStore(tmp_path, "s")
    about = keep(store, content)

    with open(about.file, encoding="utf-8", newline="") as file:
        assert file.read() == shown
    assert store.read(about.ref, 0, len(content)) == content
    assert os.listdir(session_path(tmp_path, "s") / "files") == [f"{about.ref}.txt"]


@given(st.binary(max_size=300))
@settings(max_examples=50)
@pytest.mark.proves("K2")
def test_every_plain_file_is_valid_text_without_nul(tmp_path_factory, content):
    about = keep(LocalStore(tmp_path_factory.mktemp("state"), "s"), content)

    with open(about.file, "rb") as file:
        text = file.read().decode()
    assert text == content.decode(errors="backslashreplace").replace("\0", "\\x00")


def test_what_is_large_and_no_text_has_no_plain_file(tmp_path):
    store = LocalStore(tmp_path, "s")

    about = keep(store, b"\xff" * (COPY_BYTES + 1))

    assert about.file is None
    assert store.about(about.ref).file is None
    assert os.listdir(session_path(tmp_path, "s") / "files") == []


@pytest.mark.proves("K2")
@pytest.mark.parametrize("call_id", ["toolu_01A", "a", "-", "x" * 64])
def test_a_safe_call_id_names_the_file(tmp_path, call_id):
    store = LocalStore(tmp_path, "s", name_by="call")
    about = keep(store, b"text", call_id=call_id)

    assert about.file == f"{tmp_path}/sessions/s/files/{call_id}.txt"
    assert inode(about.file) == inode(object_of(tmp_path, about))


@pytest.mark.proves("K2")
@pytest.mark.parametrize(
    "call_id",
    ["", "x" * 65, "x" * 300, "a.b", "a/b", "../../etc/cron.d/x", "é", "a b", "a\n", "\ud800"],
)
def test_any_other_call_id_is_named_by_its_digest(tmp_path, call_id):
    store = LocalStore(tmp_path, "s", name_by="call")
    about = keep(store, b"text", call_id=call_id)

    assert about.file == f"{tmp_path}/sessions/s/files/{digest_name(call_id)}.txt"
    assert about.file == store.path_for(about.ref, call_id)


def test_a_call_id_that_looks_like_a_ref_does_not_take_its_name(tmp_path):
    store = LocalStore(tmp_path, "s", name_by="call")

    about = keep(store, b"text", call_id="r_aaaaaaaaaaaa")

    assert about.file == f"{tmp_path}/sessions/s/files/{digest_name('r_aaaaaaaaaaaa')}.txt"


def test_a_call_id_that_comes_back_with_other_content_is_named_by_ref(tmp_path):
    store = LocalStore(tmp_path, "s", name_by="call")
    first = keep(store, b"first", call_id="c1")
    second = keep(store, b"second", call_id="c1")

    assert first.file == f"{tmp_path}/sessions/s/files/c1.txt"
    assert second.file == f"{tmp_path}/sessions/s/files/{second.ref}.txt"
    assert [text_of(about.file) for about in (first, second)] == ["first", "second"]


def test_the_same_content_of_two_calls_has_two_names_and_one_file(tmp_path):
    store = LocalStore(tmp_path, "s", name_by="call")
    first = keep(store, b"same", call_id="c1")
    second = keep(store, b"same", call_id="c2")

    assert second.file == f"{tmp_path}/sessions/s/files/c2.txt"
    assert keep(store, b"same", call_id="c2") == second
    assert inode(first.file) == inode(second.file) == inode(object_of(tmp_path, first))


def test_the_path_is_known_before_it_is_written(tmp_path):
    store = LocalStore(tmp_path, "s", name_by="call")
    ahead = store.path_for("r_aaaaaaaaaaaa", "c1")
    about = keep(store, b"text", call_id="c1")

    assert ahead == about.file == store.path_for(about.ref, "c1")
    assert store.path_for("r_bbbbbbbbbbbb", "c1") == (
        f"{tmp_path}/sessions/s/files/r_bbbbbbbbbbbb.txt"
    )
    by_ref = LocalStore(tmp_path, "s")
    assert by_ref.path_for("r_bbbbbbbbbbbb", "c1") == (
        f"{tmp_path}/sessions/s/files/r_bbbbbbbbbbbb.txt"
    )


def test_the_path_of_a_call_is_known_to_another_process_too(tmp_path):
    about = keep(LocalStore(tmp_path, "s", name_by="call"), b"text", call_id="c1")

    assert LocalStore(tmp_path, "s", name_by="call").path_for(about.ref, "c1") == about.file


@pytest.mark.proves("P8")
def test_the_path_is_told_although_the_index_cannot_be_read(tmp_path):
    about = keep(LocalStore(tmp_path, "s", name_by="call"), b"text", call_id="c1")
    (session_path(tmp_path, "s") / "index").write_bytes(b"headgate-log-99\n")

    ahead = LocalStore(tmp_path, "s", name_by="call").path_for(about.ref, "c1")
    assert ahead == f"{tmp_path}/sessions/s/files/{about.ref}.txt"


@pytest.mark.proves("K2")
def test_the_files_can_lie_in_a_workspace(tmp_path):
    workspace = tmp_path / "work" / ".headgate"
    store = LocalStore(tmp_path / "state", "s", files_dir=workspace)
    about = keep(store, b"text")

    assert about.file == f"{workspace}/{about.ref}.txt"
    assert LocalStore(tmp_path / "state", "s").about(about.ref).file == about.file
    assert not (session_path(tmp_path / "state", "s") / "files").exists()


def test_a_state_folder_that_was_moved_finds_its_files(tmp_path):
    about = keep(LocalStore(tmp_path / "state", "s"), b"text")
    (tmp_path / "state").rename(tmp_path / "moved")

    moved = LocalStore(tmp_path / "moved", "s").about(about.ref)
    assert moved.file == f"{tmp_path}/moved/sessions/s/files/{about.ref}.txt"


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EMLINK, errno.EPERM])
def test_where_there_can_be_no_link_there_is_a_copy(tmp_path, monkeypatch, number):
    link = os.link

    def across_devices(source, target, **options) -> None:
        if not source.startswith(".tmp-"):
            raise OSError(number, os.strerror(number))
        link(source, target, **options)

    monkeypatch.setattr(os, "link", across_devices)
    store = LocalStore(tmp_path / "state", "s", files_dir=tmp_path / "work")
    about = keep(store, b"text")

    assert text_of(about.file) == "text"
    assert inode(about.file) != inode(object_of(tmp_path / "state", about))
    assert os.listdir(tmp_path / "work") == [f"{about.ref}.txt"]
    assert keep(store, b"text", call_id="c2").file == about.file


@pytest.mark.proves("K2")
def test_a_file_of_the_users_that_has_the_name_of_a_call_is_left_alone(tmp_path):
    (tmp_path / "work").mkdir(mode=0o700)
    (tmp_path / "work" / "c1.txt").write_text("mine")
    store = LocalStore(tmp_path / "state", "s", files_dir=tmp_path / "work", name_by="call")
    ahead = store.path_for("r_aaaaaaaaaaaa", "c1")
    about = keep(store, b"text", call_id="c1")

    assert ahead == f"{tmp_path}/work/r_aaaaaaaaaaaa.txt"
    assert about.file == f"{tmp_path}/work/{about.ref}.txt"
    assert (tmp_path / "work" / "c1.txt").read_text() == "mine"


@pytest.mark.proves("K2", "P21")
@pytest.mark.parametrize("kind", ["symlink", "pipe", "folder"])
def test_nothing_is_written_through_what_stands_at_a_calls_name(tmp_path, kind):
    (tmp_path / "work").mkdir(mode=0o700)
    (tmp_path / "precious").write_text("precious")
    name = tmp_path / "work" / "c1.txt"
    {
        "symlink": lambda: name.symlink_to(tmp_path / "precious"),
        "pipe": lambda: os.mkfifo(name),
        "folder": name.mkdir,
    }[kind]()
    store = LocalStore(tmp_path / "state", "s", files_dir=tmp_path / "work", name_by="call")

    about = keep(store, b"text", call_id="c1")

    assert about.file == f"{tmp_path}/work/{about.ref}.txt"
    assert (tmp_path / "precious").read_text() == "precious"


def test_a_plain_file_that_was_written_over_is_put_back(tmp_path):
    store = LocalStore(tmp_path, "s")
    about = keep(store, b"text")
    os.unlink(about.file)
    with open(about.file, "w") as file:
        file.write("something else")

    again = keep(store, b"text", call_id="c2")

    assert again.file == about.file
    assert text_of(about.file) == "text"


def test_what_a_kill_left_unlisted_is_named_by_its_ref(tmp_path):
    first, second = (
        keep(LocalStore(tmp_path, "s", name_by="call"), content, call_id=content.decode())
        for content in (b"c1", b"c2")
    )
    (session_path(tmp_path, "s") / "index").unlink()

    store = LocalStore(tmp_path, "s", name_by="call")

    for about in (first, second):
        assert store.about(about.ref).file == f"{tmp_path}/sessions/s/files/{about.ref}.txt"


@pytest.mark.proves("P8")
def test_an_original_is_kept_where_its_plain_file_cannot_be(tmp_path):
    (tmp_path / "work").write_text("a file, not a folder")
    store = LocalStore(tmp_path / "state", "s", files_dir=tmp_path / "work")

    about = keep(store, b"text")

    assert about.file is None
    assert store.read(about.ref, 0, 9) == b"text"


def test_a_deleted_files_folder_is_made_again(tmp_path):
    store = LocalStore(tmp_path / "state", "s", files_dir=tmp_path / "work")
    os.unlink(keep(store, b"first").file)
    (tmp_path / "work").rmdir()

    assert text_of(keep(store, b"second").file) == "second"


def test_a_copy_that_a_kill_left_unfinished_is_removed(tmp_path):
    keep(LocalStore(tmp_path, "s"), b"clean")
    files = session_path(tmp_path, "s") / "files"
    (files / ".tmp-left").write_bytes(b"unfinished")

    keep(LocalStore(tmp_path, "s"), b"\xff")

    assert not (files / ".tmp-left").exists()


@pytest.mark.parametrize("name_by", ["ref", "call"])
@pytest.mark.proves("K8", "P15")
def test_a_copy_that_is_there_already_is_not_counted_again(tmp_path, name_by):
    store = LocalStore(tmp_path, "s", name_by=name_by)
    content = b"\xff" * 1_000
    keep(store, content, call_id="call_1")
    counts = store.shelf.usage.read()

    keep(store, content, call_id="call_1", tool="cat")
    keep(LocalStore(tmp_path, "s", name_by=name_by), content, call_id="call_1", tool="less")

    assert counts == Counts(5_000, 1, counts.swept_ns)
    assert store.shelf.usage.read() == counts
    assert list(verify(store.house, fix=False)) == []


@pytest.mark.proves("P15")
def test_a_copy_that_has_no_room_is_not_counted(tmp_path):
    content = b"\xff" * (2 * CHUNK_BYTES)
    retention = Retention(session_bytes=len(content) + 5 * CHUNK_BYTES)
    store = LocalStore(tmp_path, "s", retention=retention)

    about = keep(store, content)

    assert about.file is None
    counts = store.shelf.usage.read()
    assert (counts.bytes, counts.count) == (len(content), 1)
