"""Batches in tests run both ways: in a thread that waits, and on an event loop."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from headgate import Batch, Call, Gate, Registry, ToolResult


@pytest.fixture(params=["sync", "async"])
def finish(request: pytest.FixtureRequest) -> Callable[[Batch], list[ToolResult]]:
    """Runs a batch to its end."""
    if request.param == "sync":
        return lambda batch: batch.run()
    return lambda batch: asyncio.run(batch.arun())


@pytest.fixture
def run(finish, state) -> Callable[..., list[ToolResult]]:
    """Runs calls of a registry through a gate of the test's own."""

    def run_calls(
        tools: Registry, calls: Sequence[Call], *, gate: Gate | None = None, **options: object
    ) -> list[ToolResult]:
        through = gate or Gate(tools.policy(), state=state)
        return finish(tools.batch(through, calls, **options))

    return run_calls
