"""Which results are files of a dense format, known by the path that their call asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headgate.dialects.history import Message, Part
from headgate.dialects.wire import arguments_in
from headgate.history.repeats import PATH_ARGUMENTS


def dense_calls(messages: Sequence[Message], extensions: Sequence[str]) -> frozenset[str]:
    """The ids of the calls that ask for a file with one of these extensions."""
    if not extensions:
        return frozenset()
    endings = tuple(f".{extension}" for extension in extensions)
    return frozenset(part.call_id for part in _calls(messages) if _path(part).endswith(endings))


def _calls(messages: Sequence[Message]) -> Iterator[Part]:
    for message in messages:
        for part in message.parts:
            if part.kind == "call":
                yield part


def _path(call: Part) -> str:
    arguments = arguments_in(call.value)
    path = next((arguments[name] for name in PATH_ARGUMENTS if name in arguments), None)
    return path.lower() if isinstance(path, str) else ""
