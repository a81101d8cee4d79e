import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.marker import Marker
from headgate.mcp.form import FREE, form_of, published, relaxed
from headgate.mcp.pare import pare
from headgate.measure.meters import meter_for
from headgate.shape.shaper import Room

ROWS = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
        "total": {"type": "integer"},
        "next": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["rows", "total"],
    "$defs": {
        "Row": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            "required": ["id", "name"],
            "additionalProperties": False,
        }
    },
}
CLOSED = {**ROWS, "additionalProperties": False}


def test_a_schema_that_shortened_results_satisfy_is_published_as_it_is():
    assert published(ROWS) is ROWS


def test_the_schema_of_a_wrapped_text_is_published_as_it_is():
    schema = {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
        "x-fastmcp-wrap-result": True,
    }
    assert published(schema) is schema


def test_what_must_stay_is_known_at_every_depth():
    form = form_of(ROWS)

    assert form is not None
    assert form.required == {"rows", "total"}
    assert form.of("rows").items.required == {"id", "name"}
    assert form.of("elsewhere") == FREE


@pytest.mark.parametrize(
    "narrower",
    [
        {"additionalProperties": False},
        {"additionalProperties": {"type": "integer"}},
        {"maxProperties": 3},
        {"minProperties": 2},
        {"type": "array"},
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"not": {"required": ["a"]}},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"patternProperties": {"^x": {}}},
        {"dependentRequired": {"a": ["b"]}},
        {"properties": {"_omitted": {"type": "integer"}}},
        {"properties": {"url": {"type": "string", "format": "uri"}}},
        {"properties": {"code": {"type": "string", "pattern": "^[A-Z]+$"}}},
        {"properties": {"essay": {"type": "string", "minLength": 65}}},
        {"properties": {"pair": {"type": "array", "minItems": 2}}},
        {"properties": {"pair": {"type": "array", "prefixItems": [{}, {}]}}},
        {"properties": {"word": {"enum": ["x" * 65]}}},
        {"properties": {"list": {"enum": [[1, 2, 3]]}}},
        {"properties": {"far": {"$ref": "https://example.com/schema"}}},
        {"properties": {"gone": {"$ref": "#/$defs/None"}}},
        {
            "$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}}}},
            "allOf": [{"$ref": "#/$defs/N"}],
        },
    ],
    ids=str,
)
def test_a_schema_that_a_shortened_result_may_break_is_not_promised(narrower):
    schema = {"type": "object", **narrower}

    assert form_of(schema) is None
    assert published(schema) == relaxed(schema)


def test_a_relaxed_schema_takes_what_it_took_and_what_says_that_it_is_shortened():
    validator = jsonschema.Draft202012Validator(relaxed(CLOSED))

    assert validator.is_valid({"rows": [{"id": 1, "name": "a"}], "total": 1})
    assert validator.is_valid({"_omitted": "[2 of 3 chars omitted #abcd]", "rows": []})
    assert not validator.is_valid({"rows": [{"id": "1"}], "total": 1})
    assert not validator.is_valid({"rows": []})


def test_references_of_a_relaxed_schema_still_lead_somewhere():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"$ref": "#/properties/a"},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
        "additionalProperties": False,
    }
    validator = jsonschema.Draft202012Validator(relaxed(schema))

    assert validator.is_valid({"a": 1, "b": 2, "children": [{"b": 3}]})
    assert not validator.is_valid({"b": "2"})
    assert not validator.is_valid({"children": [{"b": "3"}]})


def test_a_schema_itself_is_not_changed():
    before = repr(CLOSED)
    relaxed(CLOSED)
    assert repr(CLOSED) == before


SCALARS = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "maxLength": 2_000},
        {"type": "string", "enum": ["yes", "no", "x" * 64]},
        {"type": "integer", "minimum": 0},
        {"type": ["string", "null"]},
        {"type": "string", "pattern": "^x*$"},
        {"type": "string", "format": "date"},
        {},
    ]
)
SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(lambda items, least: {"type": "array", "items": items} | least, inner,
                  st.sampled_from([{}, {}, {"minItems": 1}])),
        st.builds(
            lambda of, closed: {
                "type": "object",
                "properties": of,
                "required": sorted(of)[::2],
                **closed,
            },
            st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4),
            st.sampled_from([{}, {}, {"additionalProperties": False}]),
        ),
        st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner),
    ),
    max_leaves=8,
)  # fmt: skip


def value_of(schema, draw):
    """A value that satisfies a schema, with much in it."""
    if "anyOf" in schema:
        return value_of(schema["anyOf"][draw(st.integers(0, 1))], draw)
    if "enum" in schema:
        return schema["enum"][draw(st.integers(0, 2))]
    if schema.get("format") == "date":
        return "2026-11-15"
    kind = schema.get("type", "string")
    if kind == "array":
        many = draw(st.integers(schema.get("minItems", 0), 30))
        return [value_of(schema["items"], draw)] * many
    if kind == "object":
        own = {name: value_of(each, draw) for name, each in schema["properties"].items()}
        return own | ({} if "additionalProperties" in schema else {"more": "y" * 300})
    return 7 if kind == "integer" else "x" * draw(st.integers(0, 1_500))


@pytest.mark.proves("P2")
@settings(max_examples=settings.default.max_examples // 8)
@given(schema=SCHEMAS.filter(lambda s: s.get("type") == "object"), data=st.data())
def test_whatever_is_shortened_satisfies_the_schema_that_was_published(schema, data):
    value = value_of(schema, data.draw)
    form = form_of(schema)
    room = Room(data.draw(st.sampled_from([128, 200, 400])), meter_for("chars/4", "tokens"))

    pared = pare(value, room, Marker("abcd", "r_aaaaaaaaaaaa"), form or FREE)

    jsonschema.Draft202012Validator(schema).validate(value)
    jsonschema.Draft202012Validator(dict(published(schema))).validate(pared)
