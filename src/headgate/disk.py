"""Private folders and files: ours alone under any umask, and never through a symlink.

Every folder below the first is opened relative to its parent, so that nobody can put a symlink
in between. Temporary files carry a lock for as long as somebody writes them: one that can be locked
is a leftover of a killed process.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from headgate.errors import StoreError
from headgate.locks import try_lock

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
OTHERS_WRITE: Final = 0o022

TEMP_PREFIX: Final = ".tmp-"

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
CREATE_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Non-blocking, because a pipe put in place of a file would hold its reader for ever."""

NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""What a file system answers that knows no hard links."""

REASONS: Final[Mapping[int, str]] = {
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EFBIG: "over the file-size limit of this process; raise it (ulimit -f)",
    errno.EACCES: "permission denied; check its owner and mode",
    errno.EPERM: "not permitted; check its owner and mode",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "it is gone; the state folder was deleted or moved",
    errno.ELOOP: "a symlink stands there; remove it",
    errno.ENOTDIR: "a symlink or a file stands where a folder should be; remove it",
}


def store_error(role: str, path: str, error: OSError) -> StoreError:
    """Say which path could not do its part, and why."""
    if error.errno == errno.ENOSPC:
        reason = f"no {_used_up(path)} left on this disk; free some"
    else:
        reason = REASONS.get(error.errno or 0) or (error.strerror or str(error)).lower()
    return StoreError(f"{role} {path}: {reason}")


def _used_up(path: str) -> str:
    try:
        room = os.statvfs(path if os.path.isdir(path) else os.path.dirname(path))
    except OSError:
        return "space"
    return "inodes" if room.f_files and not room.f_favail else "space"


@dataclass(frozen=True, slots=True)
class File:
    """A file of a private folder, there or not."""

    folder: Folder
    name: str

    @property
    def path(self) -> str:
        """The whole path, for people."""
        return f"{self.folder.path}/{self.name}"


class OpenFolder:
    """A folder held open; it closes itself when nobody uses it any more."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # Who dies together with it may still use it, when another file has the number already.
        fd, self.fd = self.fd, -1
        close(fd)


class Folder:
    """A private folder: made on demand, checked when opened, opened once.

    Whoever works in it keeps the `OpenFolder` in hand: another thread may forget it meanwhile.
    """

    __slots__ = ("_held", "_parent", "_synced", "path", "role")

    def __init__(
        self, path: str | os.PathLike[str], role: str = "the folder", parent: Folder | None = None
    ) -> None:
        self.path = os.path.abspath(path)
        self.role = role
        self._parent = parent
        self._held: OpenFolder | None = None
        self._synced = False

    def sub(self, name: str, role: str) -> Folder:
        """A folder inside this one."""
        return Folder(f"{self.path}/{name}", role, self)

    def __truediv__(self, name: str) -> File:
        return File(self, name)

    def open(self) -> OpenFolder | None:
        """The folder, or None where there is none; one that is not ours alone is a `StoreError`."""
        if self._held is None:
            self._held = self._opened()
        if self._held is None and self._parent is not None and self._parent.gone:
            self.forget()
            self._held = self._opened()
        return self._held

    @property
    def gone(self) -> bool:
        """Whether it was deleted since it was opened."""
        return self._held is not None and not os.fstat(self._held.fd).st_nlink

    def make(self) -> OpenFolder:
        """The folder, made with its parents where they are missing."""
        held = self._held or self.open()
        if held is not None:
            return held
        self.forget()
        try:
            self._make()
        except OSError as error:
            raise store_error(self.role, self.path, error) from error
        held = self.open()
        if held is None:
            raise StoreError(f"{self.role} {self.path}: {REASONS[errno.ENOENT]}")
        return held

    def forget(self) -> None:
        """Look again at the next use: the folder, or one above it, was deleted."""
        self._held = None
        self._synced = False
        if self._parent is not None:
            self._parent.forget()

    def sync(self) -> None:
        """Make what is in the folder survive a power cut; the first time, the folder itself too."""
        os.fsync(self.make().fd)
        if self._synced:
            return
        if self._parent is not None:
            self._parent.sync()
        else:
            _sync_path(os.path.dirname(self.path))
        self._synced = True

    def _opened(self) -> OpenFolder | None:
        parent = self._parent.open() if self._parent is not None else None
        if parent is None and self._parent is not None:
            return None
        try:
            if parent is None:
                held = OpenFolder(os.open(self.path, FOLDER_FLAGS))
            else:
                name = os.path.basename(self.path)
                held = OpenFolder(os.open(name, FOLDER_FLAGS, dir_fd=parent.fd))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_error(self.role, self.path, error) from error
        self._check(os.fstat(held.fd))
        return held

    def _make(self) -> None:
        if self._parent is not None:
            _make_folder(os.path.basename(self.path), self._parent.make())
            return
        missing = [self.path]
        while not os.path.isdir(os.path.dirname(missing[-1])):
            missing.append(os.path.dirname(missing[-1]))
        for path in reversed(missing):
            _make_folder(path)

    def _check(self, status: os.stat_result) -> None:
        if status.st_uid != os.geteuid():
            raise StoreError(
                f"{self.role} {self.path} belongs to user {status.st_uid}, not to {os.geteuid()}; "
                f"use another folder"
            )
        if status.st_mode & OTHERS_WRITE:
            raise StoreError(
                f"{self.role} {self.path} has mode {stat.S_IMODE(status.st_mode):04o}: others may "
                f"write in it; look at what is inside, then run chmod 700 on it"
            )


