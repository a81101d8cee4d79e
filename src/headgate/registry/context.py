"""What a running tool can know and say: its share, how far it is, and that it should stop."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Signal

from headgate.events import Audience, Progress
from headgate.locks import Guard
from headgate.types import Amount, Call

MAKING = Guard()
"""Held for the instant in which a signal is made or set."""


class Context:
    """Given to a tool that has a parameter annotated with this class; it is no argument of a call.

    Every method may be called from any thread.
    """

    def __init__(self, call: Call, share: Amount | None, tell: Callable[[Progress], None]) -> None:
        self.call = call
        self.share = share
        """The most the result may be and go in whole; None: nothing bounds it."""
        self._tell = tell
        self._made_stop: Signal | None = None
        self._stopped = False
        self._over = False

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more: cancelled, or out of time."""
        return self._stopped

    def wait(self, seconds: float) -> bool:
        """Sleep, but no longer than until the call is cancelled; says whether it is."""
        return self._stop.wait(seconds)

    @property
    def _stop(self) -> Signal:
        """Made when it is first waited for: most tools never do."""
        with MAKING.lock:
            if self._made_stop is None:
                self._made_stop = Signal()
                if self._stopped:
                    self._made_stop.set()
            return self._made_stop

    def progress(self, message: str, *, audience: Audience = "user") -> None:
        """Say how far the tool is; after its call was answered, nobody hears it."""
        if not self._over:
            self._tell(Progress(self.call.call_id, self.call.tool, message, audience))

    def stop(self) -> None:
        """Tell the tool that nobody waits any more."""
        self._over = True
        with MAKING.lock:
            self._stopped = True
            if self._made_stop is not None:
                self._made_stop.set()

    def close(self) -> None:
        """The call has its answer: what the tool says from now on is not passed on."""
        self._over = True
