"""What a function takes: a JSON schema for the model, and the model's arguments made fit for it.

Types and checks are msgspec's. Beside its own types, pydantic models and paths can be annotated.
"""

from __future__ import annotations

import functools
import inspect
import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import msgspec

from headgate.errors import DeclarationError
from headgate.registry.context import Context
from headgate.registry.docstring import Described, described

BOUNDS: Final = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern")
"""What an annotation may bound a value with, under the names msgspec and annotated-types share."""

ANYTHING: Final = ("string", "number", "boolean", "object", "array", "null")


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of one tool."""

    description: str
    """Of the tool: its docstring without what it says of single arguments."""
    schema: Mapping[str, object]
    model: type[msgspec.Struct]
    names: tuple[str, ...]
    positional: tuple[str, ...]
    """Those that can only be given by position."""
    optional: frozenset[str]
    nullable: frozenset[str]
    """Those for which null says something."""
    is_open: bool
    """Whether it takes arguments that it does not name."""
    context: str | None
    """The parameter that gets the context."""


def signature_of(function: Callable[..., object], name: str) -> Signature:
    """Read what a function takes; `DeclarationError` where a model could not give it."""
    parameters, hints = _parameters(function, name), _hints(function, name)
    context = next((each for each in parameters if _is_context(hints.get(each))), None)
    taken = {each: kind for each, kind in parameters.items() if each != context}
    known = {each: of for each, of in taken.items() if of.kind is not of.VAR_KEYWORD}
    docs = described(function)
    fields = [_field(each, of, hints.get(each, Any), docs) for each, of in known.items()]
    is_open = len(known) < len(taken)
    try:
        model = msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=not is_open)
        schema = _schema(model, known)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DeclarationError(f"{name!r} takes what no model can give: {error}") from error
    return Signature(
        docs.text,
        schema,
        model,
        tuple(known),
        tuple(each for each, of in known.items() if of.kind is of.POSITIONAL_ONLY),
        frozenset(each for each, of in known.items() if of.default is not of.empty),
        frozenset(each for each in known if _takes_null(hints.get(each, Any))),
        is_open,
        context,
    )


def from_json(kind: type, value: object) -> object:
    """Make a value of a type that msgspec does not know."""
    if kind is object:
        return value
    validate = getattr(kind, "model_validate", None)
    if validate is not None:
        return validate(value)
    if issubclass(kind, pathlib.PurePath) and isinstance(value, str):
        return kind(value)
    raise NotImplementedError(f"{kind.__name__} cannot be made from JSON")


def _parameters(function: Callable[..., object], name: str) -> dict[str, inspect.Parameter]:
    try:
        parameters = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError) as error:
        raise DeclarationError(f"{name!r} does not say what it takes: {error}") from error
    if next(iter(parameters), "") in ("self", "cls"):
        raise DeclarationError(f"{name!r} is a method without its object; declare the object's own")
    for each, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise DeclarationError(f"{name!r} takes *{each}; a model gives arguments by name")
    # What a partial fixes is not the model's to see or to change: it may be a key.
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    return {each: parameter for each, parameter in parameters.items() if each not in fixed}


def _hints(function: Callable[..., object], name: str) -> dict[str, object]:
    annotated = function if inspect.isroutine(function) else _annotated(function)
    try:
        return get_type_hints(annotated, include_extras=True)
    except (NameError, TypeError) as error:
        raise DeclarationError(f"an annotation of {name!r} says nothing: {error}") from error


def _annotated(function: Callable[..., object]) -> object:
    """Where the annotations of an object are that can be called."""
    inner = getattr(function, "func", None)
    return inner if inner is not None else type(function).__call__


def _field(
    name: str, parameter: inspect.Parameter, hint: object, docs: Described
) -> tuple[str, object] | tuple[str, object, object]:
    told = docs.arguments.get(name)
    kind = _bounded(hint)
    if told is not None:
        kind = Annotated[kind, msgspec.Meta(description=told)]
    # The default is the function's own affair: an argument that is not given is not passed.
    return (name, kind) if parameter.default is parameter.empty else (name, kind, None)


def _is_context(hint: object) -> bool:
    return hint is Context or Context in get_args(hint)


def _takes_null(hint: object) -> bool:
    try:
        msgspec.convert(None, hint, dec_hook=from_json)
    except (msgspec.ValidationError, NotImplementedError, TypeError, ValueError):
        return False
    return True


def _bounded(hint: object) -> object:
    """An annotation with what others than msgspec say beside it, in msgspec's words."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *beside = get_args(hint)
    for each in beside:
        for said in [each, *getattr(each, "metadata", ())]:
            kind = Annotated[kind, _meta(said)]
    return kind


def _meta(said: object) -> msgspec.Meta:
    if isinstance(said, msgspec.Meta):
        return said
    if isinstance(said, str):
        return msgspec.Meta(description=said)
    told = getattr(said, "description", None) or getattr(said, "documentation", None)
    bounds = {name: getattr(said, name, None) for name in BOUNDS}
    return msgspec.Meta(
        description=told if isinstance(told, str) else None,
        **{name: bound for name, bound in bounds.items() if bound is not None},
    )


def _schema(
    model: type[msgspec.Struct], parameters: Mapping[str, inspect.Parameter]
) -> dict[str, object]:
    of_others: dict[str, object] = {}

    def of_other(kind: type) -> dict[str, object]:
        return _schema_of_other(kind, of_others)

    [root], components = msgspec.json.schema_components([model], schema_hook=of_other)
    components = dict(components)
    schema: dict[str, object] = components.pop(str(root["$ref"]).rpartition("/")[2])
    schema.pop("title", None)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    for name, parameter in parameters.items():
        _show_default(properties[name], parameter.default)
    definitions = {**components, **of_others}
    return {**schema, "$defs": definitions} if definitions else schema


def _show_default(schema: dict[str, object], default: object) -> None:
    schema.pop("default", None)
    if default is inspect.Parameter.empty or default is None:
        return
    try:
        schema["default"] = msgspec.to_builtins(default, str_keys=True, enc_hook=_to_json)
    except (TypeError, NotImplementedError):
        # What has no JSON is not shown; it holds all the same.
        return


def _to_json(value: object) -> object:
    if isinstance(value, pathlib.PurePath):
        return str(value)
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    raise NotImplementedError(f"{type(value).__name__} has no JSON")


def _schema_of_other(kind: type, definitions: dict[str, object]) -> dict[str, object]:
    if kind is object:
        return {"type": list(ANYTHING)}
    make = getattr(kind, "model_json_schema", None)
    if make is not None:
        schema = dict(make())
        definitions.update(schema.pop("$defs", {}))
        return schema
    if issubclass(kind, pathlib.PurePath):
        return {"type": "string"}
    raise NotImplementedError(f"{kind.__name__} has no JSON schema")
