"""Headgate: the gate every tool result passes before it enters the model's context.

from headgate import Gate, ToolResult

gate = Gate(session="my-agent")
[shown] = gate.admit([ToolResult.of("grep", text, call_id="call_1")])
shown.text        # what the model sees, at most its limit, marker included
gate.original(shown.verdict.ref)    # every byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.errors import HeadgateError, PolicyError, RefNotFound, RequestError, StoreError
from headgate.policy import Policy, ToolRule
from headgate.types import (
    Amount,
    Json,
    Media,
    Text,
    ToolResult,
    Verdict,
    chars,
    tokens,
    utf8_bytes,
)
from headgate.version import __version__

if TYPE_CHECKING:
    from headgate.gate import AsyncGate, Gate

__all__ = [
    "Amount",
    "AsyncGate",
    "Gate",
    "HeadgateError",
    "Json",
    "Media",
    "Policy",
    "PolicyError",
    "RefNotFound",
    "RequestError",
    "StoreError",
    "Text",
    "ToolResult",
    "ToolRule",
    "Verdict",
    "__version__",
    "chars",
    "tokens",
    "utf8_bytes",
]


def __getattr__(name: str) -> object:
    """Load the gates when they are first used: they bring the scanner and the store with them."""
    if name in ("Gate", "AsyncGate"):
        from headgate import gate

        return getattr(gate, name)
    raise AttributeError(f"module 'headgate' has no attribute {name!r}")
