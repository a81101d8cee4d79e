"""For tests, ours and yours: builders, a store that breaks, and a strict stand-in for providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.testing.builders import lines, result

if TYPE_CHECKING:
    from headgate.testing.fakes import BadStore
    from headgate.testing.provider import Provider

__all__ = ["BadStore", "Provider", "lines", "result"]


def __getattr__(name: str) -> object:
    """Load the larger parts when they are first used."""
    if name == "BadStore":
        from headgate.testing.fakes import BadStore

        return BadStore
    if name == "Provider":
        from headgate.testing.provider import Provider

        return Provider
    raise AttributeError(f"module 'headgate.testing' has no attribute {name!r}")
