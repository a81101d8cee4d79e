"""The tools of an agent: declared once from typed functions, run batch by batch through a gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import TypeVar, overload
from weakref import WeakKeyDictionary

from headgate.errors import DeclarationError
from headgate.events import Hook
from headgate.gate import Gate
from headgate.locks import Guard
from headgate.policy import Policy
from headgate.registry.batch import Batch
from headgate.registry.course import Lane
from headgate.registry.definitions import definitions
from headgate.registry.jobs import Job, Jobs
from headgate.registry.loop import LoopThread
from headgate.registry.pages import Pages, read_page
from headgate.registry.tool import Tool
from headgate.registry.workers import Workers
from headgate.shape.pages import Page
from headgate.tool import NAME as READ_RESULT
from headgate.tool import Dialect
from headgate.types import Amount, Call, Ref, ShownResult, ToolClass, ToolResult

F = TypeVar("F", bound=Callable[..., object])

TIMEOUT_S = 300.0
"""What a tool gets that says nothing: longer than most builds, shorter than a user's patience."""

GRACE_S = 1.0
"""What a tool gets to clean up after it was told to stop."""

NO_ANSWERS: Mapping[str, ToolResult] = MappingProxyType({})
NO_NOTES: Mapping[str, str] = MappingProxyType({})


class Registry:
    """Tools by name. One registry serves any number of sessions, each with a gate of its own."""

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., object]] = (),
        *,
        timeout_s: float = TIMEOUT_S,
        grace_s: float = GRACE_S,
    ) -> None:
        if not timeout_s > 0 or not grace_s >= 0:
            raise DeclarationError(
                f"timeout_s is {timeout_s} and grace_s is {grace_s}; tools need time to run"
            )
        self.timeout_s = timeout_s
        self.grace_s = grace_s
        self._tools: dict[str, Tool] = {}
        self._workers = Workers()
        self._loop = LoopThread()
        self._guard = Guard()
        self._pages: WeakKeyDictionary[Gate, Pages] = WeakKeyDictionary()
        for tool in tools:
            self.add(tool if isinstance(tool, Tool) else Tool.of(tool))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool by its name."""
        return MappingProxyType(self._tools)

    def add(self, tool: Tool) -> None:
        """Declare a tool; a name stands once."""
        if tool.name == READ_RESULT:
            raise DeclarationError(
                f"the name {READ_RESULT!r} is taken: it reads back what was kept"
            )
        if tool.name in self._tools:
            raise DeclarationError(f"there is a tool {tool.name!r} already")
        with self._guard.lock:
            for gate in self._pages:
                _check_known(tool, gate.policy)
            self._tools[tool.name] = tool

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        limit: Amount | None = None,
        exempt: bool = False,
        tool_class: ToolClass | None = None,
        timeout_s: float | None = None,
        alone: bool | None = None,
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        limit: Amount | None = None,
        exempt: bool = False,
        tool_class: ToolClass | None = None,
        timeout_s: float | None = None,
        alone: bool | None = None,
    ) -> F | Callable[[F], F]:
        """Declare the function below: `@tools.tool(limit=tokens(2_000))`; it stays what it is."""

        def declare(function: F) -> F:
            made = Tool.of(
                function,
                name=name,
                description=description,
                limit=limit,
                exempt=exempt,
                tool_class=tool_class,
                timeout_s=timeout_s,
                alone=alone,
            )
            self.add(made)
            return function

        return declare if function is None else declare(function)

    def policy(self, start: Policy | None = None) -> Policy:
        """A policy that knows what the tools declare; where it speaks of a tool, its word holds."""
        first = start or Policy()
        rules = {name: tool.rule for name, tool in self._tools.items() if tool.rule is not None}
        return first.replace(tools={**rules, **first.tools})

    def definitions(
        self, dialect: Dialect, policy: Policy | None = None
    ) -> list[dict[str, object]]:
        """The tools as a request to the provider has them, and `read_result` where it is of use."""
        return definitions(self._tools.values(), dialect, policy or Policy())

    def batch(
        self,
        gate: Gate,
        calls: Sequence[Call],
        *,
        question: str = "",
        prefix: bytes = b"",
        answered: Mapping[str, ToolResult] = NO_ANSWERS,
        notes: Mapping[str, str] = NO_NOTES,
        hooks: Sequence[Hook] = (),
    ) -> Batch:
        """Make a batch that can be run, watched and cancelled.

        `answered` has results of calls that are not to be run, `notes` a line to put above a
        result, both by call id.
        """
        made = Jobs(self._tools, gate, self._pages_of(gate))
        return Batch(
            made,
            made.of(calls, answered),
            workers=self._workers,
            loop=self._loop,
            lane=self._lane,
            grace_s=self.grace_s,
            question=question,
            prefix=prefix,
            notes=notes,
            hooks=hooks,
        )

    def run_batch(
        self, gate: Gate, calls: Sequence[Call], *, question: str = "", hooks: Sequence[Hook] = ()
    ) -> list[ShownResult]:
        """Run calls at the same time and let their results in as one batch, in call order."""
        return self.batch(gate, calls, question=question, hooks=hooks).run()

    async def arun_batch(
        self, gate: Gate, calls: Sequence[Call], *, question: str = "", hooks: Sequence[Hook] = ()
    ) -> list[ShownResult]:
        """The same on the running event loop."""
        return await self.batch(gate, calls, question=question, hooks=hooks).arun()

    def page(self, gate: Gate, ref: Ref, number: int, size: int | None = None) -> str:
        """A page of a kept result: of the items of an array, or of the lines of a text."""
        return read_page(gate, ref, Page(number, size))

    def close(self) -> None:
        """Stop the loop that async tools ran on in `run_batch`; the registry can still be used."""
        self._loop.close()

    def __enter__(self) -> Registry:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _lane(self, job: Job) -> Lane:
        if job.tool is None:
            return Lane(self.timeout_s)
        return Lane(job.tool.timeout_s or self.timeout_s, job.tool.alone)

    def _pages_of(self, gate: Gate) -> Pages:
        with self._guard.lock:
            pages = self._pages.get(gate)
            if pages is None:
                for tool in self._tools.values():
                    _check_known(tool, gate.policy)
                pages = self._pages[gate] = Pages(gate)
            return pages


def _check_known(tool: Tool, policy: Policy) -> None:
    """A class or an exemption that the gate does not know of would hold only in part."""
    if tool.rule is not None and tool.name not in policy.tools:
        raise DeclarationError(
            f"the gate's policy does not know what {tool.name!r} declares; "
            "make the gate with Gate(registry.policy(policy))"
        )
