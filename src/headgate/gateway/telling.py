"""Failures told to people, each once, without the secrets of the request they happened in."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from headgate.gateway.headers import without_secrets

LOG = logging.getLogger("headgate.gateway")

MOST_TOLD = 1_000
"""Different failures that are told; from then on they are only counted."""


class Telling:
    """Logs what failed: the first of its kind in full, the others only count."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, message: str, details: str = "", secrets: Iterable[str] = ()) -> None:
        """Tell of one failure; `details` is its traceback."""
        text = without_secrets(f"{message}\n{details}".strip(), secrets)
        if text not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(text)
            LOG.error("%s", text)
