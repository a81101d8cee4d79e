import json

import pytest

from headgate.dialects import gemini
from headgate.errors import HistoryError
from headgate.types import Json, Media, Text


def part(value):
    return gemini.part(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"text": "x"}, "text"),
        ({"text": "x", "thought": True}, "thinking"),
        ({"text": "", "thoughtSignature": "s"}, "text"),
        ({"functionCall": {"name": "n"}}, "call"),
        ({"function_call": {"name": "n"}}, "call"),
        ({"functionResponse": {"name": "n", "response": {}}}, "result"),
        ({"function_response": {"name": "n", "response": {}}}, "result"),
        ({"inlineData": {}}, "media"),
        ({"file_data": {}}, "media"),
        ({"executableCode": {}}, "server_call"),
        ({"code_execution_result": {}}, "server_result"),
        ({"novel2031": 1}, "other"),
    ],
)
def test_parts_are_known_in_both_spellings(value, kind):
    assert part(value).kind == kind


@pytest.mark.parametrize(
    ("role", "read"),
    [("user", "user"), ("model", "assistant"), ("function", "user"), (None, "user")],
)
def test_a_turn_without_a_role_is_the_users(role, read):
    turn = {"parts": []} if role is None else {"role": role, "parts": []}

    assert gemini.message(json.dumps(turn).encode()).role == read


@pytest.mark.parametrize(
    ("response", "blocks", "is_error"),
    [
        ({"result": "x"}, (Text("x"),), False),
        ({"output": "x"}, (Text("x"),), False),
        ({"error": "x"}, (Text("x"),), True),
        ({"rows": [1]}, (Json('{"rows": [1]}'),), False),
        ({"output": "x", "n": 1}, (Json('{"output": "x", "n": 1}'),), False),
    ],
)
def test_a_response_is_its_one_text_or_structured(response, blocks, is_error):
    result = part({"functionResponse": {"name": "n", "response": response}})

    assert gemini.tool_result(result, None).blocks == blocks
    assert result.is_error is is_error


@pytest.mark.parametrize(
    ("response", "text", "changed"),
    [
        ({"output": "x"}, "new", {"output": "new"}),
        ({"error": "x"}, "new", {"error": "new"}),
        ({"rows": [1]}, '{"rows": 1}', {"rows": 1}),
        ({"rows": [1]}, "new", {"result": "new"}),
        ({"rows": [1], "error": 1}, "new", {"error": "new"}),
    ],
)
def test_another_text_stays_in_the_form_of_the_response(response, text, changed):
    result = part({"functionResponse": {"name": "n", "response": response, "x": 1}})

    said = json.loads(gemini.with_text(result, text).raw)["functionResponse"]

    assert said == {"name": "n", "response": changed, "x": 1}


def test_media_of_a_response_pass_untouched():
    media = {"inlineData": {"data": "QQ=="}}
    result = part(
        {"functionResponse": {"name": "n", "response": {"result": "x"}, "parts": [media]}}
    )

    assert gemini.tool_result(result, None).blocks == (
        Text("x"),
        Media("opaque", json.dumps(media).encode()),
    )
    assert json.dumps(media).encode() in gemini.with_text(result, "new").raw


@pytest.mark.proves("H4")
def test_a_signature_stays_with_its_part():
    call = part({"functionCall": {"name": "n", "id": "a"}, "thoughtSignature": "s"})

    assert json.loads(gemini.with_id(call, "b").raw) == {
        "functionCall": {"name": "n", "id": "b"},
        "thoughtSignature": "s",
    }


def test_a_result_takes_name_and_id_of_its_call_and_an_id_only_if_there_is_one():
    named = part({"functionCall": {"name": "n", "id": "a"}})
    nameless = part({"functionCall": {"name": "n"}})
    result = part({"functionResponse": {"name": "m", "response": {}}})

    assert json.loads(gemini.answering(result, named).raw)["functionResponse"] == {
        "name": "n",
        "response": {},
        "id": "a",
    }
    assert json.loads(gemini.result(nameless, "x", is_error=True).raw) == {
        "functionResponse": {"name": "n", "response": {"error": "x"}}
    }


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ({"parts": 7}, "contents[0].parts: expected a list, found a number"),
        ({"role": [], "parts": []}, "contents[0].role: expected a string, found a list"),
        ({"parts": ["x"]}, "contents[0].parts[0]: expected an object, found a string"),
        (
            {"parts": [{"functionCall": 7}]},
            "contents[0].parts[0].functionCall: expected an object, found a number",
        ),
        (
            {"parts": [{"functionCall": {"name": 7}}]},
            "contents[0].parts[0].name: expected a string, found a number",
        ),
    ],
)
def test_a_wrong_type_is_said_with_its_place(turn, said):
    with pytest.raises(HistoryError) as raised:
        gemini.read(json.dumps([turn]).encode())

    assert str(raised.value) == said
