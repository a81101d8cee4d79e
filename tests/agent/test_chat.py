import pytest

from headgate import Media, Text, ToolResult
from headgate.agent import OpenAIChatModel
from headgate.agent.chat import Building
from headgate.model import ModelError
from headgate.types import Call

USER = {"role": "user", "content": "Hello"}


def built(*chunks):
    building = Building()
    said = [building.take(chunk) for chunk in chunks]
    return building, "".join(said)


def chunk(finish=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index, id_=None, name=None, arguments=None):
    function = {"name": name, "arguments": arguments}
    return chunk(tool_calls=[{"index": index, "id": id_, "type": "function", "function": function}])


def test_a_body_has_what_the_model_needs_and_asks_for_its_cost():
    model = OpenAIChatModel(None, "gpt-5", system="Be brief.", settings={"seed": 1})

    assert model.body([USER], [{"type": "function"}]) == {
        "model": "gpt-5",
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function"}],
        "seed": 1,
        "messages": [{"role": "system", "content": "Be brief."}, USER],
    }


def test_without_tools_and_system_there_are_none_in_the_body():
    model = OpenAIChatModel(None, "gpt-5", settings={"stream_options": None})

    assert model.body([USER], []) == {"model": "gpt-5", "messages": [USER]}


def test_each_result_is_a_message():
    image = {"type": "image_url", "image_url": {"url": "https://x"}}
    results = [
        ToolResult.of("ls", "a.py", call_id="c1"),
        ToolResult.of("see", [Text("look"), Media("image", image)], call_id="c2"),
    ]

    assert OpenAIChatModel(None, "gpt-5").answers(results) == [
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "content": [{"type": "text", "text": "look"}, image],
        },
    ]


def test_a_message_is_put_together_chunk_by_chunk():
    building, said = built(
        chunk(role="assistant", content="", refusal=None),
        chunk(content="I lo"),
        chunk(content="ok.", reasoning_content="h"),
        chunk(reasoning_content="m"),
        call(1, "c2", "pwd", ""),
        call(0, "c1", "ls", '{"pa'),
        call(0, arguments='th": "."}'),
        call(1, arguments="{}"),
        chunk("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 7}},
    )
    reply = building.reply()

    assert said == reply.text == "I look."
    assert reply.calls == (Call("c1", "ls", '{"path": "."}'), Call("c2", "pwd", "{}"))
    assert (reply.stop, reply.usage) == ("calls", {"prompt_tokens": 7})
    function = {"name": "ls", "arguments": '{"path": "."}'}
    assert reply.messages == (
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "hm",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": function},
                {"id": "c2", "type": "function", "function": {"name": "pwd", "arguments": "{}"}},
            ],
        },
    )


def test_a_server_that_stops_with_calls_and_does_not_say_so_is_understood():
    assert built(call(0, "c1", "ls", "{}"), chunk("stop"))[0].reply().stop == "calls"


def test_calls_without_a_place_are_one_after_another():
    function = {"name": "ls", "arguments": "{}"}
    calls = [{"id": f"c{n}", "type": "function", "function": function} for n in (1, 2)]

    reply = built(chunk(tool_calls=calls), chunk("tool_calls"))[0].reply()

    assert [call.call_id for call in reply.calls] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("finish", "stop"), [("stop", "end"), ("length", "length"), ("content_filter", "refusal")]
)
def test_why_the_model_stopped_is_said_in_our_words(finish, stop):
    assert built(chunk(content="x"), chunk(finish))[0].reply().stop == stop


def test_a_refusal_is_kept_and_told():
    reply = built(chunk(refusal="No, "), chunk(refusal="thanks."), chunk("stop"))[0].reply()

    assert reply.stop == "refusal"
    assert reply.messages == ({"role": "assistant", "content": None, "refusal": "No, thanks."},)


def test_a_reply_without_content_adds_no_message():
    assert built(chunk(content=""), chunk("stop"))[0].reply().messages == ()


def test_a_stream_without_its_end_is_no_reply():
    with pytest.raises(ModelError, match="ended before the reply was complete"):
        built(chunk(content="Wel"))[0].reply()
