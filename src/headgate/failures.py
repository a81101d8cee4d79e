"""Failures that were let pass so that an agent could go on: noted, so that somebody sees them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from headgate.disk import Folder
from headgate.journal import Journal
from headgate.spill.private import state_folder

MOST_CHARS = 500
"""A message says what went wrong; it is never the place for a result."""


class Failure(msgspec.Struct, frozen=True, array_like=True):
    """One failure: when, and what."""

    time_ns: int
    what: str


def note(what: str, state: Path | None = None, *, clock: Callable[[], int] = time.time_ns) -> None:
    """Note a failure; raises `StoreError` where even that fails."""
    failure = Failure(clock(), what[:MOST_CHARS])
    _journal(state).append(lambda _: [msgspec.msgpack.encode(failure)])


def noted(state: Path | None = None) -> list[Failure]:
    """All failures that were noted, oldest first."""
    decode = msgspec.msgpack.Decoder(Failure).decode
    return [decode(record) for record in _journal(state).catch_up()]


def _journal(state: Path | None) -> Journal:
    return Journal(Folder(state or state_folder(os.environ), "the state folder") / "failures")
