import pytest

from headgate.errors import PolicyError
from headgate.gateway.upstreams import (
    DEFAULTS,
    Upstream,
    leaves_its_folder,
    upstream_for,
    upstream_of,
    with_named,
)


def where(path, headers=(), upstreams=DEFAULTS):
    found = upstream_for(path, dict.fromkeys(headers, b"x"), upstreams)
    return found and (found[0].name, found[1])


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/v1/messages", [b"x-api-key"], "anthropic"),
        ("/v1/messages/count_tokens", [], "anthropic"),
        ("/v1/models", [b"anthropic-version", b"authorization"], "anthropic"),
        ("/api/oauth/profile", [b"anthropic-version"], "anthropic"),
        ("/v1/models", [b"x-api-key"], "anthropic"),
        ("/v1/models", [b"authorization"], "openai"),
        ("/v1/chat/completions", [b"authorization"], "openai"),
        ("/chat/completions", [b"authorization"], "openai"),
        ("/responses", [b"authorization"], "openai"),
        ("/v1/responses/resp_1/cancel", [b"authorization"], "openai"),
        ("/v1beta/models/gemini-3-pro:generateContent", [], "gemini"),
        ("/v1/models/gemini-3-pro:streamGenerateContent", [], "gemini"),
        ("/upload/v1beta/files", [], "gemini"),
        ("/v1/models", [b"x-goog-api-key"], "gemini"),
    ],
)
def test_the_path_and_the_kind_of_key_say_whom_a_request_is_for(path, headers, name):
    assert where(path, headers) == (name, path)


def test_a_request_that_nothing_places_is_for_nobody():
    assert where("/foo", [b"authorization"]) is None
    assert where("/metrics") is None


def test_a_name_at_the_head_of_the_path_chooses():
    known = with_named([upstream_of("deepseek=https://api.deepseek.com")])

    assert where("/deepseek/chat/completions", [b"x-api-key"], known) == (
        "deepseek",
        "/chat/completions",
    )
    assert where("/openai/v1/models", [b"x-api-key"], known) == ("openai", "/v1/models")


def test_a_named_upstream_stands_in_for_ours():
    known = with_named([upstream_of("openai=http://127.0.0.1:9000/")])

    assert [(one.name, one.url, one.is_named) for one in known] == [
        ("anthropic", "https://api.anthropic.com", False),
        ("openai", "http://127.0.0.1:9000", True),
        ("gemini", "https://generativelanguage.googleapis.com", False),
    ]


@pytest.mark.parametrize(
    ("url", "path", "target"),
    [
        ("https://host", "/v1/messages", "https://host/v1/messages?a=%20b"),
        ("https://host/llm", "/v1/messages", "https://host/llm/v1/messages?a=%20b"),
        ("https://host/v1", "/v1/messages", "https://host/v1/messages?a=%20b"),
        ("https://host/v1", "/chat/completions", "https://host/v1/chat/completions?a=%20b"),
        ("https://host/v1", "/v1beta/x", "https://host/v1/v1beta/x?a=%20b"),
    ],
)
def test_a_path_goes_below_the_upstreams_own(url, path, target):
    assert Upstream("x", url).target(path, "a=%20b") == target


def test_a_query_that_is_not_there_stays_away():
    assert Upstream("x", "https://host").target("/a%2Cb", "") == "https://host/a%2Cb"


@pytest.mark.parametrize(
    "text",
    [
        "openai",
        "=https://host",
        "v1=https://host",
        "token=https://host",
        "a/b=https://host",
        "Open=https://host",
        "openai=host",
        "openai=ftp://host",
        "openai=https://",
        "openai=https://host:port",
        "openai=https://user:pass@host",
        "openai=https://host?key=1",
        "openai=https://host#x",
        "openai=https://[::1",
    ],
)
def test_an_upstream_is_a_name_and_an_address_and_no_more(text):
    with pytest.raises(PolicyError):
        upstream_of(text)


@pytest.mark.parametrize(
    "path", ["/v1/../admin", "/..", "/.", "/%2e%2E/x", "/a/%2e./b", "/a\\..\\b", "/a%2fb", "x"]
)
def test_steps_upwards_are_noticed_however_they_are_written(path):
    assert leaves_its_folder(path)


@pytest.mark.parametrize("path", ["/", "/v1/messages", "/a..b/c.d", "/v1/models/gpt-4.1", "/...x"])
def test_dots_in_names_are_no_steps(path):
    assert not leaves_its_folder(path)
