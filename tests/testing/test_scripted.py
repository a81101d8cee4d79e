import pytest

from headgate.testing import (
    Call,
    Cut,
    Failure,
    Reset,
    Say,
    ScriptedClient,
    ScriptedRefusal,
    Stall,
)

ASKED = {"model": "claude-opus-5-5", "max_tokens": 9, "stream": True}
HELLO = [{"role": "user", "content": "Hello"}]


def test_a_script_is_answered_in_order_in_every_api():
    client = ScriptedClient([Say("Hi"), Call("ls", {"path": "."}, "c1")], "Bye", "So")

    first = list(client.messages.create(**ASKED, messages=HELLO))
    second = list(client.chat.completions.create(model="gpt-5", stream=True, messages=HELLO))
    third = list(client.responses.create(model="gpt-5", stream=True, input=HELLO))

    assert first[0]["type"] == "message_start"
    assert first[-1] == {"type": "message_stop"}
    assert "".join(c["choices"][0]["delta"].get("content") or "" for c in second) == "Bye"
    assert third[-1]["type"] == "response.completed"
    assert [request.dialect for request in client.requests] == [
        *("anthropic", "openai-chat", "openai-responses")
    ]


def test_it_is_as_strict_as_the_stand_in():
    orphan = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
    client = ScriptedClient("Not reached.")

    with pytest.raises(ScriptedRefusal, match="must define tools") as error:
        client.messages.create(**ASKED, messages=[{"role": "user", "content": [orphan]}])

    assert error.value.status_code == 400
    assert error.value.body["error"]["type"] == "invalid_request_error"


def test_when_the_script_is_at_its_end_a_function_answers():
    client = ScriptedClient(answer=lambda request: f"{len(request.json['messages'])} messages")

    events = list(client.messages.create(**ASKED, messages=HELLO))

    text = "".join(e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta")
    assert text == "1 messages"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Reset(1), ConnectionResetError),
        (Stall(1), TimeoutError),
        (Failure(529, "", None, 1), ConnectionError),
    ],
)
def test_a_fault_comes_after_its_events(fault, error):
    stream = iter(ScriptedClient(fault).messages.create(**ASKED, messages=HELLO))

    assert next(stream)["type"] == "message_start"
    with pytest.raises(error):
        list(stream)


def test_a_stream_can_end_early_in_good_order():
    events = list(ScriptedClient(Cut(2)).messages.create(**ASKED, messages=HELLO))

    assert len(events) == 2
