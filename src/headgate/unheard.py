"""What a gate without hooks still says: that it could not keep something, in the log."""

from __future__ import annotations

from headgate.events import Event, LedgerFailed, LedgerRepaired, SpillFailed, SweepFailed

LOGGER = "headgate"

MOST_LOGGED = 100
"""Different failures of one gate. Some name a size or a file: each would be another one."""


class Unheard:
    """Takes events that no hook does, and logs each failure once, however often it comes.

    It is for who has not thought of hooks: those decide themselves what is worth a line.
    """

    __slots__ = ("_logged",)

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Take one event."""
        text = _in_words(event)
        if not text or text in self._logged or len(self._logged) == MOST_LOGGED:
            return
        import logging  # only for who has something to log

        self._logged.add(text)
        logging.getLogger(LOGGER).warning(text)


def _in_words(event: Event) -> str:
    if isinstance(event, SpillFailed):
        return f"a result could not be kept: {event.error}"
    if isinstance(event, LedgerFailed):
        return f"a verdict could not be recorded: {event.error}"
    if isinstance(event, SweepFailed):
        return f"what is kept could not be put in order: {event.error}"
    if isinstance(event, LedgerRepaired):
        return f"{event.path} was damaged: {event.kept_records:,} records are whole"
    return ""
