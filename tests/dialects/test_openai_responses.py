import json

import pytest

from headgate.dialects import openai_responses as responses
from headgate.dialects.dialect import CannotAnswer
from headgate.errors import HistoryError
from headgate.types import Text


def read(*items, **body):
    value = {**body, "input": list(items)} if body else list(items)
    return responses.read(json.dumps(value).encode())


def item(value):
    return responses.message(json.dumps(value).encode())


CALLS = [
    ("function_call", {"name": "n", "arguments": '{"a": 1}'}),
    ("custom_tool_call", {"name": "n", "input": "free"}),
    ("shell_call", {"action": {"commands": ["ls"]}}),
    ("local_shell_call", {"action": {"command": ["ls"]}}),
    ("apply_patch_call", {"operation": {"type": "update_file"}}),
]


@pytest.mark.parametrize(("wire", "fields"), CALLS)
def test_every_kind_of_call_gets_its_own_kind_of_result(wire, fields):
    [call] = item({"type": wire, "call_id": "a", **fields}).parts
    fine = responses.result(call, "fine", is_error=False)
    wrong = responses.result(call, "wrong", is_error=True)

    assert (call.kind, call.call_id) == ("call", "a")
    assert (fine.wire, fine.call_id) == (f"{wire}_output", "a")
    assert responses.tool_result(fine, call).blocks == (Text("fine"),)
    assert responses.tool_result(wrong, call).blocks == (Text("Error: wrong"),)
    assert responses.tool_result(responses.with_text(fine, "new"), call).blocks == (Text("new"),)


def test_a_screenshot_cannot_be_put_in_words():
    [call] = item({"type": "computer_call", "call_id": "a", "action": {}}).parts

    with pytest.raises(CannotAnswer, match="computer_call 'a' is a screenshot"):
        responses.result(call, "x", is_error=True)


def test_a_result_of_a_like_kind_is_made_to_fit_its_call():
    [call] = item({"type": "custom_tool_call", "call_id": "a", "name": "n", "input": ""}).parts
    [result] = item({"type": "function_call_output", "call_id": "b", "output": "x"}).parts

    assert json.loads(responses.answering(result, call).raw) == {
        "type": "custom_tool_call_output",
        "call_id": "a",
        "output": "x",
    }


@pytest.mark.parametrize(
    ("value", "role", "kind"),
    [
        ({"role": "user", "content": "x"}, "user", "text"),
        ({"type": "message", "role": "developer", "content": "x"}, "system", "text"),
        ({"type": "reasoning", "id": "rs_1", "summary": []}, "assistant", "thinking"),
        ({"type": "web_search_call", "id": "ws_1"}, "assistant", "server_call"),
        ({"type": "item_reference", "id": "x"}, "other", "other"),
        ({"type": "novel_2031", "a": [1]}, "other", "other"),
    ],
)
def test_items_have_a_role_and_a_kind(value, role, kind):
    message = item(value)

    assert (message.role, [part.kind for part in message.parts]) == (role, [kind])


def test_the_providers_id_of_an_item_is_kept():
    assert item({"type": "reasoning", "id": "rs_1", "summary": []}).item_id == "rs_1"


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_state_at_the_provider_is_seen(name):
    assert read({"role": "user", "content": "x"}, **{name: "r_1"}).server_held
    assert not read({"role": "user", "content": "x"}, **{name: None}).server_held


def test_a_local_shell_result_may_name_its_call_in_its_id():
    [result] = item({"type": "local_shell_call_output", "id": "a", "output": "x"}).parts

    assert result.call_id == "a"
    assert json.loads(responses.with_id(result, "b").raw)["id"] == "b"


def test_the_commands_of_one_shell_call_are_read_one_after_the_other():
    output = [
        {"stdout": "one", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "", "stderr": "two", "outcome": {"type": "exit", "exit_code": 2}},
    ]
    [result] = item({"type": "shell_call_output", "call_id": "a", "output": output}).parts

    assert responses.tool_result(result, None).blocks == (Text("one"), Text("two"))
    assert json.loads(responses.with_text(result, "new").raw)["output"] == [
        {"stdout": "new", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}
    ]


def test_a_screenshot_stays_as_it_is():
    value = {"type": "computer_call_output", "call_id": "a", "output": {"type": "x"}}
    [result] = item(value).parts

    assert responses.with_text(result, "new") is result


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"x": 1}, "input[0].type: expected a type, found nothing"),
        ({"type": "message"}, "input[0].role: expected a role, found nothing"),
        (
            {"role": "user", "content": [7]},
            "input[0].content[0]: expected an object, found a number",
        ),
        (
            {"type": "function_call", "call_id": {}},
            "input[0].call_id: expected a string, found an object",
        ),
    ],
)
def test_a_wrong_type_is_said_with_its_place(value, said):
    with pytest.raises(HistoryError) as raised:
        read(value)

    assert str(raised.value) == said
