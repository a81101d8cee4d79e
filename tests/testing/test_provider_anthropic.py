import anthropic
import pytest

from headgate.testing import Call, Provider, Reply, Say, Think, Wire
from tests.testing.conversing import ASKED, MODEL, SEARCH, TOOLS, Clock, ask, replayed, results


def test_a_tool_loop_with_parallel_calls_runs_to_its_end(claude):
    script = [[Say("I look."), Call("ls", {"path": "."}), Call("pwd")], "You are at home."]
    with Provider(*script) as provider:
        client = claude(provider)

        first = ask(client)
        last = ask(client, ASKED, first.to_param(), results(first))

    assert [block.type for block in first.content] == ["text", "tool_use", "tool_use"]
    assert first.stop_reason == "tool_use"
    assert first.content[1].input == {"path": "."}
    assert first.content[1].id != first.content[2].id
    assert [block.text for block in last.content] == ["You are at home."]
    assert last.stop_reason == "end_turn"
    assert last.usage.input_tokens > first.usage.input_tokens


def test_a_stream_builds_the_same_message(claude):
    script = [Think("hm, where"), Say("I look around."), Call("ls", {"path": "ü🙂"}), Call("pwd")]
    with Provider(script, seed="a") as whole, Provider(script, seed="a", delta_chars=3) as pieces:
        expected = ask(claude(whole))
        with claude(pieces).messages.stream(
            model=MODEL, max_tokens=1_000, tools=TOOLS, messages=[ASKED]
        ) as stream:
            events = [event.type for event in stream]
            streamed = stream.get_final_message()

    assert streamed.model_dump() == expected.model_dump()
    assert events[0] == "message_start"
    assert events[-1] == "message_stop"


def test_a_stream_has_the_events_of_the_provider(claude):
    script = [Think("hm"), Say("a"), Call("ls", {"n": 1}), Wire(SEARCH)]
    with Provider(script) as provider:
        raw = ask(claude(provider), stream=True)
        events = [event.to_dict() for event in raw]

    seen = [
        (event["type"], event.get("index"), event.get("delta", {}).get("type")) for event in events
    ]
    assert seen == [
        ("message_start", None, None),
        ("content_block_start", 0, None),
        ("content_block_delta", 0, "thinking_delta"),
        ("content_block_delta", 0, "signature_delta"),
        ("content_block_stop", 0, None),
        ("content_block_start", 1, None),
        ("content_block_delta", 1, "text_delta"),
        ("content_block_stop", 1, None),
        ("content_block_start", 2, None),
        ("content_block_delta", 2, "input_json_delta"),
        ("content_block_delta", 2, "input_json_delta"),
        ("content_block_stop", 2, None),
        ("content_block_start", 3, None),
        ("content_block_stop", 3, None),
        ("message_delta", None, None),
        ("message_stop", None, None),
    ]
    assert events[-2]["usage"]["output_tokens"] > 0


def test_the_raw_bytes_hold_pings_and_named_events(claude):
    with Provider("hi") as provider:
        raw = claude(provider).messages.with_raw_response.create(
            model=MODEL, max_tokens=9, messages=[ASKED], stream=True
        )
        text = raw.http_response.read().decode()

    assert 'event: ping\ndata: {"type":"ping"}\n\n' in text
    assert text.endswith('event: message_stop\ndata: {"type":"message_stop"}\n\n')


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (
            [ASKED, {"role": "assistant", "content": [Call]}, ASKED],
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: "
            "t1. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message.",
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t9"}]}],
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9. "
            "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
            "message.",
        ),
        (
            [{"role": "user", "content": ""}],
            "messages.0: all messages must have non-empty content "
            "except for the optional final assistant message",
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": ""}]}],
            "messages: text content blocks must be non-empty",
        ),
        (
            [ASKED, {"role": "assistant", "content": "The answer is"}],
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message.",
        ),
    ],
    ids=["no result", "no call", "empty", "empty text", "prefill"],
)
def test_a_broken_history_gets_the_providers_words(claude, messages, said):
    call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    for message in messages:
        if message["content"] == [Call]:
            message["content"] = [call]
    with Provider("never said") as provider:
        with pytest.raises(anthropic.BadRequestError) as raised:
            ask(claude(provider), *messages)
        after = ask(claude(provider))

    assert raised.value.type == "invalid_request_error"
    assert raised.value.api_message == said
    assert raised.value.request_id.startswith("req_011")
    assert after.content[0].text == "never said"
    assert [request.status for request in provider.requests] == [400, 200]


def test_a_request_without_its_key_is_refused(claude):
    with Provider(keys=["right"]) as provider:
        with pytest.raises(anthropic.AuthenticationError) as raised:
            ask(claude(provider, api_key="wrong"))
        ask(claude(provider, api_key="right"))

    assert raised.value.type == "authentication_error"
    assert raised.value.api_message == "invalid x-api-key"


