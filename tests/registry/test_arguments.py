from contextlib import suppress
from pathlib import Path

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.registry.arguments import BadArguments, Bound, arguments_of, bind
from headgate.registry.signature import signature_of


class Owner(pydantic.BaseModel):
    name: str


def grep(pattern: str, path: Path = Path(), *, most: int = 50, tags: list[str] | None = None): ...


GREP = signature_of(grep, "grep")


@pytest.mark.proves("G1")
@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ("null", {}),
        (None, {}),
    ],
)
def test_arguments_come_as_an_object_or_as_its_text(given, read):
    assert arguments_of(given) == read


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ('{"a": 1', "the arguments are not JSON: Input data was truncated"),
        ("[1]", "the arguments are a list; they must be an object"),
        ([1], "the arguments are a list; they must be an object"),
        (3, "the arguments are a number; they must be an object"),
        ('"x"', "the arguments are a string; they must be an object"),
        ("3", "the arguments are a number; they must be an object"),
        ("true", "the arguments are true or false; they must be an object"),
        ('{"a": "\ud800"}', "the arguments are not JSON"),
        ("[" * 100_000, "the arguments are not JSON"),
    ],
)
def test_arguments_that_cannot_be_read_are_told_in_words(given, why):
    with pytest.raises(BadArguments) as told:
        arguments_of(given)

    assert str(told.value).startswith(why)


@pytest.mark.proves("G1")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"pattern": "x"}, {"pattern": "x"}),
        ({"pattern": "x", "path": "src"}, {"pattern": "x", "path": Path("src")}),
        ({"pattern": "x", "most": "7"}, {"pattern": "x", "most": 7}),
        ({"pattern": "x", "most": 7.0}, {"pattern": "x", "most": 7}),
        ({"pattern": "x", "most": None}, {"pattern": "x"}),
        ({"pattern": "x", "tags": None}, {"pattern": "x", "tags": None}),
        ({"pattern": "x", "tags": '["a", "b"]'}, {"pattern": "x", "tags": ["a", "b"]}),
        ({"pattern": '["a"]'}, {"pattern": '["a"]'}),
    ],
)
def test_arguments_are_made_fit_for_the_function(arguments, named):
    assert bind(arguments, GREP) == Bound((), named)


@pytest.mark.proves("G1")
@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "Object missing required field `pattern`"),
        ({"pattern": 3}, "Expected `str`, got `int` - at `$.pattern`"),
        ({"pattern": "x", "most": "many"}, "Expected `int`, got `str` - at `$.most`"),
        ({"pattern": "x", "deep": True}, "Object contains unknown field `deep`"),
        ({"pattern": "x", "tags": "[1"}, "Expected `array | null`, got `str` - at `$.tags`"),
    ],
)
def test_what_does_not_fit_is_told_with_what_would(arguments, why):
    with pytest.raises(BadArguments) as told:
        bind(arguments, GREP)

    takes = (
        "It takes pattern, path (may be left out), most (may be left out), tags (may be left out)"
    )
    assert str(told.value) == f"{why}. {takes}"


def test_arguments_of_the_gate_go_past_a_tool_that_does_not_name_them():
    asked = {"pattern": "x", "max_tokens": 500, "page": 2}

    assert bind(asked, GREP, {"max_tokens", "page"}) == Bound((), {"pattern": "x"})


def test_arguments_of_the_gate_are_the_tools_where_it_names_them():
    def ask(prompt: str, max_tokens: int): ...

    asked = {"prompt": "x", "max_tokens": 500}

    assert bind(asked, signature_of(ask, "ask"), {"max_tokens"}) == Bound((), asked)


def test_arguments_by_position_and_by_any_name_are_passed_on():
    def tool(first: int, second: int = 2, /, **rest: object): ...

    signature = signature_of(tool, "tool")

    assert bind({"first": "1", "x": [1]}, signature) == Bound((1,), {"x": [1]})
    assert bind({"second": 5, "first": 1}, signature) == Bound((1, 5), {})


def test_a_pydantic_model_checks_its_own_values():
    def tool(owner: Owner): ...

    signature = signature_of(tool, "tool")

    assert bind({"owner": {"name": "ada"}}, signature) == Bound((), {"owner": Owner(name="ada")})
    with pytest.raises(BadArguments, match=r"name Field required .* at `\$.owner`"):
        bind({"owner": {}}, signature)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@settings(max_examples=settings.default.max_examples // 4)
@given(st.dictionaries(st.sampled_from(["pattern", "path", "most", "tags", "x"]), JSON))
def test_any_arguments_are_bound_or_told_in_words(arguments):
    with suppress(BadArguments):
        bound = bind(arguments, GREP)
        assert isinstance(bound.named["pattern"], str)
        assert isinstance(bound.named.get("most", 0), int)
