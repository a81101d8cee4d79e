import gc
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import anthropic
import openai
import pytest
from google.genai import errors

from headgate.testing import Cut, Failure, Provider, Reply, Reset, Say, Stall
from tests.testing.conversing import ASKED, ask

WORDS = Say("One two three four five six seven eight nine ten.")
CHAT = {"model": "gpt-5", "messages": [ASKED]}
SHORT_S = 0.2


@contextmanager
def connected(provider: Provider) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(provider.url.removeprefix("http://"), timeout=5)
    try:
        yield connection
    finally:
        connection.close()


def post(provider, path, body, headers=None, **how):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with connected(provider) as connection:
        headers = {"authorization": "Bearer key", **(headers or {})}
        connection.request("POST", path, data, headers, **how)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_a_rate_limit_says_when_to_come_back(claude, gpt):
    limit = Failure(429, retry_after_s=2.5)
    with Provider(limit, limit) as provider:
        with pytest.raises(anthropic.RateLimitError) as by_anthropic:
            ask(claude(provider))
        with pytest.raises(openai.RateLimitError) as by_openai:
            gpt(provider).chat.completions.create(**CHAT)

    assert by_anthropic.value.type == "rate_limit_error"
    assert by_anthropic.value.response.headers["retry-after"] == "2.5"
    assert by_openai.value.code == "rate_limit_exceeded"
    assert by_openai.value.response.headers["retry-after"] == "2.5"


def test_a_client_that_retries_gets_the_next_reply(claude):
    soon = 0.001
    failures = [Failure(529, retry_after_s=soon), Failure(500, retry_after_s=soon)]
    with Provider(*failures, "At last.") as provider:
        answer = ask(claude(provider, max_retries=2))

    assert answer.content[0].text == "At last."
    assert [request.status for request in provider.requests] == [529, 500, 200]
    assert len({request.body for request in provider.requests}) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [(500, "api_error"), (529, "overloaded_error"), (403, "permission_error")],
)
def test_a_failure_has_the_type_of_its_status(claude, status, kind):
    failing = Provider(Failure(status, "Not today."))
    with failing as provider, pytest.raises(anthropic.APIStatusError) as raised:
        ask(claude(provider))

    error = raised.value
    assert (error.status_code, error.type, error.api_message) == (status, kind, "Not today.")


def test_gemini_fails_in_its_own_words(gemini):
    with Provider(Failure(503)) as provider, pytest.raises(errors.ServerError) as raised:
        gemini(provider).models.generate_content(model="gemini-3-pro", contents="hi")

    assert (raised.value.code, raised.value.status) == (503, "UNAVAILABLE")


def test_a_stream_can_break_off_with_an_error(claude, gpt):
    broken = Reply((WORDS,), fault=Failure(529, after_events=4))
    with Provider(broken, broken, broken) as provider:
        with pytest.raises(anthropic.APIStatusError) as by_anthropic:
            list(ask(claude(provider), stream=True))
        client = gpt(provider)
        with pytest.raises(openai.APIError) as by_chat:
            list(client.chat.completions.create(**CHAT, stream=True))
        by_responses = list(client.responses.create(model="gpt-5", input="hi", stream=True))

    assert by_anthropic.value.type == "overloaded_error"
    assert by_chat.value.message == "Overloaded"
    assert (by_responses[-1].type, by_responses[-1].message) == ("error", "Overloaded")
    assert [event.sequence_number for event in by_responses] == [0, 1, 2, 3, 4]


def test_a_stream_that_is_cut_ends_without_its_last_event(claude):
    with Provider(Reply((WORDS,), fault=Cut(after_events=4))) as provider:
        events = [event.type for event in ask(claude(provider), stream=True)]

    assert events == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
    ]


def test_a_stream_that_is_reset_breaks_the_connection(claude):
    with Provider(Reply((WORDS,), fault=Reset(after_events=3))) as provider:
        stream = ask(claude(provider), stream=True)
        with pytest.raises(Exception, match=r"reset|closed|peer|error") as raised:
            list(stream)

    assert not isinstance(raised.value, AssertionError)


def test_a_reset_before_the_answer_is_a_connection_error(claude):
    with Provider(Reset()) as provider, pytest.raises(anthropic.APIConnectionError):
        ask(claude(provider))


def test_an_answer_that_stalls_runs_into_the_clients_timeout(claude):
    with Provider(Stall()) as provider, pytest.raises(anthropic.APITimeoutError):
        ask(claude(provider, timeout=SHORT_S))


