"""Compiled patterns kept from one process to the next: compiling takes longer than most commands.

They lie in the private state folder, as the installation key does, each with a checksum, under a
name that says what was compiled and by which version. Whatever is wrong with one, it is compiled.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from headgate.disk import Folder, create_once, open_file, read_range
from headgate.errors import StoreError
from headgate.scan import Scanner

SCANNERS: Final = (
    ("headgate.visible", "DIRTY"),
    ("headgate.shape.signs", "SCANNER"),
    ("headgate.shape.labels", "SCANNER"),
)
"""Every scanner, by the file it stands in."""

DIGEST_BYTES: Final = 32


@contextmanager
def patterns_of(state: Path) -> Iterator[None]:
    """Take what was compiled before, and in the end keep what was compiled here."""
    restore(state)
    try:
        yield
    finally:
        keep(state)


def restore(state: Path) -> None:
    """Take from the state folder what was compiled before; what is not there is compiled later."""
    for scanner in scanners():
        with suppress(OSError, StoreError):
            form = _read(state, scanner.key)
            if form is not None:
                scanner.restore(form)


def keep(state: Path) -> None:
    """Keep what this process had to compile, for the next one."""
    for scanner in scanners():
        with suppress(OSError, StoreError):
            if scanner.is_compiled and _read(state, scanner.key) is None:
                form = scanner.compiled_form()
                content = hashlib.sha256(form).digest() + form
                create_once(_folder(state).make(), scanner.key, content, durable=False)


def scanners() -> Iterator[Scanner]:
    """All scanners there are."""
    for module, name in SCANNERS:
        scanner: Scanner = getattr(import_module(module), name)
        yield scanner


def _read(state: Path, key: str) -> bytes | None:
    """A compiled form; None where there is none, or it is damaged."""
    folder = _folder(state)
    held = folder.open()
    if held is None:
        return None
    try:
        fd = open_file(folder / key, held, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        content = read_range(fd, 0, os.fstat(fd).st_size)
    finally:
        os.close(fd)
    digest, form = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return form if hashlib.sha256(form).digest() == digest else None


def _folder(state: Path) -> Folder:
    return Folder(state, "the state folder").sub("compiled", "the folder of compiled patterns")
