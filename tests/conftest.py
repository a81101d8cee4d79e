"""What every test shares: how often a property is tried, and a state directory of its own."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from headgate import Policy
from tests.requirements import load

if TYPE_CHECKING:
    from headgate import Gate

EXAMPLES = 200
"""Per property. `make soak N=...` sets HEADGATE_EXAMPLES; an expensive property takes a stated part
of it: `@settings(max_examples=settings.default.max_examples // 10)`."""


def pytest_configure() -> None:
    asked = os.environ.get("HEADGATE_EXAMPLES")
    settings.register_profile(
        "headgate",
        max_examples=int(asked) if asked else EXAMPLES,
        deadline=None,
        # A run in CI repeats exactly; on a desk, and in a soak, each run looks elsewhere.
        derandomize="CI" in os.environ and not asked,
        print_blob=True,
        # A busy machine must not fail a test.
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("headgate")
    _hear_signals()


def _hear_signals() -> None:
    """What `nohup` or a shell in the background tells us to ignore, our programs would, too."""
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rules = load()
    pending = sum(rule.pending is not None for rule in rules)
    terminalreporter.write_line(f"requirements: {len(rules)}, of them {pending} pending")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory that belongs to one test, with no HEADGATE_ variable of the caller's."""
    for name in [name for name in os.environ if name.startswith("HEADGATE_")]:
        monkeypatch.delenv(name)
    directory = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HEADGATE_STATE_DIR", str(directory))
    return directory


@pytest.fixture(params=["sync", "async"])
def gate_with(request: pytest.FixtureRequest, state: Path) -> "Callable[..., Gate | SyncView]":
    """Makes a gate in the test's own state directory; each test runs on both gates."""
    from headgate import Gate

    def make(policy: Policy | None = None, **options: object) -> "Gate | SyncView":
        gate = Gate(policy, state=state, **options)  # type: ignore[arg-type]  # the test's own words
        return gate if request.param == "sync" else SyncView(gate)

    return make


class SyncView:
    """An `AsyncGate` run to completion, so that one test serves both gates."""

    def __init__(self, gate: "Gate") -> None:
        from headgate import AsyncGate

        self.gate = gate
        self.async_gate = AsyncGate(gate)

    def __getattr__(self, name: str) -> object:
        of_async = getattr(self.async_gate, name, None)
        if of_async is None or not asyncio.iscoroutinefunction(of_async):
            return getattr(self.gate, name)
        return lambda *args, **options: asyncio.run(of_async(*args, **options))
