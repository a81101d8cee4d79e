"""A journal of a session that goes on in memory while its disk does not work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headgate.errors import StoreError
from headgate.events import LedgerFailed, LedgerRepaired
from headgate.gate import Gate


class Notebook:
    """What has to outlive a process, record by record; a failure is an event and stops nothing."""

    def __init__(self, gate: Gate, name: str) -> None:
        self._gate = gate
        self._journal = gate.journal(name)
        self._unwritten: list[bytes] = []
        self._failing = ""

    @property
    def path(self) -> str:
        """Of its file, for people."""
        return self._journal.path

    @property
    def unwritten(self) -> list[bytes]:
        """What could not be written yet; it goes in front of the next record."""
        return list(self._unwritten)

    def read(self) -> list[bytes]:
        """What was written since the last time; nothing where it cannot be read."""
        try:
            return self._journal.catch_up()
        except StoreError as error:
            self._failed(str(error))
            return []
        finally:
            self._report()

    def write(self, decide: Callable[[list[bytes]], Sequence[bytes]]) -> None:
        """Write what `decide` makes of the records that others wrote first.

        Nobody else writes between the two. Where nothing can be written it decides all the same.
        """
        made: list[bytes] | None = None

        def after(records: list[bytes]) -> list[bytes]:
            nonlocal made
            made = list(decide(records))
            return [*self._unwritten, *made]

        try:
            self._journal.append(after)
        except StoreError as error:
            self._unwritten += decide([]) if made is None else made
            self._failed(str(error))
        else:
            self._unwritten.clear()
            self._failing = ""
        self._report()

    def _failed(self, why: str) -> None:
        """Told once each time it begins."""
        if why != self._failing:
            self._failing = why
            self._gate.emit(LedgerFailed(why))

    def _report(self) -> None:
        for repair in self._journal.take_repairs():
            self._gate.emit(LedgerRepaired(repair.path, repair.lost_bytes, repair.kept_records))
