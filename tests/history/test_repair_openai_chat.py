import pytest

from tests.history.mending import mended

GO = {"role": "user", "content": "go"}


def call(id_, tool="grep", arguments="{}"):
    return {"id": id_, "type": "function", "function": {"name": tool, "arguments": arguments}}


def assistant(*calls, content=None, **more):
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **more}


def tool(id_, content="ok", **more):
    return {"role": "tool", "tool_call_id": id_, "content": content, **more}


@pytest.mark.proves("H1")
def test_a_message_between_calls_and_results_goes_behind_them():
    broken = [GO, assistant(call("a"), call("b")), tool("a"), GO, tool("b")]

    items, kinds = mended("openai-chat", broken)

    assert kinds == ["moved"]
    assert items == [GO, assistant(call("a"), call("b")), tool("a"), tool("b"), GO]


@pytest.mark.proves("H1")
def test_each_of_two_messages_with_calls_gets_its_own_results_behind_it():
    broken = [GO, assistant(call("a")), assistant(call("b")), tool("a"), tool("b")]

    items, kinds = mended("openai-chat", broken)

    assert kinds == ["moved"]
    assert items == [GO, assistant(call("a")), tool("a"), assistant(call("b")), tool("b")]


@pytest.mark.proves("H1")
def test_text_of_the_assistant_between_call_and_result_goes_behind_the_result():
    said = {"role": "assistant", "content": "hm"}

    items, kinds = mended("openai-chat", [GO, assistant(call("a")), said, tool("a"), GO])

    assert kinds == ["moved"]
    assert items == [GO, assistant(call("a")), tool("a"), said, GO]


@pytest.mark.proves("H1")
@pytest.mark.parametrize(
    ("given", "spelled"), [(None, "{}"), ({"path": "ä"}, '{"path": "\\u00e4"}'), ([1], "[1]")]
)
def test_arguments_that_are_no_text_are_written_as_one(given, spelled):
    messages = [GO, assistant(call("a", arguments=given), call("b")), tool("a"), tool("b")]

    items, kinds = mended("openai-chat", messages)

    assert kinds == ["content"]
    assert items[1] == assistant(call("a", arguments=spelled), call("b"))


@pytest.mark.proves("H3")
@pytest.mark.parametrize("content", [{}, {"content": None}])
def test_a_function_of_old_may_say_null(content):
    messages = [GO, {"role": "function", "name": "f", **content}]

    assert mended("openai-chat", messages) == (messages, [])


