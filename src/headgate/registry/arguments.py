"""A model's arguments: read, checked, and given to the function in the types it declares.

What does not fit is told in words that help the model to write them again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from headgate.registry.signature import Signature, from_json
from headgate.slices import NotJson
from headgate.values import value_of

FIRST_LINE_CHARS = 500
"""What is repeated of a checker's message."""


class BadArguments(Exception):
    """Words for the model that wrote the arguments."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a function is called with."""

    positional: tuple[object, ...]
    named: Mapping[str, object]


def arguments_of(given: object) -> dict[str, object]:
    """The arguments of a call as an object; some providers send them as its text, or none."""
    read = _decoded(given) if isinstance(given, str) else given
    if read is None:
        return {}
    if not isinstance(read, Mapping):
        raise BadArguments(f"the arguments are {_name(read)}; they must be an object")
    return dict(read)


def _decoded(text: str) -> object:
    if not text.strip():
        return None
    try:
        return value_of(text)
    except NotJson as error:
        raise BadArguments(f"the arguments are not JSON: {error}") from None


def bind(
    arguments: Mapping[str, object], signature: Signature, ours: Collection[str] = ()
) -> Bound:
    """Make arguments fit for the function; those in `ours` are the gate's unless it names them."""
    given = {
        name: value
        for name, value in arguments.items()
        if name in signature.names or name not in ours
    }
    given = _without_nulls(given, signature)
    try:
        made = _converted(given, signature)
    except (msgspec.ValidationError, RecursionError, NotImplementedError) as error:
        raise BadArguments(f"{_first_line(error)}. {_takes(signature)}") from None
    values = {name: getattr(made, name) for name in signature.names if name in given}
    extra = {name: value for name, value in given.items() if name not in signature.names}
    positional = tuple(values.pop(name) for name in signature.positional if name in values)
    return Bound(positional, {**extra, **values})


def _converted(given: Mapping[str, object], signature: Signature) -> msgspec.Struct:
    try:
        return _convert(given, signature)
    except msgspec.ValidationError:
        unquoted = _unquoted(given)
        if unquoted == given:
            raise
        return _convert(unquoted, signature)


def _convert(given: Mapping[str, object], signature: Signature) -> msgspec.Struct:
    return msgspec.convert(given, signature.model, strict=False, dec_hook=from_json)


def _unquoted(given: Mapping[str, object]) -> dict[str, object]:
    """Models put an object or a list into a string now and then; tried where it did not fit."""
    return {name: _read(value) for name, value in given.items()}


def _read(value: object) -> object:
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return value_of(value)
    except NotJson:
        return value


def _without_nulls(given: Mapping[str, object], signature: Signature) -> dict[str, object]:
    """What may be left out may be null: strict modes of providers have no other way to say it."""
    return {
        name: value
        for name, value in given.items()
        if value is not None or name not in signature.optional or name in signature.nullable
    }


def _first_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= FIRST_LINE_CHARS else f"{text[:FIRST_LINE_CHARS]}…"


def _takes(signature: Signature) -> str:
    if not signature.names:
        return "It takes no arguments"
    named = [
        f"{name} (may be left out)" if name in signature.optional else name
        for name in signature.names
    ]
    return f"It takes {', '.join(named)}"


def _name(value: object) -> str:
    return {list: "a list", str: "a string", bool: "true or false"}.get(type(value), "a number")
