import errno
import fcntl
import os
import stat

import pytest

from headgate.disk import (
    Folder,
    OpenFolder,
    Temp,
    clean_temps,
    create_once,
    read_range,
    store_error,
)
from headgate.errors import StoreError


def mode(path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.mark.proves("K2", "P21")
def test_a_folder_is_made_with_its_parents_and_private(tmp_path):
    Folder(tmp_path / "a" / "b").sub("c", "the third").make()

    assert [mode(tmp_path / p) for p in ("a", "a/b", "a/b/c")] == [0o700, 0o700, 0o700]


def test_opening_a_folder_that_is_not_there_makes_nothing(tmp_path):
    assert Folder(tmp_path / "a").sub("b", "the second").open() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proves("K2")
def test_a_symlink_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "state").symlink_to("elsewhere")

    with pytest.raises(StoreError) as caught:
        Folder(tmp_path / "state", "the state folder").make()

    assert str(caught.value) == (
        f"the state folder {tmp_path}/state: "
        "a symlink or a file stands where a folder should be; remove it"
    )


@pytest.mark.proves("K2")
def test_a_symlink_further_down_is_refused_too(tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "state" / "sessions").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError, match="a symlink or a file stands where a folder should be"):
        Folder(tmp_path / "state").sub("sessions", "the sessions folder").sub("s", "it").make()

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_in_place_of_a_folder_is_refused(tmp_path):
    (tmp_path / "state").write_text("")

    with pytest.raises(StoreError, match="a symlink or a file stands where a folder should be"):
        Folder(tmp_path / "state").make()


@pytest.mark.proves("K2")
@pytest.mark.parametrize("loose", [0o770, 0o707, 0o777, 0o720, 0o702])
def test_a_folder_that_others_may_write_in_is_refused(tmp_path, loose):
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(loose)

    with pytest.raises(StoreError) as caught:
        Folder(tmp_path / "state", "the state folder").make()

    assert str(caught.value) == (
        f"the state folder {tmp_path}/state has mode {loose:04o}: others may write in it; "
        "look at what is inside, then run chmod 700 on it"
    )


def test_a_folder_that_others_may_only_read_is_taken(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o755)

    assert Folder(tmp_path / "state").make().fd >= 0


def test_a_folder_is_found_again_after_it_was_deleted(tmp_path):
    folder = Folder(tmp_path / "a").sub("b", "the second")
    folder.make()
    (tmp_path / "a" / "b").rmdir()
    (tmp_path / "a").rmdir()

    assert folder.gone
    folder.forget()
    folder.make()

    assert not folder.gone
    assert (tmp_path / "a" / "b").is_dir()


def test_a_folder_that_another_process_made_anew_is_found(tmp_path):
    outer = Folder(tmp_path / "a")
    outer.make()
    (tmp_path / "a").rmdir()
    (tmp_path / "a" / "b").mkdir(parents=True, mode=0o700)

    assert outer.sub("b", "the second").open() is not None


def test_a_folder_closes_when_nobody_uses_it(tmp_path):
    fd = Folder(tmp_path).make().fd

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


@pytest.fixture
def opened(tmp_path) -> OpenFolder:
    return Folder(tmp_path).make()


def test_what_a_killed_process_left_is_removed_and_what_is_written_stays(tmp_path, opened):
    left, used = Temp(opened), Temp(opened)
    os.close(left.fd)

    clean_temps(opened)

    assert os.listdir(tmp_path) == [used.name]
    used.discard()
    assert os.listdir(tmp_path) == []


def test_cleaning_up_follows_no_symlink_and_waits_for_no_pipe(tmp_path, opened):
    (tmp_path / "precious").write_text("x")
    (tmp_path / ".tmp-link").symlink_to("precious")
    os.mkfifo(tmp_path / ".tmp-pipe")

    clean_temps(opened)

    assert (tmp_path / "precious").read_text() == "x"


def test_a_temporary_file_that_is_taken_for_a_leftover_is_made_anew(tmp_path, opened, monkeypatch):
    flock, first = fcntl.flock, []

    def unlinked_before_the_lock(fd: int, operation: int) -> None:
        if not first:
            first.append(fd)
            os.unlink(os.readlink(f"/proc/self/fd/{fd}"))
        flock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", unlinked_before_the_lock)
    temp = Temp(opened)

    assert os.listdir(tmp_path) == [temp.name]
    temp.discard()


def test_the_first_to_create_a_file_wins(tmp_path, opened):
    assert create_once(opened, "key", b"first", durable=True)
    assert not create_once(opened, "key", b"second", durable=True)

    assert (tmp_path / "key").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["key"]
    assert mode(tmp_path / "key") == 0o600


def test_a_file_is_created_once_on_a_disk_without_hard_links(tmp_path, opened, monkeypatch):
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)

    assert create_once(opened, "key", b"first", durable=False)
    assert not create_once(opened, "key", b"second", durable=False)
    assert (tmp_path / "key").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["key"]


def test_nothing_is_created_through_a_symlink(tmp_path, opened):
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")

    assert not create_once(opened, "key", b"mine", durable=False)
    assert not (tmp_path / "elsewhere").exists()


def test_a_range_is_read_up_to_the_end_of_the_file(tmp_path):
    (tmp_path / "f").write_bytes(b"0123456789")
    fd = os.open(tmp_path / "f", os.O_RDONLY)

    assert [read_range(fd, *r) for r in ((0, 4), (8, 99), (12, 14), (5, 5))] == [
        b"0123",
        b"89",
        b"",
        b"",
    ]
    os.close(fd)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "no space left on this disk; free some"),
        (errno.EDQUOT, "the disk quota is used up; free some space"),
        (errno.EFBIG, "over the file-size limit of this process; raise it (ulimit -f)"),
        (errno.EACCES, "permission denied; check its owner and mode"),
        (errno.EROFS, "the file system is read-only"),
        (errno.ENOENT, "it is gone; the state folder was deleted or moved"),
        (errno.EIO, "input/output error"),
    ],
)
@pytest.mark.proves("K5")
def test_an_error_names_the_path_its_role_and_the_reason(tmp_path, number, reason):
    error = store_error("the ledger", f"{tmp_path}/ledger", OSError(number, os.strerror(number)))

    assert str(error) == f"the ledger {tmp_path}/ledger: {reason}"


@pytest.mark.proves("K2")
def test_a_folder_of_somebody_else_is_refused(tmp_path):
    other, owner = tmp_path / "state", 65_534
    other.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(other, owner, -1)
    else:
        other, owner = tmp_path.joinpath("/usr"), 0

    with pytest.raises(StoreError) as caught:
        Folder(other, "the state folder").make()

    assert str(caught.value) == (
        f"the state folder {other} belongs to user {owner}, not to {os.geteuid()}; "
        "use another folder"
    )
