"""For tests, ours and yours: builders, a store that breaks, and a strict stand-in for providers."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from headgate.testing.builders import lines, result

if TYPE_CHECKING:
    from headgate.testing.fakes import BadStore
    from headgate.testing.provider import Provider
    from headgate.testing.replies import Call, Cut, Failure, Reply, Reset, Say, Stall, Think, Wire
    from headgate.testing.scripted import ScriptedClient, ScriptedRefusal

__all__ = [
    "BadStore",
    "Call",
    "Cut",
    "Failure",
    "Provider",
    "Reply",
    "Reset",
    "Say",
    "ScriptedClient",
    "ScriptedRefusal",
    "Stall",
    "Think",
    "Wire",
    "lines",
    "result",
]

_REPLIES = ("Call", "Cut", "Failure", "Reply", "Reset", "Say", "Stall", "Think", "Wire")

_LATER = MappingProxyType(
    {
        "BadStore": "fakes",
        "Provider": "provider",
        "ScriptedClient": "scripted",
        "ScriptedRefusal": "scripted",
        **dict.fromkeys(_REPLIES, "replies"),
    }
)
"""The larger parts, each with the file it is loaded from when it is first used."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'headgate.testing' has no attribute {name!r}")
    return getattr(import_module(f"headgate.testing.{_LATER[name]}"), name)
