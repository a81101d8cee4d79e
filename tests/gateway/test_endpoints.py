import pytest

from headgate.gateway.endpoints import Endpoint, endpoint_of


@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/v1/messages", Endpoint("anthropic")),
        ("/anthropic/v1/messages", Endpoint("anthropic")),
        ("/v1/messages/count_tokens", Endpoint("anthropic", counts=True)),
        ("/v1/chat/completions", Endpoint("openai-chat")),
        ("/deepseek/chat/completions", Endpoint("openai-chat")),
        ("/v1/responses", Endpoint("openai-responses")),
        ("/v1/responses/input_tokens", Endpoint("openai-responses", counts=True)),
        ("/v1beta/models/gemini-3-pro:generateContent", Endpoint("gemini", "gemini-3-pro")),
        ("/v1beta/models/g:streamGenerateContent", Endpoint("gemini", "g")),
        ("/v1beta/models/g:countTokens", Endpoint("gemini", "g", counts=True)),
    ],
)
def test_the_endpoints_that_carry_a_history(path, endpoint):
    assert endpoint_of("POST", path) == endpoint


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/messages"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/responses/resp_1/cancel"),
        ("POST", "/v1beta/models/g:embedContent"),
        ("POST", "/v1/files"),
        ("POST", "/"),
    ],
)
def test_everything_else_is_none_of_our_business(method, path):
    assert endpoint_of(method, path) is None
