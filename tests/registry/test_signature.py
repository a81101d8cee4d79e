import enum
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import annotated_types
import jsonschema
import msgspec
import pydantic
import pytest

from headgate.errors import DeclarationError
from headgate.registry.context import Context
from headgate.registry.signature import signature_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Place:
    line: int
    column: int = 0


class Range(TypedDict):
    first: int
    last: int


class Owner(pydantic.BaseModel):
    name: str


class Issue(pydantic.BaseModel):
    title: str
    owner: Owner | None = None


def schema_of(function):
    return signature_of(function, "tool").schema


@pytest.mark.proves("G1")
def test_a_schema_comes_from_the_annotations():
    def grep(pattern: str, path: str = ".", case: bool = False, most: int = 50): ...

    assert schema_of(grep) == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string", "default": "."},
            "case": {"type": "boolean", "default": False},
            "most": {"type": "integer", "default": 50},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Literal["up", "down"], {"enum": ["down", "up"]}),
        (Colour, {"$ref": "#/$defs/Colour"}),
        (Place, {"$ref": "#/$defs/Place"}),
        (Range, {"$ref": "#/$defs/Range"}),
        (Path, {"type": "string"}),
        (Any, {}),
        (object, {"type": ["string", "number", "boolean", "object", "array", "null"]}),
        (Annotated[int, msgspec.Meta(ge=1)], {"type": "integer", "minimum": 1}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (Annotated[int, annotated_types.Gt(0)], {"type": "integer", "exclusiveMinimum": 0}),
        (
            Annotated[str, pydantic.Field(description="who", max_length=9)],
            {"type": "string", "description": "who", "maxLength": 9},
        ),
    ],
)
def test_types_of_python_msgspec_and_pydantic_have_a_schema(annotation, schema):
    def tool(value): ...

    tool.__annotations__ = {"value": annotation}

    assert schema_of(tool)["properties"] == {"value": schema}


def test_a_pydantic_model_brings_its_own_definitions():
    def open_issue(issue: Issue): ...

    schema = schema_of(open_issue)

    jsonschema.Draft202012Validator.check_schema(schema)
    told = {"issue": {"title": "x", "owner": {"name": "ada"}}}
    jsonschema.validate(told, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"issue": {"title": "x", "owner": {"name": 3}}}, schema)


def test_defaults_are_shown_where_json_has_a_form_for_them():
    def tool(
        where: Path = Path("src"),
        colour: Colour = Colour.RED,
        tags: list[str] = ["a"],  # noqa: B006  # as users write it
        key: object = object(),  # as users write it
        nothing: str | None = None,
    ): ...

    shown = {
        name: schema.get("default", "none")
        for name, schema in schema_of(tool)["properties"].items()
    }

    assert shown == {
        "where": "src",
        "colour": "red",
        "tags": ["a"],
        "key": "none",
        "nothing": "none",
    }


def with_context(first: str, told: Context, last: int = 1): ...


def with_context_perhaps(first: str, last: int = 1, told: Context | None = None): ...


@pytest.mark.parametrize("function", [with_context, with_context_perhaps])
def test_the_context_is_no_argument(function):
    signature = signature_of(function, "tool")

    assert signature.context == "told"
    assert list(signature.schema["properties"]) == ["first", "last"]


def test_a_function_that_takes_anything_says_so():
    def tool(first: str, **rest: object): ...

    signature = signature_of(tool, "tool")

    assert signature.is_open
    assert "additionalProperties" not in signature.schema


class Search:
    """Finds things."""

    def __init__(self, most):
        self.most = most

    def method(self, pattern: str): ...

    def __call__(self, pattern: str, case: bool = False): ...


def test_methods_partials_and_objects_are_functions_too():
    def grep(pattern: str, path: str): ...

    properties = {
        kind: list(schema_of(function)["properties"])
        for kind, function in {
            "method": Search(3).method,
            "partial": functools.partial(grep, path="."),
            "object": Search(3),
        }.items()
    }

    assert properties == {
        "method": ["pattern"],
        "partial": ["pattern"],
        "object": ["pattern", "case"],
    }


@pytest.mark.proves("P20")
def test_what_a_partial_fixes_is_not_the_models_to_see_or_to_change():
    def search(query: str, key: str = "none"): ...

    signature = signature_of(functools.partial(search, key="sk-secret"), "search")

    assert "sk-secret" not in str(signature.schema)
    assert signature.names == ("query",)


def variadic(*patterns: str): ...


def unknown_type(value: "Nowhere"): ...  # noqa: F821  # the point


def two_records(value: Place | Search): ...


def bad_bound(value: Annotated[str, msgspec.Meta(ge=1)]): ...


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (variadic, "'tool' takes \\*patterns; a model gives arguments by name"),
        (unknown_type, "an annotation of 'tool' says nothing: name 'Nowhere' is not defined"),
        (two_records, "'tool' takes what no model can give"),
        (bad_bound, "'tool' takes what no model can give"),
        (min, "'tool' does not say what it takes"),
        (Search.method, "'tool' is a method without its object"),
    ],
)
def test_what_a_model_cannot_give_is_refused_when_it_is_declared(function, why):
    with pytest.raises(DeclarationError, match=why):
        signature_of(function, "tool")
