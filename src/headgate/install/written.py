"""Writes what was planned, keeps what stood there before, and puts it back exactly.

Each installation has a folder of its own under the state folder: `record.json` says which files it
changed, and beside it stand their texts before and after.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from headgate.disk import Folder, Temp, create_once, write_all
from headgate.errors import RequestError, StoreError
from headgate.install.plan import (
    MODES,
    Change,
    Mode,
    Plan,
    Site,
    alone_reversed_in,
    reversed_in,
    text_of,
)
from headgate.install.values import taken_back
from headgate.spill.private import sessions_folder

NEW_FILE_MODE = 0o600
"""Settings may hold keys."""

JSON_SUFFIXES = (".json", ".jsonc")

EMPTY = ("", "{}")
"""What is left of a file that was made for us alone."""


class Kept(msgspec.Struct, frozen=True):
    """One changed file; `before` None: there was none."""

    path: str
    before: str | None
    after: str | None


class Record(msgspec.Struct, frozen=True):
    """What one installation changed, in order, and what it was made with."""

    changes: tuple[Kept, ...]
    time_ns: int
    gateway: str
    preset: str | None
    folders: tuple[str, ...] = ()
    """That were made for it, each behind those it stands in."""


@dataclass(frozen=True, slots=True)
class Undoing:
    """What taking an installation back would change, and what cannot be taken back."""

    changes: tuple[Change, ...]
    stuck: tuple[Change, ...]
    """Files that were changed since in the very lines that we had put in."""


def write(plan: Plan, site: Site, client: str, mode: Mode) -> Path:
    """Keep what stands there, then change it; gives the folder of the backup."""
    state = site.state
    earlier = record_of(state, client, mode)
    kept = {kept.path: kept for kept in earlier.changes} if earlier else {}
    for change in plan.changes:
        path = str(change.path)
        # Installed twice: what stood there before the first time is what undo puts back.
        before = kept[path].before if path in kept else change.before
        kept[path] = Kept(path, before, change.after)
    time_ns = earlier.time_ns if earlier else time.time_ns()
    made = dict.fromkeys(earlier.folders if earlier else ())
    made |= dict.fromkeys(str(f) for change in plan.changes for f in _missing_above(change.path))
    record = Record(tuple(kept.values()), time_ns, site.gateway, site.preset, tuple(made))
    _keep(record, state, client, mode)
    # Gemini CLI does not start where a folder that it may read is not there.
    sessions_folder(Folder(state, "the state folder")).make()
    for change in plan.changes:
        replace(change)
    return _folder(state, client, mode)


def installed(state: Path, client: str) -> list[Mode]:
    """The ways in which a client was installed, in the order in which that was done."""
    records = {mode: record_of(state, client, mode) for mode in MODES}
    return sorted(
        (mode for mode in MODES if records[mode] is not None),
        key=lambda mode: record.time_ns if (record := records[mode]) else 0,
    )


def undoing(state: Path, client: str, mode: Mode) -> Undoing:
    """What would take an installation back."""
    record = record_of(state, client, mode)
    if record is None:
        raise RequestError(f"{client} is not installed as {mode}; there is nothing to undo")
    changes: list[Change] = []
    stuck: list[Change] = []
    for kept in reversed(record.changes):
        path = Path(kept.path)
        now = text_of(path)
        ours = Change(path, kept.before, kept.after)
        if now is None or now == (kept.before or ""):
            continue
        back = _before(now, ours)
        if back is None:
            stuck.append(ours)
        elif back.after != now:
            changes.append(back)
    return Undoing(tuple(changes), tuple(stuck))


def _before(now: str, ours: Change) -> Change | None:
    """The change back to how a file was without ours; None where that cannot be told."""
    if now == (ours.after or ""):
        return Change(ours.path, now, ours.before)
    is_json = ours.path.suffix in JSON_SUFFIXES
    back = reversed_in(now, ours)
    if back is None:
        back = taken_back(now, ours) if is_json else alone_reversed_in(now, ours)
    if back is None:
        return None
    is_left = ours.before is not None or back.strip() not in EMPTY
    return Change(ours.path, now, back if is_left else None)


def undo(undone: Undoing, state: Path, client: str, mode: Mode) -> None:
    """Put back what stood there before; the backup of what is stuck stays."""
    record = record_of(state, client, mode)
    for change in undone.changes:
        replace(change)
    for folder in reversed(record.folders if record else ()):
        with suppress(OSError):  # It is gone, or holds something else by now.
            Path(folder).rmdir()
    if not undone.stuck:
        shutil.rmtree(_folder(state, client, mode))
        with suppress(OSError):
            _folder(state, client, mode).parent.rmdir()


def replace(change: Change) -> None:
    """Write a file whole or not at all; a link is followed, and its mode stays."""
    path = Path(os.path.realpath(change.path))
    if text_of(path) != change.before:
        raise RequestError(f"{path} was changed by somebody else meanwhile; run this again")
    if change.after is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if change.before is not None else NEW_FILE_MODE
    temp = path.with_name(f".{path.name}.headgate-{os.getpid()}")
    try:
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            os.fchmod(descriptor, mode)
            file.write(change.after)
            file.flush()
            os.fsync(descriptor)
        os.replace(temp, path)
    finally:
        temp.unlink(missing_ok=True)


def _missing_above(path: Path) -> list[Path]:
    """The folders that have to be made for a file, the outermost first."""
    above = Path(os.path.realpath(path)).parents
    return [folder for folder in reversed(above) if not folder.exists()]


def _folder(state: Path, client: str, mode: Mode) -> Path:
    return state / "installs" / f"{client}-{mode}"


def _private(state: Path, client: str, mode: Mode) -> Folder:
    installs = Folder(state, "the state folder").sub("installs", "the folder of installations")
    return installs.sub(f"{client}-{mode}", "the folder of this installation")


def record_of(state: Path, client: str, mode: Mode) -> Record | None:
    """What was kept of an installation; None where there is none."""
    path = _folder(state, client, mode) / "record.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def _keep(record: Record, state: Path, client: str, mode: Mode) -> None:
    """Write the texts as files that a person can copy back, then the record in one step."""
    folder = _private(state, client, mode).make()
    for name, content in _backups(record):
        create_once(folder, name, content, durable=True)
    temp = Temp(folder)
    try:
        write_all(temp.fd, msgspec.json.encode(record))
        os.fsync(temp.fd)
        temp.rename(folder, "record.json")
    finally:
        temp.discard()


def _backups(record: Record) -> Iterator[tuple[str, bytes]]:
    for number, kept in enumerate(record.changes, 1):
        if kept.before is not None:
            yield f"{number}-{Path(kept.path).name}", kept.before.encode()