def _make_folder(name: str, parent: OpenFolder | None = None) -> None:
    dir_fd = parent.fd if parent else None
    try:
        os.mkdir(name, FOLDER_MODE, dir_fd=dir_fd)
    except FileExistsError:
        return
    made = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    # A umask can take the owner's own rights away.
    if stat.S_ISDIR(made.st_mode) and made.st_mode & 0o777 != FOLDER_MODE:
        os.chmod(name, FOLDER_MODE, dir_fd=dir_fd)


def _sync_path(path: str) -> None:
    with suppress(PermissionError):
        above = OpenFolder(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        os.fsync(above.fd)


def open_file(file: File, held: OpenFolder, flags: int) -> int:
    """Open a file that is there: a plain one of ours, made private again if it was not."""
    fd = os.open(file.name, flags | READ_FLAGS, dir_fd=held.fd)
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        os.close(fd)
        raise StoreError(f"{file.path} is no plain file of ours; look at it, then remove it")
    if status.st_mode & 0o077:
        with suppress(OSError):
            os.fchmod(fd, FILE_MODE)
    return fd


def still_there(fd: int) -> bool:
    """Whether a file that is held open still has a name; it is made private again if it was not."""
    status = os.fstat(fd)
    if status.st_mode & 0o077:
        with suppress(OSError):
            os.fchmod(fd, FILE_MODE)
    return status.st_nlink > 0


class Temp:
    """A temporary file: nobody else removes it while it is open, and nobody sees half of it."""

    __slots__ = ("_pid", "fd", "folder", "name")

    def __init__(self, folder: OpenFolder) -> None:
        self.folder = folder
        self._pid = os.getpid()
        while not self._created():
            self.discard()

    def _created(self) -> bool:
        self.name = TEMP_PREFIX + os.urandom(8).hex()
        self.fd = os.open(self.name, CREATE_FLAGS, FILE_MODE, dir_fd=self.folder.fd)
        try:
            locked, status = try_lock(self.fd), os.fstat(self.fd)
            # A umask can take the owner's own rights away.
            if status.st_mode & 0o777 != FILE_MODE:
                os.fchmod(self.fd, FILE_MODE)
        except BaseException:
            self.discard()
            raise
        # Somebody who cleans up may have taken it for a leftover before it was locked.
        return locked and status.st_nlink > 0

    @property
    def is_ours(self) -> bool:
        """Whether this process made it; a forked child has no part in what its parent writes."""
        return self._pid == os.getpid()

    def rename(self, target: OpenFolder, name: str) -> None:
        """Give the file its place, instead of whatever had that name, and close it."""
        os.rename(self.name, name, src_dir_fd=self.folder.fd, dst_dir_fd=target.fd)
        self._close()

    def discard(self) -> None:
        """Remove the file; harmless where that is done, or where it has its place."""
        if self.fd >= 0:
            if self.is_ours:
                with suppress(OSError):
                    os.unlink(self.name, dir_fd=self.folder.fd)
            self._close()

    def _close(self) -> None:
        # Last: an open file is a locked one, and only those are safe from cleaning up.
        fd, self.fd = self.fd, -1
        os.close(fd)


def clean_temps(folder: OpenFolder) -> None:
    """Remove the temporary files that killed processes left; those in use are locked and stay."""
    for name in leftover_temps(folder):
        with suppress(OSError):
            os.unlink(name, dir_fd=folder.fd)


def leftover_temps(folder: OpenFolder) -> Iterator[str]:
    """The temporary files that killed processes left, each while it is ours to remove."""
    with os.scandir(folder.fd) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(TEMP_PREFIX)]
    for name in names:
        with suppress(OSError):
            fd = os.open(name, READ_FLAGS, dir_fd=folder.fd)
            try:
                if try_lock(fd):
                    yield name
            finally:
                os.close(fd)


def create_once(folder: OpenFolder, name: str, content: bytes, *, durable: bool) -> bool:
    """Create a file with its whole content, or leave alone the one that is there already."""
    clean_temps(folder)
    temp = Temp(folder)
    try:
        write_all(temp.fd, content)
        if durable:
            os.fsync(temp.fd)
        place(temp, name)
    except FileExistsError:
        return False
    finally:
        temp.discard()
    return True


def place(temp: Temp, name: str) -> None:
    """Give a temporary file a name in its folder; `FileExistsError` where anything has it."""
    fd = temp.folder.fd
    try:
        os.link(temp.name, name, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if _is_there(name, fd):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from error
        temp.rename(temp.folder, name)


def _is_there(name: str, dir_fd: int) -> bool:
    try:
        os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write every byte; a disk that takes only a part is asked again, and then says why."""
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])


def read_range(fd: int, start: int, stop: int) -> bytes:
    """The bytes from `start` to `stop`, fewer where the file ends before."""
    parts: list[bytes] = []
    while start < stop and (part := os.pread(fd, stop - start, start)):
        parts.append(part)
        start += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
