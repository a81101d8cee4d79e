import json

import pytest

from headgate.dialects import DIALECTS, dialect_named
from headgate.endpoint import UrlEndpoint
from headgate.errors import HistoryError
from headgate.history.count import accounting_for
from headgate.history.exact import Ask, asks, exact_count, small_model_for, tokens_in
from headgate.testing import Provider

pytestmark = pytest.mark.proves("A5")

TEXT = "The headgate decides how much water is let in. " * 40
MODELS = {
    "anthropic": "claude-opus-5",
    "openai-chat": "gpt-5",
    "openai-responses": "gpt-5",
    "gemini": "gemini-2.5-pro",
}
KEYS = {
    "anthropic": {"x-api-key": "key", "anthropic-version": "2023-06-01"},
    "openai-chat": {"authorization": "Bearer key"},
    "openai-responses": {"authorization": "Bearer key"},
    "gemini": {"x-goog-api-key": "key"},
}
MESSAGES = {
    "anthropic": {
        "max_tokens": 4_096,
        "stream": True,
        "temperature": 1,
        "metadata": {"user_id": "u"},
        "system": "Be brief.",
        "messages": [{"role": "user", "content": TEXT}],
    },
    "openai-chat": {
        "stream": True,
        "reasoning_effort": "high",
        "messages": [{"role": "user", "content": TEXT}],
    },
    "openai-responses": {
        "stream": True,
        "store": True,
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": TEXT}],
    },
    "gemini": {
        "generationConfig": {"temperature": 1},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": TEXT}]}],
    },
}
COUNTING = ("/count_tokens", "/input_tokens", ":countTokens")


def history_in(name, **more):
    body = {"model": MODELS[name], **MESSAGES[name], **more}
    if name == "gemini":
        del body["model"]
    return dialect_named(name).read(json.dumps(body).encode())


def endpoint(provider, name):
    return UrlEndpoint(provider.url, KEYS[name])


def counted_by(history, post, **more):
    model = MODELS[history.dialect]
    return exact_count(history, post, accounting_for(model), model=model, **more)


def silent(path, body):
    raise ConnectionRefusedError("nobody there")


@pytest.mark.parametrize("name", ["anthropic", "openai-responses", "gemini"])
def test_the_providers_own_endpoint_counts_exactly(name):
    with Provider() as provider:
        counted = counted_by(history_in(name), endpoint(provider, name))
        [asked] = provider.requests

    assert asked.status == 200
    assert asked.path.endswith(COUNTING)
    assert (counted.exact, counted.failures, counted.estimate) == (True, (), None)
    assert counted.by.endswith(f"of {MODELS[name]}")
    estimated = counted_by(history_in(name), silent)
    assert abs(counted.tokens - estimated.estimate.likely) < 0.02 * counted.tokens


@pytest.mark.parametrize("name", [dialect.name for dialect in DIALECTS])
def test_without_that_endpoint_a_call_for_one_token_counts(name):
    with Provider() as provider:
        post = endpoint(provider, name)

        def lacking(path, body):
            return (404, b"{}") if path.endswith(COUNTING) else post(path, body)

        counted = counted_by(history_in(name), lacking)
        [asked] = provider.requests

    small = small_model_for(name, MODELS[name], "first-party", thinks=False)
    assert asked.status == 200
    assert asked.model == small
    assert counted.by.startswith("a call for")
    assert counted.by.endswith(small)
    assert len(counted.failures) == (0 if name == "openai-chat" else 1)
    assert counted.tokens > 0


def test_when_nobody_answers_the_estimate_stands_and_says_what_failed():
    counted = counted_by(history_in("anthropic"), silent)

    assert counted.by == "estimate"
    assert not counted.exact
    assert counted.tokens == counted.estimate.tokens
    assert counted.failures == (
        "count_tokens of claude-opus-5: nobody there",
        "a call for one token on claude-haiku-5: nobody there",
    )


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, b""),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b'{"input_tokens": null}'),
        (200, b'{"input_tokens": true}'),
        (200, b'{"input_tokens": -1}'),
        (200, b'{"input_tokens": "12"}'),
        (200, b"[" * 100_000),
        (200, b"\xff\xfe"),
        (429, b'{"input_tokens": 5}'),
        (302, b'{"input_tokens": 5}'),
    ],
)
def test_an_answer_without_a_number_counts_nothing(status, answer):
    ask = Ask("/v1/messages/count_tokens", b"{}", "x", "m", field="input_tokens")

    assert tokens_in(ask, status, answer) is None
    assert counted_by(history_in("anthropic"), lambda *_: (status, answer)).by == "estimate"


