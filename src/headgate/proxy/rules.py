"""What one proxy is told to do, fixed when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from headgate.tool import NAME

DENIED_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "sampling": "sampling/createMessage",
        "elicitation": "elicitation/create",
        "roots": "roots/list",
    }
)
"""What a server may ask of a client, by the capability that offers it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one proxy is told to do."""

    upstream: str = "the server"
    """What it is called where the model is told about it."""
    reader: str = NAME
    """The name of the tool that reads back."""
    deny: frozenset[str] = frozenset()
    """Capabilities of the client that the server does not get to see."""

    def denies(self, method: str) -> bool:
        """Whether the server may not ask for this."""
        return any(DENIED_METHODS[capability] == method for capability in self.deny)