def test_a_stream_that_stalls_brought_its_first_events(claude):
    seen = []

    def read(stream):
        seen.extend(event.type for event in stream)

    with Provider(Reply((WORDS,), fault=Stall(after_events=3))) as provider:
        stream = ask(claude(provider, timeout=SHORT_S), stream=True)
        with pytest.raises(Exception, match="timed out"):
            read(stream)

    assert seen[0] == "message_start"


def test_the_stand_in_can_be_left_while_a_client_waits():
    with Provider(Stall()) as provider, connected(provider) as connection:
        connection.request(
            "POST",
            "/v1/chat/completions",
            json.dumps(CHAT).encode(),
            {"authorization": "Bearer key"},
        )
        while not provider.requests:
            pass

    assert provider.requests[0].status == 200


@pytest.mark.parametrize("size", [1, 7])
def test_a_stream_in_small_chunks_is_the_same_stream(size):
    body = {**CHAT, "stream": True}
    words = "Grüße, 世界 🙂"
    clock = lambda: 0.0  # noqa: E731
    with (
        Provider(words, clock=clock) as whole,
        Provider(words, clock=clock, write_bytes=size) as split,
    ):
        assert post(split, "/v1/chat/completions", body) == post(
            whole, "/v1/chat/completions", body
        )


PATHS = [
    "/v1/messages",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1beta/models/gemini-3-pro:generateContent",
]
VERSION = {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"7", b"{}", b'{"a": NaN}', b"\xff", b"[" * 50_000, b'{"a":' * 50_000],
    ids=["empty", "open", "array", "number", "nothing", "nan", "bytes", "deep", "deeper"],
)
def test_what_is_no_request_is_refused_and_the_stand_in_goes_on(path, body):
    with Provider() as provider:
        status, answer = post(provider, path, body, VERSION)
        again = post(provider, "/v1/chat/completions", CHAT)

    assert status == 400
    assert json.loads(answer)["error"]["message"]
    assert again[0] == 200


@pytest.fixture
def nothing_collected():
    """Far down in a recursion no finalizer has room to run, whoever left what it would clear."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("nothing_collected")
@pytest.mark.parametrize("path", PATHS)
def test_deep_nesting_in_a_field_is_answered(path):
    deep = b"[" * 900 + b"]" * 900
    body = (
        b'{"model": "m", "max_tokens": 9, "tools": [{"name": "a", "input_schema": {"x": %b}}], '
        b'"messages": [{"role": "user", "content": "a"}], "input": "a", '
        b'"contents": [{"parts": [{"text": "a"}]}]}' % deep
    )
    with Provider() as provider:
        status, _ = post(provider, path, body, VERSION)

    assert status in (200, 400)


@pytest.mark.parametrize(
    ("path", "status"),
    [*((path, 401) for path in PATHS[:3]), (PATHS[3], 403)],
)
def test_without_a_key_nobody_is_let_in(path, status):
    with Provider() as provider:
        answered, _ = post(provider, path, CHAT, {"authorization": ""})

    assert answered == status


def test_a_path_nobody_has_is_not_found():
    with Provider() as provider:
        assert post(provider, "/v1/novelties", CHAT)[0] == 404

    assert provider.requests[0].dialect == ""


def test_a_body_that_comes_in_chunks_is_read():
    def pieces():
        yield b'{"model": "gpt-5", '
        yield b'"messages": [{"role": "user", "content": "hi"}]}'

    with Provider("ok") as provider, connected(provider) as connection:
        connection.request(
            "POST",
            "/v1/chat/completions",
            pieces(),
            {"authorization": "Bearer key", "transfer-encoding": "chunked"},
            encode_chunked=True,
        )
        answer = connection.getresponse()
        assert (answer.status, json.load(answer)["choices"][0]["message"]["content"]) == (200, "ok")

    assert provider.requests[0].json["model"] == "gpt-5"


def test_one_connection_carries_many_requests():
    with Provider() as provider, connected(provider) as connection:
        for _ in range(3):
            connection.request(
                "POST",
                "/v1/chat/completions",
                json.dumps(CHAT).encode(),
                {"authorization": "Bearer key"},
            )
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200

    assert len(provider.requests) == 3


def test_more_can_be_scripted_on_the_way():
    def said(provider):
        _, answer = post(provider, "/v1/chat/completions", CHAT)
        return json.loads(answer)["choices"][0]["message"]["content"]

    with Provider("first") as provider:
        words = [said(provider), said(provider)]
        provider.script("second", "third")
        words += [said(provider), said(provider)]

    assert words == ["first", "Done.", "second", "third"]


def test_the_stand_in_needs_no_client_of_a_provider():
    without = "import sys; sys.modules.update(dict.fromkeys(['anthropic', 'google', 'openai']))"
    code = f"{without}; from headgate.testing import Call, Provider; print(Provider(Call('ls')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)

    assert b"Provider object" in ran.stdout