@pytest.mark.parametrize(
    ("platform", "thinks", "small"),
    [
        ("first-party", False, "claude-haiku-5"),
        ("first-party", True, "claude-haiku-5"),
        ("vertex", False, "claude-haiku-5"),
        ("vertex", True, "claude-haiku-5"),
        ("vertex-global", False, "claude-sonnet-5"),
        ("vertex-global", True, "claude-sonnet-5"),
        ("bedrock", False, "claude-haiku-5"),
        ("bedrock", True, "claude-sonnet-5"),
    ],
)
def test_the_small_model_depends_on_the_platform_and_on_thinking(platform, thinks, small):
    assert small_model_for("anthropic", "claude-opus-5", platform, thinks=thinks) == small


def test_the_small_model_is_of_the_generation_that_counts_alike():
    def small(model):
        return small_model_for("anthropic", model, "first-party", thinks=False)

    assert small("claude-opus-4-6") == "claude-haiku-4-5"
    assert small("claude-fable-5") == "claude-haiku-5"


def test_another_vocabulary_is_converted_and_is_not_called_exact():
    history = history_in("anthropic", model="claude-opus-4-8")
    usage = b'{"usage": {"input_tokens": 100, "cache_read_input_tokens": 1480}}'

    def post(path, body):
        return (404, b"") if path.endswith(COUNTING) else (200, usage)

    counted = exact_count(history, post, accounting_for("claude-opus-4-8"))

    # 1.70 tokens of the one are 1.58 of the other.
    assert (counted.tokens, counted.exact) == (1_700, False)


def test_which_small_model_is_asked_depends_on_where_it_runs():
    with Provider() as provider:
        post = endpoint(provider, "anthropic")

        def lacking(path, body):
            return (404, b"{}") if path.endswith(COUNTING) else post(path, body)

        counted = counted_by(history_in("anthropic"), lacking, platform="vertex-global")

    assert counted.by == "a call for one token on claude-sonnet-5"


@pytest.mark.parametrize(("lacks", "exact"), [((), True), (COUNTING, False)])
def test_only_what_counts_thinking_is_exact_for_a_history_with_thinking(lacks, exact):
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [thought, {"type": "text", "text": "ho"}]},
        {"role": "user", "content": "go on"},
    ]
    history = history_in("anthropic", messages=messages)
    usage = b'{"input_tokens": 20, "usage": {"input_tokens": 20, "output_tokens": 1}}'

    def post(path, body):
        return (404, b"") if lacks and path.endswith(lacks) else (200, usage)

    counted = counted_by(history, post)

    assert (counted.tokens, counted.exact) == (20, exact)


def test_only_fields_that_the_endpoint_knows_are_sent():
    counting, call = asks(
        history_in("anthropic", thinking={"type": "adaptive"}), model="claude-opus-5"
    )

    assert json.loads(counting.body) == {
        "messages": [{"role": "user", "content": TEXT}],
        "system": "Be brief.",
        "thinking": {"type": "adaptive"},
        "model": "claude-opus-5",
    }
    assert json.loads(call.body) == {
        "messages": [{"role": "user", "content": TEXT}],
        "system": "Be brief.",
        "model": "claude-haiku-5",
        "max_tokens": 1,
    }


def test_vertex_takes_the_fields_of_a_gemini_request_as_they_are():
    own, _ = asks(history_in("gemini"), model="gemini-2.5-pro")
    vertex, _ = asks(history_in("gemini"), model="gemini-2.5-pro", platform="vertex")

    assert set(json.loads(vertex.body)) == {"contents", "systemInstruction"}
    assert json.loads(own.body)["generateContentRequest"] == {
        **json.loads(vertex.body),
        "model": "models/gemini-2.5-pro",
    }


def test_a_bare_array_is_counted_for_the_model_that_is_named():
    history = dialect_named("anthropic").read(b'[{"role": "user", "content": "hi"}]')

    counting, _ = asks(history, model="claude-opus-5")

    assert json.loads(counting.body) == {
        "messages": [{"role": "user", "content": "hi"}],
        "model": "claude-opus-5",
    }
    with pytest.raises(HistoryError, match="names no model"):
        exact_count(history, silent, accounting_for("claude-opus-5"))
