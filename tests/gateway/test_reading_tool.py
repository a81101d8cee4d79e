import json

import pytest

from headgate import Policy
from headgate.gateway.reading_tool import reading_tool, with_tool
from headgate.gateway.serving import Serving
from headgate.policy import ToolRule
from headgate.presets import preset
from headgate.tool import definition

DECLARED = {
    "anthropic": [definition("anthropic")],
    "openai-chat": [definition("openai-chat")],
    "openai-responses": [definition("openai-responses")],
    "gemini": [{"functionDeclarations": [{"name": "ls"}, definition("gemini")]}],
}


def body(tools):
    return json.dumps({"messages": [], "tools": tools}).encode()


@pytest.mark.parametrize("dialect", DECLARED)
def test_our_tool_is_found_where_each_dialect_declares_it(dialect):
    assert reading_tool(body(DECLARED[dialect])) == "read_result"


def test_our_tool_is_found_under_the_name_a_client_gave_it():
    tool = {**definition("anthropic"), "name": "mcp__headgate__read_result"}

    assert reading_tool(body([{"name": "ls"}, tool])) == "mcp__headgate__read_result"


@pytest.mark.parametrize(
    "tools",
    [
        [],
        None,
        "read_result",
        [{"name": "read_result", "description": "Reads a result of an election."}],
        [{**definition("anthropic"), "name": "read_result}{0}"}],
        [{**definition("anthropic"), "name": "x" * 100 + "read_result"}],
        [{**definition("anthropic"), "name": 7}],
        [[[[[[[[[[definition("anthropic")]]]]]]]]]],
    ],
)
def test_what_only_looks_like_our_tool_is_none(tools):
    assert reading_tool(body(tools)) == ""


@pytest.mark.parametrize(
    "raw", [b"read_result", b'{"tools": [read_result', b"[" * 100_000 + b"read_result", b"\xff"]
)
def test_what_is_no_request_has_no_tool(raw):
    assert reading_tool(raw) == ""


def test_answers_of_our_tool_are_never_shortened_again():
    policy = with_tool(Policy(), "mcp__x__read_result")

    assert policy.tools["mcp__x__read_result"] == ToolRule(exempt=True)


def test_markers_name_the_file_and_then_the_tool():
    files = Serving().for_files()
    assert files.marker.reader == "file"
    assert files.marker.file == "the whole is in {path}"

    assert with_tool(files, "read_result").marker.file == (
        'the whole is in {path}; read_result(ref="{ref}", lines="401-800") reads it by lines'
    )


@pytest.mark.parametrize("name", ["ethos", "claude_code", "delta"])
def test_a_preset_with_markers_of_its_own_keeps_them(name):
    policy = preset(name)

    assert policy.marker.reader != "tool"
    assert Serving(policy=policy).for_files().marker == policy.marker
