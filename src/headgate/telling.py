"""Tells hooks what happened: they are not ours, and no turn may fail by one."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.events import Event, Hook


def tell(hooks: Iterable[Hook], event: Event) -> None:
    """Tell whoever listens; one that raises is told to the log, and stops nobody."""
    for hook in hooks:
        try:
            hook(event)
        except Exception:
            import logging  # seldom needed, and not light

            log = logging.getLogger("headgate")
            log.exception("a hook failed at %s", type(event).__name__)
