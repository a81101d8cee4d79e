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


def test_calls_that_all_have_the_same_place_are_told_apart_by_their_ids():
    reply = built(
        call(0, "c1", "ls", '{"a": 1}'),
        call(0, "c2", "ls", '{"a":'),
        call(0, arguments=" 2}"),
        call(0, "c3", "pwd", "{}"),
        chunk("tool_calls"),
    )[0].reply()

    assert reply.calls == (
        Call("c1", "ls", '{"a": 1}'),
        Call("c2", "ls", '{"a": 2}'),
        Call("c3", "pwd", "{}"),
    )


def test_a_call_every_piece_of_which_has_an_id_of_its_own_is_one_call():
    reply = built(call(0, "x1", "ls", '{"a":'), call(0, "x2", None, " 1}"), chunk("stop"))[
        0
    ].reply()

    assert reply.calls == (Call("x2", "ls", '{"a": 1}'),)


@pytest.mark.parametrize("id_", [None, "", "c1"])
def test_calls_without_an_id_of_their_own_are_given_one(id_):
    reply = built(
        call(0, "c1", "ls", "{}"),
        call(1, id_, "pwd", "{}"),
        call(2, id_, "id", "{}"),
        chunk("stop"),
    )[0].reply()

    ids = [call.call_id for call in reply.calls]
    assert ids[0] == "c1"
    assert len(set(ids)) == 3
    assert [len(id_) for id_ in ids[1:]] == [29, 29]
    assert [call["id"] for call in reply.messages[0]["tool_calls"]] == ids


def test_arguments_that_come_as_an_object_are_kept():
    reply = built(call(0, "c1", "ls", {"path": "."}), chunk("tool_calls"))[0].reply()

    assert reply.calls == (Call("c1", "ls", '{"path":"."}'),)


def test_lists_that_come_in_pieces_are_kept_whole():
    parts = [{"type": "reasoning.text", "text": "h"}, {"type": "reasoning.text", "text": "m"}]
    reply = built(
        chunk(reasoning_details=[parts[0]]),
        chunk(reasoning_details=[parts[1]], content="Hi"),
        chunk("stop"),
    )[0].reply()

    assert reply.messages == ({"role": "assistant", "content": "Hi", "reasoning_details": parts},)


def test_content_that_comes_as_parts_is_said_and_kept():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    building, said = built(
        chunk(content=""),
        chunk(content=[thinking]),
        chunk(content=[{"type": "text", "text": "Hel"}]),
        chunk(content="lo"),
        chunk("stop"),
    )
    reply = building.reply()

    assert said == reply.text == "Hello"
    [message] = reply.messages
    assert message["content"] == [
        thinking,
        {"type": "text", "text": "Hel"},
        {"type": "text", "text": "lo"},
    ]


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
