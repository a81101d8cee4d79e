"""Output schemas: what a shortened `structuredContent` must still have, and what is published.

A client checks each result against the schema that `tools/list` gave it, so a schema is never
promised that a shortened result could break. A *pliable* schema is published as it is: whatever
satisfies it still does with shorter strings and arrays, without optional members, and with one more
member, the marker. Any other is published as "this, or a shortened form of it".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headgate.marker import OMITTED_KEY

KEPT_CHARS = 64
"""A string up to this length is never cut: enumerated words, dates and ids stay what they are."""

SHORT_FORMATS = frozenset({"date", "date-time", "time", "duration", "uuid", "ipv4", "ipv6"})
"""Formats whose values are shorter than `KEPT_CHARS`."""

HARMLESS = frozenset(
    {
        *("$comment", "$defs", "$schema", "default", "definitions", "deprecated", "description"),
        *("examples", "readOnly", "title", "type", "writeOnly"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("maxItems", "maxLength", "maxProperties", "uniqueItems"),
    }
)
"""Keywords that no shortening can turn against a value."""

SHORTENED: Mapping[str, object] = {
    "type": "object",
    "properties": {
        OMITTED_KEY: {
            "type": "string",
            "description": "What is missing in this shortened result, and how to read it.",
        }
    },
    "required": [OMITTED_KEY],
}


@dataclass(frozen=True, slots=True)
class Form:
    """What of a value must stay for it to satisfy its schema."""

    required: frozenset[str] = frozenset()
    members: Mapping[str, Form] = field(default_factory=dict)
    others: Form | None = None
    """Of members that have no form of their own, and of the items of an array."""

    def of(self, name: str) -> Form:
        """The form of a member."""
        return self.members.get(name, self.others or FREE)

    @property
    def items(self) -> Form:
        """The form of an array's items."""
        return self.others or FREE


FREE = Form()


class _Tight(Exception):
    """A keyword that a shortened value may break."""


def published(schema: Mapping[str, object]) -> Mapping[str, object]:
    """The schema that a client is shown: itself if it is pliable, else with a way out beside it."""
    return schema if form_of(schema) is not None else relaxed(schema)


def form_of(schema: Mapping[str, object]) -> Form | None:
    """What must stay of a value of a pliable schema; None: it is not pliable."""
    additional = schema.get("additionalProperties", True)
    is_open = additional is True or additional == {}
    if schema.get("type") != "object" or not is_open or "maxProperties" in schema:
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and OMITTED_KEY in properties:
        return None
    try:
        return _form(schema, schema, ())
    except _Tight:
        return None


def relaxed(schema: Mapping[str, object]) -> dict[str, object]:
    """The schema, or a shortened form of it; what it refers to stays where it is found."""
    kept = {
        name: value
        for name, value in schema.items()
        if name in ("$schema", "$defs", "definitions", "title", "description")
        or name.startswith("x-")
    }
    inner = {name: value for name, value in schema.items() if name not in kept}
    moved = {
        name: _moved(value) for name, value in kept.items() if name in ("$defs", "definitions")
    }
    return {**kept, **moved, "type": "object", "anyOf": [_moved(inner), dict(SHORTENED)]}


def _moved(value: object) -> object:
    """The same with references to what is now one level deeper."""
    if isinstance(value, list):
        return [_moved(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    moved = {name: _moved(item) for name, item in value.items()}
    ref = value.get("$ref")
    if isinstance(ref, str) and ref.startswith("#"):
        is_kept = ref.startswith(("#/$defs/", "#/definitions/"))
        # An anchor is found wherever it stands; only a pointer says where.
        is_pointer = ref == "#" or ref.startswith("#/")
        moved["$ref"] = ref if is_kept or not is_pointer else f"#/anyOf/0{ref[1:]}"
    return moved


def _form(schema: object, root: Mapping[str, object], seen: tuple[str, ...]) -> Form:
    if schema is True:
        return FREE
    if not isinstance(schema, Mapping):
        raise _Tight
    forms = []
    for name, value in schema.items():
        if name in HARMLESS or name.startswith("x-"):
            continue
        if name == "$ref":
            forms.append(_referred(value, root, seen))
        elif name in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            # Of `oneOf`, a shortened value might satisfy a second branch.
            if name == "oneOf" and len(value) > 1:
                raise _Tight
            forms += [_form(each, root, seen) for each in value]
        elif name not in _CHECKS or not _CHECKS[name](value):
            raise _Tight
    forms.append(_own(schema, root, seen))
    return _together(forms)


def _own(schema: Mapping[str, object], root: Mapping[str, object], seen: tuple[str, ...]) -> Form:
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise _Tight
    required = schema.get("required", [])
    if not isinstance(required, list):
        raise _Tight
    others = [
        _form(schema[name], root, seen)
        for name in ("additionalProperties", "items")
        if schema.get(name, False) is not False
    ]
    return Form(
        frozenset(str(name) for name in required),
        {str(name): _form(each, root, seen) for name, each in properties.items()},
        _together(others) if others else None,
    )


def _referred(ref: object, root: Mapping[str, object], seen: tuple[str, ...]) -> Form:
    """What a reference points at; one that leads back to itself may need any depth."""
    if not isinstance(ref, str) or not ref.startswith("#/") or ref in seen:
        raise _Tight
    found: object = root
    for step in ref[2:].split("/"):
        if not isinstance(found, Mapping) or step not in found:
            raise _Tight
        found = found[step]
    return _form(found, root, (*seen, ref))


def _together(forms: list[Form]) -> Form:
    """What satisfies all of them."""
    if len(forms) == 1:
        return forms[0]
    names = {name for form in forms for name in form.members}
    others = [form.others for form in forms if form.others is not None]
    return Form(
        frozenset().union(*(form.required for form in forms)),
        {
            name: _together([form.members[name] for form in forms if name in form.members])
            for name in names
        },
        _together(others) if others else None,
    )


def _short_words(value: object) -> bool:
    """Whether no enumerated value can be cut; anything but a string or a scalar might be."""
    words = value if isinstance(value, list) else [value]
    return all(not isinstance(w, list | Mapping) and len(str(w)) <= KEPT_CHARS for w in words)


_CHECKS: Mapping[str, Callable[[object], bool]] = {
    "additionalProperties": lambda value: True,
    "const": _short_words,
    "enum": _short_words,
    "format": lambda value: value in SHORT_FORMATS,
    "items": lambda value: isinstance(value, Mapping | bool),
    "minItems": lambda value: value == 0,
    "minLength": lambda value: isinstance(value, int) and value <= KEPT_CHARS,
    "minProperties": lambda value: value == 0,
    "properties": lambda value: True,
    "required": lambda value: True,
}
