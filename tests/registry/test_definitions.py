import json

import jsonschema
import pytest

from headgate import Gate, Policy, Registry
from headgate.marker import MarkerStyle
from headgate.tool import DIALECTS, definition

SCHEMA = {
    "type": "object",
    "properties": {"pattern": {"type": "string"}},
    "required": ["pattern"],
    "additionalProperties": False,
}


def grep(pattern: str) -> str:
    """Finds lines."""


@pytest.mark.proves("G1")
@pytest.mark.parametrize(
    ("dialect", "told"),
    [
        ("anthropic", {"name": "grep", "description": "Finds lines.", "input_schema": SCHEMA}),
        (
            "openai-chat",
            {
                "type": "function",
                "function": {"name": "grep", "description": "Finds lines.", "parameters": SCHEMA},
            },
        ),
        (
            "openai-responses",
            {
                "type": "function",
                "name": "grep",
                "description": "Finds lines.",
                "parameters": SCHEMA,
                "strict": False,
            },
        ),
        (
            "gemini",
            {"name": "grep", "description": "Finds lines.", "parametersJsonSchema": SCHEMA},
        ),
        ("mcp", {"name": "grep", "description": "Finds lines.", "inputSchema": SCHEMA}),
    ],
)
def test_a_tool_is_told_as_each_provider_wants_it(dialect, told):
    assert Registry([grep]).definitions(dialect) == [told, definition(dialect)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_definitions_are_json(dialect):
    told = Registry([grep]).definitions(dialect)

    assert json.loads(json.dumps(told)) == told
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "policy",
    [Policy(spill=False), Policy(marker=MarkerStyle(reader="cli"))],
    ids=["nothing is kept", "read back in another way"],
)
def test_read_result_is_told_only_where_markers_speak_of_it(policy):
    assert [each["name"] for each in Registry([grep]).definitions("anthropic", policy)] == ["grep"]


def test_a_definition_is_the_same_bytes_each_time(state):
    tools = Registry([grep])
    told = json.dumps(tools.definitions("anthropic"))
    tools.run_batch(Gate(state=state), [])

    assert json.dumps(tools.definitions("anthropic")) == told


def test_who_changes_a_definition_changes_no_tool():
    tools = Registry([grep])
    tools.definitions("anthropic")[0]["input_schema"]["properties"].clear()

    assert tools.definitions("anthropic")[0]["input_schema"] == SCHEMA
