"""The token that opens a gateway beyond loopback: a private file, made once."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from headgate.disk import FILE_MODE, store_error, write_all
from headgate.errors import StoreError

TOKEN_BYTES = 32
MOST_BYTES = 4096


def token_in(path: Path) -> str:
    """The token in a file, which is made if it is not there; raises `StoreError`."""
    try:
        _make_once(path)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return _read(fd, path)
        finally:
            os.close(fd)
    except OSError as error:
        raise store_error("the token", str(path), error) from error


def _make_once(path: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, FILE_MODE)
    except FileExistsError:
        return
    try:
        os.fchmod(fd, FILE_MODE)
        write_all(fd, secrets.token_urlsafe(TOKEN_BYTES).encode() + b"\n")
    finally:
        os.close(fd)


def _read(fd: int, path: Path) -> str:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077:
        raise StoreError(f"the token {path} can be read by others; chmod 600 it")
    token = os.read(fd, MOST_BYTES).strip()
    if not token.isascii() or not token.decode("latin-1").isprintable() or b"/" in token:
        raise StoreError(f"the token {path} has other characters than letters and digits")
    return token.decode()
