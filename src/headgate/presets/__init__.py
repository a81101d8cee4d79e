"""Policies by name. Each is data over the same code: one file here, one line in the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from headgate.errors import PolicyError
from headgate.policy import Policy
from headgate.presets.chatcli import CHATCLI
from headgate.presets.claude_code import CLAUDE_CODE
from headgate.presets.default import DEFAULT
from headgate.presets.delta import DELTA
from headgate.presets.ethos import ETHOS
from headgate.presets.vtcode import VTCODE

__all__ = [
    "CHATCLI",
    "CLAUDE_CODE",
    "DEFAULT",
    "DELTA",
    "ETHOS",
    "PRESETS",
    "VTCODE",
    "preset",
]

PRESETS: Mapping[str, Policy] = MappingProxyType(
    {
        "default": DEFAULT,
        "ethos": ETHOS,
        "claude_code": CLAUDE_CODE,
        "chatcli": CHATCLI,
        "delta": DELTA,
        "vtcode": VTCODE,
    }
)


def preset(name: str) -> Policy:
    """The policy of that name."""
    if name not in PRESETS:
        raise PolicyError(f"no preset {name!r}; there is {', '.join(PRESETS)}")
    return PRESETS[name]