def test_an_unknown_model_is_not_found(claude):
    with Provider(models=["claude-haiku-5-5"]) as provider:
        client = claude(provider)
        with pytest.raises(anthropic.NotFoundError) as raised:
            ask(client)
        listed = [model.id for model in client.models.list()]

    assert raised.value.api_message == f"model: {MODEL}"
    assert listed == ["claude-haiku-5-5"]


def test_a_prompt_over_the_window_is_refused_with_both_numbers(claude):
    with Provider(window_tokens=100) as provider:
        client = claude(provider)
        long = {"role": "user", "content": "word " * 500}
        counted = client.messages.count_tokens(model=MODEL, messages=[long], tools=TOOLS)
        with pytest.raises(anthropic.BadRequestError) as raised:
            ask(client, long)

    assert counted.input_tokens > 500
    expected = f"prompt is too long: {counted.input_tokens} tokens > 100 maximum"
    assert raised.value.api_message == expected


def test_a_body_over_the_size_is_refused_unread(claude):
    long = {"role": "user", "content": "x" * 2_000}
    with (
        Provider(most_body_bytes=1_000) as provider,
        pytest.raises(anthropic.ContentTooLargeError) as raised,
    ):
        ask(claude(provider), long)

    assert raised.value.type == "request_too_large"
    assert provider.requests[0].body == b""


def test_a_count_is_what_the_request_is_billed(claude):
    messages = [{"role": "user", "content": "How many tokens is this?"}]
    with Provider() as provider:
        client = claude(provider)
        counted = client.messages.count_tokens(model=MODEL, messages=messages)
        billed = client.messages.create(model=MODEL, max_tokens=9, messages=messages)

    assert counted.input_tokens == billed.usage.input_tokens


def test_a_model_with_another_vocabulary_counts_more(claude):
    messages = [{"role": "user", "content": "The quick brown fox. " * 100}]

    def count(client, model):
        return client.messages.count_tokens(model=model, messages=messages).input_tokens

    with Provider() as provider:
        client = claude(provider)
        ratio = count(client, "claude-opus-5") / count(client, "gpt-4o")

    assert ratio == pytest.approx(1.58, abs=0.02)


def test_every_request_is_kept_as_it_came(claude):
    with Provider() as provider:
        ask(claude(provider, default_headers={"x-trace": "7"}), max_tokens=77)

    [request] = provider.requests
    assert (request.method, request.path, request.status) == ("POST", "/v1/messages", 200)
    assert request.headers["x-trace"] == "7"
    assert request.headers["authorization"] == "Bearer key"
    assert b'"max_tokens":77' in request.body.replace(b" ", b"")
    assert request.json["max_tokens"] == 77
    assert (request.dialect, request.model) == ("anthropic", MODEL)
    assert request.usage.input_tokens > 0


def test_two_runs_give_the_same_bytes(claude):
    def run():
        clock = Clock()
        with Provider([Think("hm"), Call("ls")], "done", clock=clock) as provider:
            client = claude(provider)
            first = ask(client)
            return first.to_json() + ask(client, ASKED, replayed(first), results(first)).to_json()

    assert run() == run()


def test_a_function_can_answer(claude):
    def answer(request):
        last = request.json["messages"][-1]["content"]
        return Reply((Say(last.upper()),), stop="length")

    with Provider("scripted first", answer=answer) as provider:
        client = claude(provider)
        first, second = ask(client), ask(client)

    assert first.content[0].text == "scripted first"
    assert (second.content[0].text, second.stop_reason) == ("WHERE AM I?", "max_tokens")


CITED = {"type": "text", "text": "a", "citations": [{"type": "char_location"}]}
DOCUMENT = {"type": "document", "source": {"type": "text", "data": "x", "media_type": "text/plain"}}


@pytest.mark.parametrize(
    ("messages", "fields"),
    [
        ([ASKED], {"temperature": 1.0}),
        ([{"role": "user", "content": [CITED]}], {}),
        ([ASKED, {"role": "assistant", "content": [DOCUMENT]}, ASKED], {}),
    ],
    ids=["sampling", "citations of the user", "a document of the assistant"],
)
def test_the_newest_version_of_the_api_refuses_what_the_older_took(claude, messages, fields):
    with Provider() as provider:
        with pytest.raises(anthropic.BadRequestError):
            ask(claude(provider), *messages, extra_body=fields)
        older = claude(provider, default_headers={"anthropic-version": "2023-06-01"})
        answer = ask(older, *messages, extra_body=fields)

    assert answer.content[0].text == "Done."
