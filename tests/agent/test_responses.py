import pytest

from headgate import Media, Text, ToolResult
from headgate.agent import OpenAIResponsesModel
from headgate.agent.responses import Building
from headgate.model import ModelError
from headgate.types import Call

USER = {"role": "user", "content": "Hello"}
FAILED = {"code": "server_error", "message": "no"}
DONE = {"type": "response.completed", "response": {"usage": {"input_tokens": 7}}}


def built(*events):
    building = Building()
    said = [building.take(event) for event in events]
    return building, "".join(said)


def item(index, **fields):
    return {"type": "response.output_item.done", "output_index": index, "item": fields}


def test_a_body_keeps_the_history_here_and_asks_for_sealed_reasoning():
    model = OpenAIResponsesModel(None, "gpt-5", system="Be brief.")

    assert model.body([USER], [{"type": "function"}]) == {
        "model": "gpt-5",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be brief.",
        "tools": [{"type": "function"}],
        "input": [USER],
    }


def test_settings_go_along_and_none_takes_a_field_out():
    model = OpenAIResponsesModel(None, "gpt-4o", settings={"include": None, "top_p": 1})

    assert model.body([USER], []) == {
        "model": "gpt-4o",
        "store": False,
        "top_p": 1,
        "input": [USER],
    }


def test_each_result_is_an_item():
    image = {"type": "input_image", "image_url": "https://x"}
    results = [
        ToolResult.of("ls", "a.py", call_id="c1"),
        ToolResult.of("see", [Text("look"), Media("image", image)], call_id="c2"),
    ]

    assert OpenAIResponsesModel(None, "gpt-5").answers(results) == [
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "look"}, image],
        },
    ]


def test_a_response_is_the_items_as_they_were_when_done():
    text = {"type": "output_text", "text": "I look."}
    building, said = built(
        {"type": "response.created", "response": {}},
        item(0, type="reasoning", id="rs_1", summary=[], encrypted_content="sealed"),
        {"type": "response.output_text.delta", "delta": "I lo"},
        {"type": "response.output_text.delta", "delta": "ok."},
        item(2, type="function_call", call_id="c1", name="ls", arguments='{"path": "."}'),
        item(1, type="message", content=[text], phase="commentary"),
        item(3, type="new_item", anything=1),
        DONE,
    )
    reply = building.reply()

    assert said == reply.text == "I look."
    assert reply.calls == (Call("c1", "ls", '{"path": "."}'),)
    assert (reply.stop, reply.usage) == ("calls", {"input_tokens": 7})
    assert [message["type"] for message in reply.messages] == [
        *("reasoning", "message", "function_call", "new_item")
    ]
    assert reply.messages[0]["encrypted_content"] == "sealed"


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "refusal")]
)
def test_why_a_response_is_incomplete_is_said_in_our_words(reason, stop):
    response = {"incomplete_details": {"reason": reason}}

    reply = built({"type": "response.incomplete", "response": response})[0].reply()

    assert reply.stop == stop


def test_a_refusal_is_kept_and_told():
    refused = item(0, type="message", content=[{"type": "refusal", "refusal": "No, thanks."}])

    reply = built(refused, {"type": "response.completed", "response": {"id": "r"}})[0].reply()

    assert (reply.stop, reply.text) == ("refusal", "")
    assert reply.messages == (refused["item"],)


@pytest.mark.parametrize(
    "event",
    [
        {
            "type": "response.failed",
            "response": {"error": {"code": "server_error", "message": "no"}},
        },
        {"type": "error", "code": "server_error", "message": "no"},
    ],
)
def test_a_failure_in_the_stream_has_its_words_and_its_code(event):
    with pytest.raises(ModelError, match="no") as error:
        built(event)

    assert error.value.code == "server_error"


def test_a_stream_without_its_end_is_no_reply():
    with pytest.raises(ModelError, match="ended before the reply was complete"):
        built(item(0, type="message", content=[]))[0].reply()
