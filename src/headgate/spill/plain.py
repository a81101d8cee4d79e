"""Plain text files beside the originals, for the file tools an agent has already.

Where the bytes are clean text the file is the original itself, under a second name. Else it is a
copy in which what is no text shows as `\\xNN`.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, Literal

from headgate.disk import (
    NO_LINKS,
    READ_FLAGS,
    Folder,
    OpenFolder,
    Temp,
    clean_temps,
    place,
    read_range,
    write_all,
)
from headgate.errors import StoreError
from headgate.refs import REF_PATTERN
from headgate.spill.chunks import CHUNK_BYTES
from headgate.spill.private import digest_name
from headgate.types import Ref
from headgate.visible import show_bytes

NameBy = Literal["ref", "call"]

CALL_LITERAL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

COPY_BYTES: Final = 16 * 1024 * 1024
"""A copy of what is no text takes up to four times its size; a larger one is read by ref alone."""

COPY_INSTEAD: Final = NO_LINKS | {errno.EXDEV, errno.EMLINK}
"""Why a link cannot be had: another disk, no links at all, too many of them."""


class PlainFiles:
    """The folder of plain files of one session; it can lie inside a workspace."""

    def __init__(
        self,
        folder: Folder,
        name_by: NameBy,
        *,
        durable: bool,
        reserve: Callable[[Temp, int, int], None] | None = None,
        release: Callable[[Temp, int], None] | None = None,
    ) -> None:
        self.folder = folder
        self._reserve = reserve
        self._release = release
        self._name_by = name_by
        self._durable = durable
        self._cleaned = False

    def names(self, ref: Ref, call_id: str | None) -> tuple[str, ...]:
        """What the file may be called: the first that is free, or has this very content."""
        by_ref = f"{ref}.txt"
        if self._name_by == "ref" or call_id is None:
            return (by_ref,)
        # An id that looks like a ref would take the name of another original.
        literal = CALL_LITERAL.fullmatch(call_id) and not REF_PATTERN.fullmatch(call_id)
        return (f"{call_id if literal else digest_name(call_id)}.txt", by_ref)

    def path(self, name: str) -> str:
        """The whole path of a file in the folder."""
        return f"{self.folder.path}/{name}"

    def has(self, name: str) -> bool:
        """Whether anything has that name in the folder."""
        return os.path.lexists(self.path(name))

    def add(self, objects: OpenFolder, ref: Ref, call_id: str | None, *, clean: bool) -> str | None:
        """Give an original its plain file, and answer with its name; None where that cannot be.

        The original is safe without it, so nothing is raised.
        """
        for _ in range(2):
            try:
                return self._add(objects, ref, call_id, clean)
            except FileNotFoundError:
                self.folder.forget()
            except (OSError, StoreError):
                return None
        return None

    def _add(self, objects: OpenFolder, ref: Ref, call_id: str | None, clean: bool) -> str:
        folder = self.folder.make()
        *by_call, by_ref = self.names(ref, call_id)
        for name in by_call:
            if self._given(objects, ref, folder, name, clean):
                return name
        if not self._given(objects, ref, folder, by_ref, clean):
            # The name is ours alone: what stands there was damaged, or written over.
            os.unlink(by_ref, dir_fd=folder.fd)
            self._given(objects, ref, folder, by_ref, clean)
        return by_ref

    def _given(
        self, objects: OpenFolder, ref: Ref, folder: OpenFolder, name: str, clean: bool
    ) -> bool:
        try:
            if not clean or not _linked(objects, ref, folder, name):
                if self.has(name):
                    raise FileExistsError(name)  # as a link would: it is not copied to see that
                self._copy(objects, ref, folder, name, clean)
        except FileExistsError:
            return _same(objects, ref, folder, name, clean)
        if self._durable:
            self.folder.sync()
        return True

    def _copy(
        self, objects: OpenFolder, ref: Ref, folder: OpenFolder, name: str, clean: bool
    ) -> None:
        if not self._cleaned:
            clean_temps(folder)
            self._cleaned = True
        temp = Temp(folder)
        length = 0
        try:
            for piece in _pieces(objects, ref, clean):
                if self._reserve is not None:
                    self._reserve(temp, length, length + len(piece))
                length += len(piece)
                write_all(temp.fd, piece)
            if self._durable:
                os.fsync(temp.fd)
            place(temp, name)
        except BaseException:
            if self._release is not None and length:
                self._release(temp, length)
            raise
        finally:
            temp.discard()


def remove_plain(objects: OpenFolder, ref: Ref, path: str) -> None:
    """Delete the plain file of an original in a workspace, if it still is that and nothing else."""
    folder = Folder(os.path.dirname(path), "the files folder")
    name = os.path.basename(path)
    with suppress(OSError, StoreError):
        held = folder.open()
        if held is None:
            return
        if any(_same(objects, ref, held, name, clean) for clean in (True, False)):
            os.unlink(name, dir_fd=held.fd)


def _linked(objects: OpenFolder, ref: Ref, folder: OpenFolder, name: str) -> bool:
    try:
        os.link(ref, name, src_dir_fd=objects.fd, dst_dir_fd=folder.fd, follow_symlinks=False)
    except OSError as error:
        if error.errno in COPY_INSTEAD:
            return False
        raise
    return True


def _pieces(objects: OpenFolder, ref: Ref, clean: bool) -> Iterator[bytes]:
    fd = os.open(ref, READ_FLAGS, dir_fd=objects.fd)
    try:
        if not clean and os.fstat(fd).st_size > COPY_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), ref)
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        while block := os.read(fd, CHUNK_BYTES):
            yield block if clean else _shown(decoder.decode(block))
        yield _shown(decoder.decode(b"", True))
    finally:
        os.close(fd)


def _shown(text: str) -> bytes:
    """The text with what is no text as `\\xNN`; a byte that is none comes as a surrogate."""
    text = text.replace("\0", "\\x00")
    if "\\udc" in text:
        return show_bytes(text).encode()
    # Ten times faster than one by one: a surrogate is written as its escape, `\udc80`.
    return text.encode("utf-8", "backslashreplace").replace(b"\\udc", b"\\x")


def _same(objects: OpenFolder, ref: Ref, folder: OpenFolder, name: str, clean: bool) -> bool:
    """Whether the file that has the name is the original's own, of an earlier time."""
    try:
        fd = os.open(name, READ_FLAGS, dir_fd=folder.fd)
    except OSError:
        return False
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return False
        if os.path.samestat(found, os.stat(ref, dir_fd=objects.fd, follow_symlinks=False)):
            return True
        at = 0
        for piece in _pieces(objects, ref, clean):
            if read_range(fd, at, at + len(piece)) != piece:
                return False
            at += len(piece)
        return at == found.st_size
    finally:
        os.close(fd)
