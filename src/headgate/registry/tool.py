"""One tool: a typed Python function, what a model is told of it, and how it is bounded."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from headgate.errors import DeclarationError
from headgate.policy import ToolRule
from headgate.registry.signature import Signature, signature_of
from headgate.toolnames import class_of
from headgate.types import Amount, ToolClass

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes as a name."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a registry holds it; `Tool.of` makes one from a function."""

    name: str
    description: str
    function: Callable[..., object]
    signature: Signature
    is_async: bool = False
    """Whether it runs on an event loop; others run in threads."""
    limit: Amount | None = None
    """The most a result of it may be."""
    exempt: bool = False
    """Limits itself: its results go in whole, up to `limit` if there is one."""
    tool_class: ToolClass | None = None
    timeout_s: float | None = None
    """None: as the registry says; `math.inf`: never."""
    alone: bool = False
    """Whether it never runs beside another call of its batch."""

    @property
    def schema(self) -> Mapping[str, object]:
        """The JSON schema of its arguments."""
        return self.signature.schema

    @property
    def rule(self) -> ToolRule | None:
        """What a policy has to know of it; None: nothing but what a result carries."""
        if not self.exempt and self.tool_class is None:
            return None
        return ToolRule(self.limit, self.exempt, self.tool_class)

    @staticmethod
    def of(
        function: Callable[..., object],
        *,
        name: str | None = None,
        description: str | None = None,
        limit: Amount | None = None,
        exempt: bool = False,
        tool_class: ToolClass | None = None,
        timeout_s: float | None = None,
        alone: bool | None = None,
    ) -> Tool:
        """Declare a function as a tool.

        What writes runs alone unless `alone` says otherwise: two edits of one file in one batch
        are made one after the other, in the order of the calls.
        """
        called = name or _name(function)
        if not NAME.fullmatch(called):
            raise DeclarationError(
                f"a tool cannot be called {called!r}; providers take {NAME.pattern}"
            )
        if timeout_s is not None and not timeout_s > 0:
            raise DeclarationError(f"timeout_s of {called!r} is {timeout_s}; it is above 0")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise DeclarationError(f"{called!r} yields; a tool returns its result")
        signature = signature_of(function, called)
        if alone is None:
            alone = (tool_class or class_of(called)) == "write"
        return Tool(
            called,
            signature.description if description is None else description,
            function,
            signature,
            _is_async(function),
            limit,
            exempt,
            tool_class,
            timeout_s,
            alone,
        )


def _name(function: Callable[..., object]) -> str:
    made_of = getattr(function, "func", function)
    return str(getattr(made_of, "__name__", type(made_of).__name__))


def _is_async(function: Callable[..., object]) -> bool:
    of_object = getattr(function, "__call__", None)  # noqa: B004  # an object may be called with await
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(of_object)
