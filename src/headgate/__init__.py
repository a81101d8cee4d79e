"""Headgate: the gate every tool result passes before it enters the model's context."""

from headgate.version import __version__

__all__ = ["__version__"]
