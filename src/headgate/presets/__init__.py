"""Policies by name. Each is data over the same code: one file here, one line in the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from headgate.errors import PolicyError
from headgate.policy import Policy
from headgate.presets.default import DEFAULT

__all__ = ["DEFAULT", "PRESETS", "preset"]

PRESETS: Mapping[str, Policy] = MappingProxyType({"default": DEFAULT})


def preset(name: str) -> Policy:
    """The policy of that name."""
    if name not in PRESETS:
        raise PolicyError(f"no preset {name!r}; there is {', '.join(PRESETS)}")
    return PRESETS[name]
