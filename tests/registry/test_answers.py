import asyncio
import enum
from collections import deque
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType

import msgspec
import pydantic
import pytest

from headgate import Call, Json, Media, Text, ToolResult, tokens
from headgate.registry.answers import answered, end_of, result_of, unknown
from headgate.registry.course import Cancelled, Raised, Returned, TimedOut

CALL = Call("call_1", "grep", {"pattern": "x"})


@dataclass
class Hit:
    line: int
    where: Path


class Struct(msgspec.Struct):
    line: int


class Model(pydantic.BaseModel):
    line: int
    day: date = date(2026, 11, 15)


class Level(enum.Enum):
    HIGH = "high"


@pytest.mark.proves("R1")
@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        ("text", (Text("text"),)),
        (b"bytes", (Text("bytes"),)),
        (None, (Text(""),)),
        (3, (Json("3"),)),
        (True, (Json("true"),)),
        ({"a": [1, 2]}, (Json('{"a": [1, 2]}'),)),
        ([{"a": 1}], (Json('[{"a": 1}]'),)),
        (
            {
                1,
            },
            (Json("[1]"),),
        ),
        (Hit(3, Path("a.py")), (Json('{"line": 3, "where": "a.py"}'),)),
        ([Hit(3, Path("a.py"))], (Json('[{"line": 3, "where": "a.py"}]'),)),
        (Struct(3), (Json('{"line": 3}'),)),
        (Model(line=3), (Json('{"line": 3, "day": "2026-11-15"}'),)),
        ({"best": Model(line=3)}, (Json('{"best": {"line": 3, "day": "2026-11-15"}}'),)),
        (
            {"level": Level.HIGH, 7: date(2026, 1, 2)},
            (Json('{"level": "high", "7": "2026-01-02"}'),),
        ),
        (MappingProxyType({"a": 1}), (Json('{"a": 1}'),)),
        ({"odd": deque([1])}, (Json('{"odd": "deque([1])"}'),)),
        ([Text("a"), Media("image", 1)], (Text("a"), Media("image", 1))),
        (Json("[1]"), (Json("[1]"),)),
        (Model, (Text(str(Model)),)),
        (date(2026, 1, 2), (Text("2026-01-02"),)),
        (Path("a.py"), (Text("a.py"),)),
    ],
)
def test_whatever_a_tool_returns_is_text_blocks_or_json(value, blocks):
    result = result_of(CALL, {"pattern": "x"}, value)

    assert result == ToolResult("call_1", "grep", blocks, arguments={"pattern": "x"})


def test_a_result_made_by_the_tool_keeps_what_it_says_but_not_whose_it_is():
    made = ToolResult(
        "other", "other", (Text("x"),), is_error=True, declared=tokens(500), origin="store"
    )

    assert result_of(CALL, {}, made) == ToolResult(
        "call_1", "grep", (Text("x"),), is_error=True, arguments={}, declared=tokens(500)
    )


@pytest.mark.parametrize("blocks", [["text"], [Text(3)], [None]])
def test_blocks_that_are_none_are_refused_before_they_fail_a_batch(blocks):
    with pytest.raises(TypeError, match="blocks are Text, Json or Media"):
        result_of(CALL, {}, ToolResult("", "", blocks))
    with pytest.raises(TypeError, match="blocks are Text, Json or Media"):
        result_of(CALL, {}, [Text("a"), Text(3)])


def test_a_value_without_a_json_form_is_shown_as_its_text():
    around = []
    around.append(around)

    assert result_of(CALL, {}, {(1, 2): "x"}).text == "{(1, 2): 'x'}"
    assert result_of(CALL, {}, around).text == "[[...]]"


def test_something_to_await_is_no_result():
    result = result_of(CALL, {}, asyncio.sleep(0))

    assert (result.text, result.is_error) == ("grep failed: it returned something to await", True)


@pytest.mark.proves("R12")
@pytest.mark.parametrize(
    ("end", "word", "line", "text"),
    [
        (Returned("x"), "returned", "", "x"),
        (
            Raised(ValueError("no\nluck")),
            "failed",
            "ValueError: no",
            "grep failed: ValueError: no\nluck",
        ),
        (
            Raised(asyncio.CancelledError()),
            "failed",
            "CancelledError",
            "grep failed: CancelledError",
        ),
        (
            TimedOut(90.0),
            "timed_out",
            "did not finish within 90 s",
            "grep did not finish within 90 s. Its outcome is unknown: it may or may not have "
            "taken effect. Do not repeat it blindly; first find out how things stand.",
        ),
        (
            Cancelled("", was_running=False),
            "cancelled",
            "",
            "grep was not run: the batch was cancelled.",
        ),
    ],
)
def test_every_end_has_a_word_a_line_and_a_text(end, word, line, text):
    result = answered(CALL, {}, end)

    assert end_of(end) == (word, line)
    assert (result.text, result.is_error) == (text, word != "returned")


def test_a_tool_that_is_not_there_is_answered_with_those_that_are():
    few = unknown(Call("c", "shell"), ["bash", "grep"])
    many = unknown(Call("c", "x"), [f"tool_{i:02}" for i in range(60)])

    assert few == "there is no tool 'shell'. There are: bash, grep"
    assert many.endswith("tool_48, tool_49, …")
    assert unknown(Call("c", "x"), []) == "there is no tool 'x'. There are: none"
