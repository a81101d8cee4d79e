import json

import pytest

from headgate.dialects import anthropic
from headgate.errors import HistoryError
from headgate.types import Text


def read(*messages, **body):
    value = {**body, "messages": list(messages)} if body else list(messages)
    return anthropic.read(json.dumps(value).encode())


def block(value):
    return anthropic.part(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("value", "kind", "call_id"),
    [
        ({"type": "text", "text": "x"}, "text", ""),
        ({"type": "tool_use", "id": "a", "name": "n", "input": {}}, "call", "a"),
        ({"type": "tool_result", "tool_use_id": "a"}, "result", "a"),
        ({"type": "thinking", "thinking": "", "signature": "s"}, "thinking", ""),
        ({"type": "redacted_thinking", "data": "d"}, "thinking", ""),
        ({"type": "image", "source": {}}, "media", ""),
        ({"type": "server_tool_use", "id": "s"}, "server_call", "s"),
        ({"type": "mcp_tool_use", "id": "m"}, "server_call", "m"),
        ({"type": "web_search_tool_result", "tool_use_id": "s"}, "server_result", "s"),
        ({"type": "mcp_tool_result", "tool_use_id": "m"}, "server_result", "m"),
        ({"type": "novel_2031", "id": 7}, "other", ""),
    ],
)
def test_blocks_are_known_by_their_types_and_unknown_ones_pass(value, kind, call_id):
    part = block(value)

    assert (part.kind, part.call_id, part.raw) == (kind, call_id, json.dumps(value).encode())


def test_a_string_and_a_list_of_blocks_are_read_alike():
    history = read({"role": "user", "content": "hi"}, {"role": "user", "content": []})

    assert [part.kind for part in history.messages[0].parts] == ["text"]
    assert history.messages[1].parts == ()


def test_a_string_becomes_a_block_when_something_is_put_beside_it():
    [message] = read({"role": "user", "content": "h\u00e9", "x": 1}).messages
    call = block({"type": "tool_use", "id": "a", "name": "n", "input": {}})
    result = anthropic.result(call, "r", is_error=False)

    put = anthropic.with_parts(message, [result, *message.parts])

    assert put.raw == (
        b'{"role": "user", "content": [{"type":"tool_result","tool_use_id":"a","content":"r"},'
        b'{"type":"text","text":"h\\u00e9"}], "x": 1}'
    )


def test_settings_that_matter_are_kept_beside_the_messages():
    history = read(
        {"role": "user", "content": "x"},
        model="claude-x",
        system=[{"type": "text", "text": "s"}],
        tools=[],
        metadata={"user": 1},
    )

    assert history.model == "claude-x"
    assert dict(history.settings) == {
        "model": b'"claude-x"',
        "system": b'[{"type": "text", "text": "s"}]',
        "tools": b"[]",
    }
    assert not history.server_held


def test_another_setting_is_written_in_its_place():
    raw = b'{"thinking" : {"type": "enabled"}, "messages": [ ]}'
    history = anthropic.read(raw).with_setting("thinking", b'{"type":"disabled"}')

    assert anthropic.write(history) == b'{"thinking" : {"type":"disabled"}, "messages": [ ]}'


def test_a_thread_says_that_earlier_messages_are_the_providers():
    assert read({"role": "user", "content": "x"}, thread="th_1").server_held


@pytest.mark.proves("H6")
def test_the_id_that_fragments_of_one_response_share_is_kept():
    history = read({"id": "msg_1", "role": "assistant", "content": "x"})

    assert history.messages[0].message_id == "msg_1"


def test_a_result_repeats_the_toolset_of_its_call():
    value = {"type": "tool_use", "id": "a", "name": "n", "input": {}, "toolset_name": "t"}
    call = block(value)
    other = block({"type": "tool_result", "tool_use_id": "a", "content": "x"})

    made = json.loads(anthropic.result(call, "r", is_error=True).raw)

    assert made == {
        "type": "tool_result",
        "tool_use_id": "a",
        "toolset_name": "t",
        "content": "r",
        "is_error": True,
    }
    assert json.loads(anthropic.answering(other, call).raw)["toolset_name"] == "t"


@pytest.mark.proves("H4", "P7")
def test_flags_and_marks_of_a_result_stay_when_its_text_changes():
    raw = (
        b'{"type":"tool_result", "is_error":true,"tool_use_id":"a","content":"old",'
        b' "cache_control":{"type":"ephemeral"}}'
    )

    changed = anthropic.with_text(anthropic.part(raw), "new")

    assert changed.raw == raw.replace(b'"old"', b'"new"')
    assert (changed.is_error, changed.is_marked) == (True, True)


def test_a_result_without_content_says_nothing_and_can_be_given_a_text():
    result = block({"type": "tool_result", "tool_use_id": "a"})

    assert anthropic.tool_result(result, None).blocks == (Text(""),)
    assert anthropic.tool_result(anthropic.with_text(result, "x"), None).text == "x"


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([{"content": "x"}], "messages[0].role: expected a role, found nothing"),
        ([{"role": 7}], "messages[0].role: expected a string, found a number"),
        (
            [{"role": "user", "content": 7}],
            "messages[0].content: expected a list or a string, found a number",
        ),
        (
            [{"role": "user", "content": "x"}, {"role": "user", "content": [{}, "x"]}],
            "messages[1].content[1]: expected an object, found a string",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_use", "id": 7}]}],
            "messages[0].content[0].id: expected a string, found a number",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "content": {}}]}],
            "messages[0].content[0].content: expected a list or a string, found an object",
        ),
        (
            [{"role": "user", "content": [{"type": 1.5}]}],
            "messages[0].content[0].type: expected a string, found a number",
        ),
    ],
)
def test_a_wrong_type_is_said_with_its_place(messages, said):
    with pytest.raises(HistoryError) as raised:
        read(*messages)

    assert str(raised.value) == said