@pytest.mark.proves("H3")
def test_results_in_another_order_and_ids_that_come_back_are_left_alone():
    step = [assistant(call("a"), call("b")), tool("b"), tool("a")]
    messages = [GO, *step, *step]

    assert mended("openai-chat", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_an_id_that_is_too_long_is_shortened_alike_wherever_it_stands():
    long = "ws_" + "689e2d4880a0819d98acca37694989b0" * 2
    short = "ws_689e2d4880a0819d98ac_3f7232e5f63dbec1"

    items, kinds = mended("openai-chat", [GO, *[assistant(call(long)), tool(long)] * 2])

    assert kinds == ["renamed", "renamed"]
    assert len(short) == 40
    assert items == [GO, *[assistant(call(short)), tool(short)] * 2]


@pytest.mark.proves("H1")
def test_a_suffix_on_an_id_of_full_length_still_fits():
    full = "x" * 40
    twins = assistant(call(full), call(full, "write"))

    items, _ = mended("openai-chat", [GO, twins, tool(full, "1"), tool(full, "2")])

    ids = [made["id"] for made in items[1]["tool_calls"]]
    assert ids[0] == full
    assert len(ids[1]) == 40
    assert [item["tool_call_id"] for item in items[2:]] == ids


@pytest.mark.proves("H1")
@pytest.mark.parametrize(
    ("message", "mended_"),
    [
        ({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}),
        ({"role": "assistant"}, {"role": "assistant", "content": ""}),
        (
            {"role": "assistant", "content": "x", "tool_calls": []},
            {"role": "assistant", "content": "x"},
        ),
        (
            {"role": "assistant", "content": [], "tool_calls": []},
            {"role": "assistant", "content": ""},
        ),
        ({"role": "user", "content": None}, {"role": "user", "content": ""}),
        ({"role": "user", "content": []}, {"role": "user", "content": ""}),
    ],
)
def test_content_that_says_nothing_is_said_in_the_way_that_is_taken(message, mended_):
    items, kinds = mended("openai-chat", [GO, message, GO])

    assert (items, kinds) == ([GO, mended_, GO], ["content"])


@pytest.mark.proves("H1")
def test_a_result_that_is_null_is_an_empty_text():
    items, kinds = mended("openai-chat", [GO, assistant(call("a")), tool("a", None)])

    assert (items[2], kinds) == (tool("a", ""), ["content"])


@pytest.mark.proves("H3", "H4")
@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "refusal": "no"},
        {"role": "assistant", "content": None, "audio": {"id": "x"}},
        {"role": "assistant", "content": None, "function_call": {"name": "n", "arguments": "[]"}},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": "[]", "tool_calls": None},
    ],
)
def test_an_assistant_that_speaks_otherwise_is_left_alone(message):
    messages = [GO, message, GO]

    assert mended("openai-chat", messages) == (messages, [])


@pytest.mark.proves("H3")
def test_calls_beside_null_or_an_empty_string_are_left_alone():
    messages = [GO, assistant(call("a")), tool("a"), assistant(call("a"), content=""), tool("a")]

    assert mended("openai-chat", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_media_in_results_follow_in_a_message_of_the_user_behind_the_last_of_them():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}
    words = {"type": "text", "text": "seen"}
    broken = [
        *[GO, assistant(call("a"), call("b"))],
        *[tool("a", [words, image], name="shot"), tool("b", [image]), GO],
    ]

    items, kinds = mended("openai-chat", broken)

    assert kinds == ["hoisted", "hoisted"]
    assert items[2:5] == [
        tool("a", [words], name="shot"),
        tool("b", "(see the next message)"),
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "(from the result of shot)"},
                image,
                {"type": "text", "text": "(from the result of b)"},
                image,
            ],
        },
    ]
    assert items[5] == GO


@pytest.mark.proves("H1")
def test_more_calls_than_a_message_may_have_become_several_with_their_results():
    ids = [f"c{number}" for number in range(300)]
    calls = assistant(*[call(id_) for id_ in ids], content="all")
    messages = [GO, calls, *[tool(id_) for id_ in reversed(ids)], GO]

    items, kinds = mended("openai-chat", messages)

    assert kinds == ["split"]
    split = [item for item in items if item["role"] == "assistant"]
    assert [len(item["tool_calls"]) for item in split] == [128, 128, 44]
    assert [item["content"] for item in split] == ["all", None, None]
    assert [made["id"] for item in split for made in item["tool_calls"]] == ids
    assert len([item for item in items if item["role"] == "tool"]) == 300


@pytest.mark.proves("H1")
def test_an_orphan_behind_the_assistant_leaves_a_message_of_the_user():
    said = {"role": "assistant", "content": "x", "tool_calls": []}

    items, kinds = mended("openai-chat", [GO, said, tool("a")])

    assert kinds == ["content", "orphan", "tail"]
    assert items == [
        GO,
        {"role": "assistant", "content": "x"},
        {"role": "user", "content": "(no content)"},
    ]


@pytest.mark.proves("H1", "H4")
def test_arguments_that_are_no_json_stay_as_the_model_wrote_them():
    items, _ = mended("openai-chat", [GO, assistant(call("a", arguments='{"x": "'))])

    assert items[1] == assistant(call("a", arguments='{"x": "'))
