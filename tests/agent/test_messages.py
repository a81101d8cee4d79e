import pytest

from headgate import Media, Text, ToolResult
from headgate.agent import AnthropicModel
from headgate.agent.messages import Building
from headgate.model import ModelError
from headgate.types import Call

MODEL = AnthropicModel(None, "claude-opus-5-5", system="Be brief.", max_tokens=100)
USER = {"role": "user", "content": "Hello"}


def built(*events):
    building = Building()
    said = [building.take(event) for event in events]
    return building, "".join(said)


def start(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, **fields):
    return {"type": "content_block_delta", "index": index, "delta": fields}


def ended(reason="end_turn", **usage):
    stop = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return [stop, {"type": "message_stop"}]


def test_a_body_has_what_the_model_needs_and_a_mark_for_the_cache():
    assert MODEL.body([USER], [{"name": "ls"}]) == {
        "model": "claude-opus-5-5",
        "max_tokens": 100,
        "cache_control": {"type": "ephemeral"},
        "system": "Be brief.",
        "tools": [{"name": "ls"}],
        "messages": [USER],
    }


def test_settings_go_along_and_none_takes_a_field_out():
    settings = {"cache_control": None, "thinking": {"type": "adaptive"}}
    model = AnthropicModel(None, "m", settings=settings)

    assert model.body([USER], []) == {
        "model": "m",
        "max_tokens": 16_000,
        "thinking": {"type": "adaptive"},
        "messages": [USER],
    }


def test_all_results_of_a_batch_are_in_one_message():
    image = {"type": "image", "source": {"type": "url", "url": "https://x"}}
    results = [
        ToolResult.of("ls", "a.py", call_id="c1"),
        ToolResult.of("ls", "no", call_id="c2", is_error=True),
        ToolResult.of("see", [Text("look"), Media("image", image)], call_id="c3"),
    ]

    assert MODEL.answers(results) == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                {
                    "type": "tool_result",
                    "tool_use_id": "c3",
                    "content": [{"type": "text", "text": "look"}, image],
                },
            ],
        }
    ]


def test_a_message_is_put_together_block_by_block():
    building, said = built(
        {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}},
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, type="thinking_delta", thinking="h"),
        delta(0, type="thinking_delta", thinking="m"),
        delta(0, type="signature_delta", signature="sig"),
        {"type": "ping"},
        start(1, {"type": "text", "text": ""}),
        delta(1, type="text_delta", text="I lo"),
        delta(1, type="text_delta", text="ok."),
        delta(1, type="citations_delta", citation={"n": 1}),
        delta(1, type="citations_delta", citation={"n": 2}),
        start(2, {"type": "tool_use", "id": "c1", "name": "ls", "input": {}, "new": 1}),
        delta(2, type="input_json_delta", partial_json='{"pa'),
        delta(2, type="input_json_delta", partial_json='th": "."}'),
        start(3, {"type": "tool_use", "id": "c2", "name": "pwd", "input": {}}),
        start(4, {"type": "new_block", "anything": [1]}),
        delta(4, type="new_delta", value=2),
        *ended("tool_use", output_tokens=20, input_tokens=None),
    )
    reply = building.reply()

    assert said == reply.text == "I look."
    assert reply.calls == (Call("c1", "ls", '{"path": "."}'), Call("c2", "pwd", {}))
    assert (reply.stop, reply.usage) == ("calls", {"input_tokens": 7, "output_tokens": 20})
    [message] = reply.messages
    assert message == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "I look.", "citations": [{"n": 1}, {"n": 2}]},
            {"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "."}, "new": 1},
            {"type": "tool_use", "id": "c2", "name": "pwd", "input": {}},
            {"type": "new_block", "anything": [1]},
        ],
    }


@pytest.mark.parametrize("broken", ['{"path": ', "[1]", "[" * 100_000])
def test_arguments_that_broke_off_leave_a_call_that_the_provider_takes(broken):
    building, _ = built(
        start(0, {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}),
        delta(0, type="input_json_delta", partial_json=broken),
        *ended("max_tokens"),
    )
    reply = building.reply()

    assert reply.messages[0]["content"][0]["input"] == {}
    assert (reply.calls[0].arguments, reply.stop) == (broken, "length")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "length"),
    ],
)
def test_why_the_model_stopped_is_said_in_our_words(reason, stop):
    assert built(start(0, {"type": "text", "text": "x"}), *ended(reason))[0].reply().stop == stop


def test_a_reply_without_content_adds_no_message():
    assert built(*ended())[0].reply().messages == ()


def test_a_stream_without_its_end_is_no_reply():
    building, _ = built(start(0, {"type": "text", "text": "Wel"}))

    with pytest.raises(ModelError, match="ended before the reply was complete"):
        building.reply()
