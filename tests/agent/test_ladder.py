import anthropic
import httpx2
import openai
import pytest

from headgate import Policy, chars, tokens
from headgate.ageing import Ageing
from headgate.agent.ladder import is_overflow, ladder
from headgate.model import ModelError
from headgate.testing import Provider, ScriptedClient


def refused(status, message, *, body=None, code=None):
    class Refused(Exception):
        pass

    error = Refused(message)
    error.status_code, error.body, error.code = status, body, code
    return error


@pytest.mark.proves("G6")
def test_the_first_step_ages_as_the_policy_says_but_now_and_the_second_all_it_may():
    ageing = Ageing(low=0.4, spared=("write", "pinned"))

    steps = ladder(Policy(ageing=ageing))

    assert steps == [
        ("tighten", Ageing(high=0.0, low=0.4, weigh=False, spared=("write", "pinned"))),
        (
            "compact",
            Ageing(
                high=0.0,
                low=0.0,
                weigh=False,
                spared=("pinned",),
                keep_last=1,
                least=tokens(128),
            ),
        ),
    ]


def test_the_ladder_counts_in_the_policys_unit():
    assert ladder(Policy(result=chars(8_000)))[1][1].least == chars(512)


@pytest.mark.parametrize(
    "error",
    [
        refused(400, "prompt is too long: 201234 tokens > 200000 maximum"),
        refused(400, "This model's maximum context length is 8192 tokens."),
        refused(400, "x", code="context_length_exceeded"),
        refused(400, "x", body={"error": {"code": "context_length_exceeded"}}),
        refused(400, "x", body={"error": {"details": {"error_code": "prompt_too_long"}}}),
        refused(413, "Request exceeds the maximum size"),
        refused(413, "x", body={"error": {"type": "request_too_large"}}),
        ModelError("Your input exceeds the context window", "context_length_exceeded"),
    ],
)
def test_an_overflow_is_told_by_its_code_its_status_or_its_words(error):
    assert is_overflow(error, 1_000, None)


@pytest.mark.parametrize(
    "error",
    [
        refused(400, "messages.1: text content blocks must be non-empty"),
        refused(400, "Invalid 'id': string too long.", code="string_above_max_length"),
        refused(429, "too many tokens per minute: slow down"),
        refused(500, "context length could not be computed"),
        ModelError("the stream ended before the reply was complete"),
        ConnectionResetError("context window"),
    ],
)
def test_other_errors_are_none(error):
    assert not is_overflow(error, 1_000, 200_000)


def test_a_bare_refusal_of_a_request_near_the_window_is_taken_for_one():
    assert is_overflow(refused(400, "no"), 180_000, 200_000)
    assert not is_overflow(refused(400, "no"), 179_999, 200_000)


def overflow_of(client, name, body):
    """The error that a real client raises for a request that is too long."""
    endpoint = client
    for part in name.split("."):
        endpoint = getattr(endpoint, part)
    with pytest.raises((anthropic.APIStatusError, openai.APIStatusError)) as error:
        endpoint.create(**body)
    return error.value


def test_the_errors_of_the_real_clients_are_understood():
    long = [{"role": "user", "content": "word " * 200}]
    with Provider(window_tokens=100) as provider, httpx2.Client() as http:
        theirs = anthropic.Anthropic(base_url=provider.url, api_key="k", http_client=http)
        ours = openai.OpenAI(base_url=provider.openai_url, api_key="k", http_client=http)
        errors = [
            overflow_of(
                theirs, "messages", {"model": "claude-opus-5-5", "max_tokens": 9, "messages": long}
            ),
            overflow_of(ours, "chat.completions", {"model": "gpt-5", "messages": long}),
            overflow_of(ours, "responses", {"model": "gpt-5", "input": long}),
        ]

    assert [is_overflow(error, 0, None) for error in errors] == [True, True, True]


def test_the_scripted_client_refuses_in_a_way_that_is_understood():
    client = ScriptedClient(window_tokens=10)

    with pytest.raises(Exception, match="too long") as error:
        client.messages.create(
            model="claude-opus-5-5",
            max_tokens=9,
            messages=[{"role": "user", "content": "word " * 200}],
        )

    assert is_overflow(error.value, 0, None)
