"""What was learnt about each model, in one file of the state folder that all processes share.

The file is a journal of observations. Everybody folds them in the same order and so comes to the
same calibration. When there are many, whoever writes next puts what was learnt in their place.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec
from xxhash import xxh3_128_digest

from headgate.disk import File, Temp, clean_temps, write_all
from headgate.errors import StoreError
from headgate.history.calibrate import (
    Calibration,
    Observation,
    is_sound,
    observe,
    uncalibrated,
)
from headgate.history.makeup import Makeup
from headgate.journal import HEADER, Journal, framed
from headgate.locks import Guard
from headgate.measure.models import counted_as, plain_name

FILE_NAME: Final = "calibration"
"""In the state folder."""

FOLDED_AT: Final = 4_096
"""So many observations are put together: half a megabyte, and a few milliseconds to read."""

MOST_MODELS: Final = 256
"""What was longest not heard of is forgotten first."""


class Observed(msgspec.Struct, frozen=True, array_like=True, tag="observed"):
    """One observation in the journal; a later version may append fields, or other records."""

    model: str
    time_ns: int
    added: Makeup
    reported_tokens: int


class Learnt(msgspec.Struct, frozen=True, array_like=True, tag="learnt"):
    """All that was learnt about a model before the observations that follow."""

    model: str
    calibration: Calibration


Record: TypeAlias = Observed | Learnt

_RECORD: Final = msgspec.msgpack.Decoder(Record)


class CalibrationFile:
    """The calibrations of all models; `None` in place of a file keeps them in memory.

    Where the disk fails, what is learnt holds while this process lives: a calibration moves counts
    and warnings, so that nothing else depends on it.
    """

    def __init__(self, file: File | None = None, *, folded_at: int = FOLDED_AT) -> None:
        self._file = file
        self._folded_at = folded_at
        self._journal = Journal(file) if file else None
        self._guard = Guard()
        self._models: dict[str, Calibration] = {}
        self._folded: set[bytes] = set()
        self._failing: str | None = None
        self._failure: str | None = None

    def of(self, model: str) -> Calibration:
        """What is known about a model now, by every process."""
        with self._guard.lock:
            if self._journal:
                try:
                    self._take_in(self._journal.catch_up())
                except StoreError as error:
                    self._failed(str(error))
            return self._known(_name(model))

    def learn(self, model: str, observation: Observation, *, time_ns: int) -> Calibration:
        """Learn from one observation, for every process; the time tells it from equal ones."""
        name = _name(model)
        observed = Observed(name, time_ns, observation.added, observation.reported_tokens)
        record = msgspec.msgpack.encode(observed)
        with self._guard.lock:
            try:
                self._write(record)
            except StoreError as error:
                self._failed(str(error))
                self._take_in([record])
            else:
                self._failing = None
            return self._known(name)

    def take_failure(self) -> str | None:
        """Why what was learnt lives in memory alone, told once each time that begins."""
        taken, self._failure = self._failure, None
        return taken

    def _write(self, record: bytes) -> None:
        if self._journal is None:
            self._take_in([record])
            self._folded.clear()
            return

        def after(records: list[bytes]) -> list[bytes]:
            self._take_in([*records, record])
            with suppress(OSError, StoreError):
                if len(self._folded) >= self._folded_at:
                    self._put_together()
                    return []
            return [record]

        self._journal.append(after)

    def _put_together(self) -> None:
        """Replace the journal by what was learnt, under its lock: nobody writes meanwhile."""
        if self._file is None:
            return
        learnt = (Learnt(model, known) for model, known in self._models.items())
        records = (framed(msgspec.msgpack.encode(record)) for record in learnt)
        folder = self._file.folder.make()
        clean_temps(folder)
        temp = Temp(folder)
        try:
            write_all(temp.fd, HEADER + b"".join(records))
            temp.rename(folder, self._file.name)
        finally:
            temp.discard()
        self._folded.clear()

    def _take_in(self, records: list[bytes]) -> None:
        for record in records:
            try:
                read = _RECORD.decode(record)
            except msgspec.DecodeError:
                continue  # a kind of record that a later version writes
            if isinstance(read, Learnt):
                # It stands at the head of a file: what follows is not in it.
                self._folded.clear()
                if is_sound(read.calibration):
                    self._set(read.model, read.calibration)
                continue
            digest = xxh3_128_digest(record)
            if digest not in self._folded:
                self._folded.add(digest)
                observation = Observation(read.added, read.reported_tokens)
                self._set(read.model, observe(self._known(read.model), observation))

    def _known(self, name: str) -> Calibration:
        return self._models.get(name) or _untaught(name)

    def _set(self, name: str, calibration: Calibration) -> None:
        self._models.pop(name, None)
        self._models[name] = calibration
        if len(self._models) > MOST_MODELS:
            del self._models[next(iter(self._models))]

    def _failed(self, reason: str) -> None:
        if self._failing != reason:
            self._failing = self._failure = reason


@lru_cache(maxsize=64)
def _untaught(name: str) -> Calibration:
    return uncalibrated(counted_as(name))


def _name(model: str) -> str:
    """One name for a model, however it is reached; what is no Unicode is spelled out."""
    return plain_name(model).encode("utf-8", "backslashreplace").decode()
