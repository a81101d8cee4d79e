"""Failures told to people: what, and where in the code, never with what was in the request.

What an exception says may quote a body, a header or a URL, and with it somebody's key. Its class
and its lines of code are enough to find a fault.
"""

from __future__ import annotations

import logging
import traceback

LOG = logging.getLogger("headgate.gateway")

MOST_TOLD = 1_000
"""Different failures that are told; from then on they are only counted."""


class Telling:
    """Logs what failed: the first of its kind, the others only count."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, what: str, error: BaseException | None = None) -> None:
        """Tell of one failure."""
        text = what if error is None else f"{type(error).__name__} while {what}\n{_lines(error)}"
        if text not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(text)
            LOG.error("%s", text.rstrip())


def _lines(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__))
