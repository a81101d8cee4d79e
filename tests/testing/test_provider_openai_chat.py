import openai
import pytest

from headgate.testing import Call, Provider, Reply, Say, Think
from tests.testing.conversing import Clock

MODEL = "gpt-5"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("ls", "pwd")
]
ASKED = {"role": "user", "content": "Where am I?"}


def ask(client, *messages, **how):
    how = {"model": MODEL, "tools": TOOLS, **how}
    return client.chat.completions.create(messages=list(messages) or [ASKED], **how)


def results(message):
    return [
        {"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in message.tool_calls
    ]


def test_a_tool_loop_with_parallel_calls_runs_to_its_end(gpt):
    with Provider([Call("ls", {"path": "ü"}), Call("pwd")], "At home.") as provider:
        client = gpt(provider)
        first = ask(client).choices[0]
        last = ask(client, ASKED, first.message, *results(first.message)).choices[0]

    assert first.finish_reason == "tool_calls"
    assert first.message.content is None
    assert [call.function.name for call in first.message.tool_calls] == ["ls", "pwd"]
    assert first.message.tool_calls[0].function.arguments == '{"path":"ü"}'
    assert (last.message.content, last.finish_reason) == ("At home.", "stop")


def test_a_stream_builds_the_same_message(gpt):
    script = [Think("hm"), Say("I look around."), Call("ls", {"path": "🙂"}), Call("pwd")]
    clock = Clock()
    with (
        Provider(script, clock=clock) as whole,
        Provider(script, clock=clock, delta_chars=3) as pieces,
    ):
        expected = ask(gpt(whole))
        with gpt(pieces).chat.completions.stream(
            model=MODEL, tools=TOOLS, messages=[ASKED], stream_options={"include_usage": True}
        ) as stream:
            for _ in stream:
                pass
            streamed = stream.get_final_completion()

    def said(completion):
        message = completion.choices[0].message
        calls = [
            (call.id, call.function.name, call.function.arguments) for call in message.tool_calls
        ]
        return (completion.id, completion.created, message.content, calls, completion.usage)

    assert said(streamed) == said(expected)
    assert streamed.usage.completion_tokens_details.reasoning_tokens > 0


def test_usage_comes_in_a_chunk_of_its_own_and_only_when_asked_for(gpt):
    with Provider("a", "b") as provider:
        client = gpt(provider)
        plain = list(ask(client, stream=True))
        asked = list(ask(client, stream=True, stream_options={"include_usage": True}))

    assert [chunk.usage for chunk in plain] == [None] * len(plain)
    assert asked[-1].choices == []
    assert asked[-1].usage.completion_tokens == 1
    assert [chunk.usage for chunk in asked[:-1]] == [None] * (len(asked) - 1)


def test_the_bytes_of_a_stream_end_with_done(gpt):
    with Provider("hi") as provider:
        raw = gpt(provider).chat.completions.with_raw_response.create(
            model=MODEL, messages=[ASKED], stream=True
        )
        text = raw.http_response.read().decode()

    assert text.startswith("data: {")
    assert text.endswith("data: [DONE]\n\n")


def test_a_refusal_and_a_cut_are_told_apart(gpt):
    with Provider(Reply((Say("No."),), "refusal"), Reply((Say("So"),), "length")) as provider:
        client = gpt(provider)
        refused, cut = ask(client).choices[0], ask(client).choices[0]

    assert (refused.message.content, refused.message.refusal) == (None, "No.")
    assert (cut.message.content, cut.finish_reason) == ("So", "length")


CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": id_, "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        for id_ in ("c1", "c2")
    ],
}

REFUSED = {
    "no results": (
        [ASKED, CALLED, ASKED],
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: c1, c2",
        "messages",
        None,
    ),
    "no call": (
        [ASKED, {"role": "tool", "tool_call_id": "c1", "content": "x"}],
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
        "with 'tool_calls'.",
        "messages.[1].role",
        None,
    ),
    "a null": (
        [ASKED, {"role": "assistant", "content": None}],
        "Invalid value for 'content': expected a string, got null.",
        "messages[1].content",
        None,
    ),
    "a long id": (
        [
            ASKED,
            {**CALLED, "tool_calls": [{**CALLED["tool_calls"][0], "id": "x" * 51}]},
            {"role": "tool", "tool_call_id": "x" * 51, "content": "x"},
        ],
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum "
        "length 40, but got a string with length 51 instead.",
        "messages[1].tool_calls[0].id",
        "string_above_max_length",
    ),
    "an unknown role": (
        [{"role": "model", "content": "x"}],
        "Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'function', "
        "'tool', and 'developer'.",
        "messages[0].role",
        "invalid_value",
    ),
}


@pytest.mark.parametrize(
    ("messages", "said", "param", "code"), REFUSED.values(), ids=REFUSED.keys()
)
def test_a_broken_history_gets_the_providers_words(gpt, messages, said, param, code):
    with Provider() as provider, pytest.raises(openai.BadRequestError) as raised:
        ask(gpt(provider), *messages)

    error = raised.value
    assert error.body["message"] == said
    assert (error.type, error.param, error.code) == ("invalid_request_error", param, code)


def test_a_prompt_over_the_window_is_refused_by_its_code(gpt):
    with Provider(window_tokens=100) as provider, pytest.raises(openai.BadRequestError) as raised:
        ask(gpt(provider), {"role": "user", "content": "word " * 500})

    assert raised.value.code == "context_length_exceeded"
    assert raised.value.body["message"].startswith("This model's maximum context length is 100 ")


def test_a_wrong_key_and_an_unknown_model_are_refused(gpt):
    with Provider(keys=["right"], models=["gpt-4o"]) as provider:
        with pytest.raises(openai.AuthenticationError) as unknown:
            ask(gpt(provider))
        with pytest.raises(openai.NotFoundError) as missing:
            ask(gpt(provider, api_key="right"))
        listed = [model.id for model in gpt(provider, api_key="right").models.list()]

    assert unknown.value.code == "invalid_api_key"
    assert missing.value.code == "model_not_found"
    assert listed == ["gpt-4o"]


LONG = "All work and no play makes a dull prompt. " * 200


def cached(completion):
    return completion.usage.prompt_tokens_details.cached_tokens


def test_a_prefix_is_cached_unasked_in_steps_of_128(gpt):
    clock = Clock()
    with Provider(clock=clock) as provider:
        client = gpt(provider)
        system = {"role": "system", "content": LONG}
        first = ask(client, system, ASKED)
        second = ask(client, system, {"role": "user", "content": "Something else"})
        clock.now += 601
        late = ask(client, system, ASKED)

    assert cached(first) == cached(late) == 0
    assert cached(second) % 128 == 0
    assert 1_024 <= cached(second) <= second.usage.prompt_tokens


def test_a_prefix_that_ends_inside_a_message_is_cached_that_far(gpt):
    with Provider() as provider:
        client = gpt(provider)
        ask(client, {"role": "user", "content": LONG + "one way"})
        other = ask(client, {"role": "user", "content": LONG + "or another"})
        early = ask(client, {"role": "user", "content": "Now. " + LONG})

    assert cached(other) >= 1_024
    assert cached(early) == 0


def test_a_short_prompt_is_not_cached(gpt):
    with Provider() as provider:
        client = gpt(provider)
        assert [cached(ask(client)) for _ in range(2)] == [0, 0]
