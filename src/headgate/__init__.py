"""Headgate: the gate every tool result passes before it enters the model's context.

    from headgate import Gate, ToolResult

    gate = Gate(session="my-agent")
    [shown] = gate.admit([ToolResult.of("grep", text, call_id="call_1")])
    shown.text        # what the model sees, at most its limit, marker included
    gate.original(shown.verdict.ref)    # every byte

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from headgate.version import __version__

TYPE_CHECKING = False  # type checkers know the name; `typing` itself costs a third of the import

if TYPE_CHECKING:
    from headgate.agent import Agent, AsyncAgent
    from headgate.async_gate import AsyncGate
    from headgate.errors import (
        DeclarationError,
        HeadgateError,
        HistoryError,
        PolicyError,
        RefGone,
        RefNotFound,
        RequestError,
        StoreError,
    )
    from headgate.gate import Gate
    from headgate.policy import Policy, ToolRule
    from headgate.registry import Batch, Context, Registry, Tool
    from headgate.retention import Retention
    from headgate.types import (
        Amount,
        Call,
        Json,
        Media,
        ShownResult,
        Text,
        ToolResult,
        Verdict,
        chars,
        tokens,
        utf8_bytes,
    )

_HOMES = {
    "agent": "Agent AsyncAgent",
    "async_gate": "AsyncGate",
    "errors": "DeclarationError HeadgateError HistoryError PolicyError RefGone RefNotFound "
    "RequestError StoreError",
    "gate": "Gate",
    "policy": "Policy ToolRule",
    "retention": "Retention",
    "registry": "Batch Context Registry Tool",
    "types": "Amount Call Json Media ShownResult Text ToolResult Verdict chars tokens utf8_bytes",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Agent",
    "Amount",
    "AsyncAgent",
    "AsyncGate",
    "Batch",
    "Call",
    "Context",
    "DeclarationError",
    "Gate",
    "HeadgateError",
    "HistoryError",
    "Json",
    "Media",
    "Policy",
    "PolicyError",
    "RefGone",
    "RefNotFound",
    "Registry",
    "RequestError",
    "Retention",
    "ShownResult",
    "StoreError",
    "Text",
    "Tool",
    "ToolResult",
    "ToolRule",
    "Verdict",
    "__version__",
    "chars",
    "tokens",
    "utf8_bytes",
]


def __getattr__(name: str) -> object:
    """Load a name from the module it lives in."""
    if name not in _MODULES:
        raise AttributeError(f"module 'headgate' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"headgate.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
