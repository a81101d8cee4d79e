"""The tool's definition is a contract: a change of one byte breaks every cache it stands in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anthropic.types
import jsonschema
import openai.types.chat
import openai.types.responses
import pytest
from google.genai import types as gemini_types
from pydantic import ConfigDict, TypeAdapter

from headgate.measure.meters import meter_for
from headgate.read.request import NAMES, request_of
from headgate.tool import ARGUMENTS, DESCRIPTION, DIALECTS, NAME, SQL_ARGUMENTS, definition, schema

pytestmark = pytest.mark.proves("K6", "R15")

GOLDEN = Path(__file__).parent / "golden" / "read_result.json"

PRINTING = """
import json
from headgate.tool import DIALECTS, definition
made = {dialect: definition(dialect) for dialect in DIALECTS}
print(json.dumps(made, indent=2, ensure_ascii=False))
"""


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_the_definition_has_the_same_bytes_in_every_process(seed):
    ran = subprocess.run(
        [sys.executable, "-c", PRINTING],
        env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert ran.stdout == GOLDEN.read_bytes()


def test_a_definition_is_a_copy_of_its_own():
    changed = definition("anthropic")
    changed["input_schema"] = {}

    assert definition("anthropic")["input_schema"] != {}


def schema_of(dialect: str) -> dict[str, object]:
    made = definition(dialect)  # type: ignore[arg-type]
    if dialect == "openai-chat":
        return made["function"]["parameters"]
    key = {"anthropic": "input_schema", "mcp": "inputSchema"}.get(dialect, "parameters")
    return made[key]


CALLS = [
    {"ref": "r_1f3a9c7be20d"},
    {"ref": "r_1f3a9c7be20d", "lines": "401-800"},
    {"ref": "r_1f3a9c7be20d", "search": "error", "lines": "1-500"},
    {"tool": "grep", "path": "$.items[3]", "page": 2, "page_size": 10},
    {"bytes": "1048576-", "max_tokens": 2_000},
]


@pytest.mark.parametrize("dialect", ["anthropic", "mcp"])
@pytest.mark.parametrize("call", CALLS)
def test_the_schema_takes_what_can_be_asked(dialect, call):
    schema = schema_of(dialect)
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(call, schema)
    request_of(call)


@pytest.mark.parametrize("dialect", ["anthropic", "mcp"])
@pytest.mark.parametrize("call", [{"lines": 5}, {"offset": 3}, {"page": "two"}])
def test_the_schema_refuses_what_cannot(dialect, call):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(call, schema_of(dialect))


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize("call", CALLS)
def test_strict_mode_gets_every_argument_required_and_nullable(dialect, call):
    schema = schema_of(dialect)
    jsonschema.Draft202012Validator.check_schema(schema)

    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    keywords = {key for each in schema["properties"].values() for key in each}
    assert keywords == {"type", "description"}
    jsonschema.validate({**dict.fromkeys(ARGUMENTS), **call}, schema)
    assert request_of({**dict.fromkeys(ARGUMENTS), **call}) == request_of(call)


def test_the_types_of_the_clients_take_the_definitions():
    strictly = ConfigDict(extra="forbid")
    for declared, dialect in [
        (anthropic.types.ToolParam, "anthropic"),
        (openai.types.chat.ChatCompletionFunctionToolParam, "openai-chat"),
        (openai.types.responses.FunctionToolParam, "openai-responses"),
    ]:
        made = definition(dialect)
        assert TypeAdapter(with_config(declared, strictly)).validate_python(made) == made


def with_config(declared: type, config: ConfigDict) -> type:
    return type(declared.__name__, (declared,), {"__pydantic_config__": config})


def test_gemini_takes_the_declaration():
    declared = gemini_types.FunctionDeclaration.model_validate(definition("gemini"))

    assert declared.name == NAME
    assert {name: each.type.name for name, each in declared.parameters.properties.items()} == {
        name: kind.upper() for name, (kind, _) in ARGUMENTS.items()
    }


def test_an_mcp_client_learns_that_it_only_reads():
    assert definition("mcp")["annotations"] == {
        "title": "Read a shortened result",
        "readOnlyHint": True,
        "openWorldHint": False,
    }


def test_the_tool_takes_exactly_what_a_request_takes():
    assert set(SQL_ARGUMENTS) == set(NAMES)
    assert set(ARGUMENTS) == set(NAMES) - {"sql"}


def test_queries_are_offered_where_they_are_answered():
    offered = definition("anthropic", sql=True)["input_schema"]["properties"]

    assert list(offered)[-1] == "sql"
    assert "sql" not in definition("anthropic")["input_schema"]["properties"]


def test_a_framework_that_defines_tools_itself_gets_the_same_arguments():
    assert schema() == definition("anthropic")["input_schema"]
    assert schema(sql=True) == definition("mcp", sql=True)["inputSchema"]
    assert schema(strict=True) == definition("openai-responses")["parameters"]


def test_the_example_in_the_description_can_be_asked():
    assert 'read_result(ref="r_...", lines="401-800")' in DESCRIPTION
    assert request_of({"lines": "401-800"}).lines is not None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_definition_costs_few_tokens(dialect):
    assert meter_for("o200k", "tokens").count(json.dumps(definition(dialect))) <= 500


def test_an_unknown_dialect_is_named():
    with pytest.raises(ValueError, match="dialect is 'cohere'; there is anthropic, openai-chat"):
        definition("cohere")  # type: ignore[arg-type]
