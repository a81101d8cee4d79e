import asyncio
import inspect
from threading import Event

import pytest

from headgate import AsyncGate, Gate, Policy, tokens
from headgate.async_gate import AsyncResultStream
from headgate.testing import lines, result

NOT_AWAITED = {"journal", "emit"}
"""They touch no disk, and are those of the gate inside."""

BETWEEN_PARTS = {"note_read"}
"""For other parts of the package."""


def calls(of: type) -> set[str]:
    found = inspect.getmembers(of, inspect.isfunction)
    return {name for name, _ in found if not name.startswith("_")}


def test_every_call_of_a_gate_can_be_awaited():
    assert calls(AsyncGate) == calls(Gate) - NOT_AWAITED - BETWEEN_PARTS


@pytest.mark.parametrize("name", sorted(calls(AsyncGate)))
def test_a_call_takes_the_same_arguments_in_both(name):
    ours, theirs = (inspect.signature(getattr(of, name)) for of in (AsyncGate, Gate))

    assert list(ours.parameters) == list(theirs.parameters)


class Ear:
    """In place of a gate: hears what it is asked."""

    def __init__(self):
        self.heard = []

    def __getattr__(self, name):
        return lambda *args, **options: self.heard.append((name, args, options))


@pytest.mark.parametrize("name", sorted(calls(AsyncGate)))
def test_a_call_passes_on_every_argument(name):
    parameters = list(inspect.signature(getattr(AsyncGate, name)).parameters.values())[1:]
    given = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
    options = {p.name: f"a {p.name}" for p in parameters if p.kind is p.KEYWORD_ONLY}
    ear = Ear()

    made = getattr(AsyncGate(ear), name)(*given, **options)
    if inspect.iscoroutine(made):
        asyncio.run(made)

    assert ear.heard == [(name, given, options)]


@pytest.mark.proves("K9")
@pytest.mark.parametrize("size", [3_000, 300_000])
def test_a_result_in_pieces_is_awaited_piece_by_piece(state, size):
    gate = Gate(Policy(error=tokens(300)), state=state)
    text = lines(size).encode()

    async def streamed():
        stream = AsyncGate(gate).stream("call_1", "bash")
        for at in range(0, len(text), 1 << 20):
            await stream.write(text[at : at + (1 << 20)])
        return await stream.close(is_error=True)

    shown = asyncio.run(streamed())

    assert (shown.call_id, shown.is_error) == ("call_1", True)
    assert gate.meter.count(shown.text) <= 300
    assert gate.original(shown.verdict.ref) == text


class Slow:
    """In place of a stream: takes bytes when it is told to."""

    def __init__(self):
        self.begun, self.go_on = Event(), Event()
        self.heard = []

    def write(self, data):
        self.begun.set()
        self.go_on.wait(5)
        self.heard.append(data)

    def close(self, *, is_error):
        self.heard.append(is_error)


@pytest.mark.proves("K9", "P1")
def test_a_stream_is_closed_behind_the_bytes_of_who_no_longer_waits():
    slow = Slow()

    async def story():
        stream = AsyncResultStream(slow)
        writing = asyncio.create_task(stream.write(b"bytes"))
        await asyncio.to_thread(slow.begun.wait, 5)
        writing.cancel()
        closing = asyncio.create_task(stream.close(is_error=True))
        await asyncio.wait({closing}, timeout=0.05)
        slow.go_on.set()
        await closing

    asyncio.run(story())

    assert slow.heard == [b"bytes", True]


@pytest.mark.proves("R16")
def test_what_people_are_shown_is_the_same_in_both(state):
    gate = Gate(Policy(result=tokens(300)), state=state)
    [shown] = gate.admit([result("bash", lines(500))])

    assert asyncio.run(AsyncGate(gate).view(shown)) == gate.view(shown)
