import json

import pytest

from headgate.dialects import openai_chat
from headgate.errors import HistoryError

CALL = {"id": "a", "type": "function", "function": {"name": "n", "arguments": '{"x": 1.0}'}}


def read(*messages, **body):
    value = {**body, "messages": list(messages)} if body else list(messages)
    return openai_chat.read(json.dumps(value).encode())


def test_content_and_calls_are_the_parts_of_an_assistant_message():
    [message] = read({"role": "assistant", "content": "t", "tool_calls": [CALL]}).messages

    assert [(part.kind, part.wire) for part in message.parts] == [
        ("text", ""),
        ("call", "function"),
    ]
    assert message.parts[1].value == json.dumps('{"x": 1.0}').encode()


def test_a_custom_call_has_its_input():
    custom = {"id": "a", "type": "custom", "custom": {"name": "n", "input": "free text"}}
    [message] = read({"role": "assistant", "tool_calls": [custom]}).messages

    [part] = message.parts
    assert (part.wire, part.name, part.value) == ("custom", "n", b'"free text"')


def test_a_tool_message_is_one_result_and_is_the_part_itself():
    [message] = read({"role": "tool", "tool_call_id": "a", "name": "n", "content": "r"}).messages

    [part] = message.parts
    assert (part.kind, part.call_id, part.name, part.raw) == ("result", "a", "n", message.raw)


@pytest.mark.proves("P7")
def test_what_the_dialect_once_had_passes_as_it_is():
    old = {"role": "assistant", "content": None, "function_call": {"name": "n", "arguments": ""}}
    history = read(old, {"role": "function", "name": "n", "content": "x"})

    assert [message.of_kind("call", "result") for message in history.messages] == [[], []]


def test_without_its_last_call_a_message_has_no_list_of_calls():
    [message] = read({"role": "assistant", "content": None, "tool_calls": [CALL], "x": 1}).messages

    put = openai_chat.with_parts(message, [openai_chat.user_text("t")])

    assert put.raw == b'{"role": "assistant", "content": [{"type":"text","text":"t"}], "x": 1}'


def test_without_its_text_a_message_with_calls_says_null():
    [message] = read({"role": "assistant", "content": "t", "tool_calls": [CALL]}).messages

    put = openai_chat.with_parts(message, message.of_kind("call"))

    assert json.loads(put.raw) == {"role": "assistant", "content": None, "tool_calls": [CALL]}


def test_one_text_of_the_user_goes_as_a_string():
    [message] = openai_chat.carrying([openai_chat.user_text("hi")])

    assert message.raw == b'{"role":"user","content":"hi"}'


@pytest.mark.proves("P7")
def test_arguments_that_are_no_json_are_kept_and_not_understood():
    call = {"id": "a", "type": "function", "function": {"name": "n", "arguments": '{"x": '}}
    items = [{"role": "assistant", "tool_calls": [call]}]
    history = read(*items, {"role": "tool", "tool_call_id": "a", "content": "r"})
    [part], [result] = history.messages[0].parts, history.messages[1].parts

    assert json.loads(openai_chat.with_id(part, "b").raw) == {**call, "id": "b"}
    assert dict(openai_chat.tool_result(result, part).arguments) == {}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": "x"}, "messages[0].role: expected a role, found nothing"),
        (
            {"role": "user", "content": {}},
            "messages[0].content: expected a list or a string, found an object",
        ),
        (
            {"role": "assistant", "tool_calls": {}},
            "messages[0].tool_calls: expected a list, found an object",
        ),
        (
            {"role": "assistant", "tool_calls": [CALL, 7]},
            "messages[0].tool_calls[1]: expected an object, found a number",
        ),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": []}}]},
            "messages[0].tool_calls[0].name: expected a string, found a list",
        ),
        (
            {"role": "tool", "tool_call_id": 1},
            "messages[0].tool_call_id: expected a string, found a number",
        ),
    ],
)
def test_a_wrong_type_is_said_with_its_place(message, said):
    with pytest.raises(HistoryError) as raised:
        read(message)

    assert str(raised.value) == said
