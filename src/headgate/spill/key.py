"""The installation key: 32 random bytes in a private file, made once, that make refs and tags."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from headgate.disk import File, Folder, create_once, open_file, store_error
from headgate.errors import StoreError

KEY_BYTES: Final = 32


def installation_key(state: Path) -> bytes:
    """The key of this state folder, made at the first call; whoever is first makes it for all."""
    file = _key_file(state)
    key = _read(file)
    if key is not None:
        return key
    try:
        # Always synced: without it nobody finds again what it named.
        if create_once(file.folder.make(), file.name, os.urandom(KEY_BYTES), durable=True):
            file.folder.sync()
    except OSError as error:
        raise store_error("the installation key", file.path, error) from error
    key = _read(file)
    if key is None:
        raise StoreError(f"the installation key {file.path} is deleted by somebody else")
    return key


def existing_key(state: Path) -> bytes | None:
    """The key of this state folder, or None where none was made yet."""
    return _read(_key_file(state))


def _key_file(state: Path) -> File:
    return Folder(state, "the state folder") / "key"


def _read(file: File) -> bytes | None:
    held = file.folder.open()
    if held is None:
        return None
    try:
        fd = open_file(file, held, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise store_error("the installation key", file.path, error) from error
    try:
        key = os.read(fd, KEY_BYTES + 1)
    finally:
        os.close(fd)
    if len(key) != KEY_BYTES:
        raise StoreError(
            f"the installation key {file.path} has not {KEY_BYTES} bytes; put back the file it was "
            f"copied from, or delete it and lose access to what it named"
        )
    return key
