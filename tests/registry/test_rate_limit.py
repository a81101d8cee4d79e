import io
import urllib.error
from datetime import UTC, datetime
from email.message import Message

import aiohttp
import anthropic
import httpx
import httpx2
import openai
import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from headgate.registry.rate_limit import LONGEST_WAIT_S, RateLimit, rate_limit_of

ADDRESS = "https://me:secret@api.example.com:8443/v1/search?key=secret"
NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


def of_httpx(status, headers, client=httpx):
    response = client.Response(status, headers=headers, request=client.Request("GET", ADDRESS))
    with pytest.raises(client.HTTPStatusError) as caught:
        response.raise_for_status()
    return caught.value


def of_httpx2(status, headers):
    return of_httpx(status, headers, httpx2)


def of_requests(status, headers):
    response = requests.Response()
    response.status_code = status
    response.url = ADDRESS
    response.headers.update(headers)
    with pytest.raises(requests.HTTPError) as caught:
        response.raise_for_status()
    return caught.value


def of_aiohttp(status, headers):
    sent = aiohttp.RequestInfo(URL(ADDRESS), "GET", CIMultiDictProxy(CIMultiDict()))
    return aiohttp.ClientResponseError(sent, (), status=status, headers=CIMultiDict(headers))


def of_urllib(status, headers):
    told = Message()
    for name, value in headers.items():
        told[name] = value
    return urllib.error.HTTPError(ADDRESS, status, "Too Many Requests", told, io.BytesIO())


def of_anthropic(status, headers):
    response = httpx2.Response(status, headers=headers, request=httpx2.Request("POST", ADDRESS))
    return anthropic.APIStatusError("slow down", response=response, body=None)


def of_openai(status, headers):
    response = httpx2.Response(status, headers=headers, request=httpx2.Request("POST", ADDRESS))
    return openai.APIStatusError("slow down", response=response, body=None)


CLIENTS = [of_httpx, of_httpx2, of_requests, of_aiohttp, of_urllib, of_anthropic, of_openai]


@pytest.mark.proves("R12")
@pytest.mark.parametrize("client", CLIENTS)
def test_the_exceptions_of_the_usual_clients_tell_status_wait_and_host(client):
    found = rate_limit_of(client(429, {"Retry-After": "30"}), NOW)

    assert (found.retry_after_s, found.upstream) == (30, "api.example.com")


@pytest.mark.proves("R12")
@pytest.mark.parametrize("client", CLIENTS)
def test_503_is_a_limit_only_if_it_says_when_to_come_back(client):
    assert rate_limit_of(client(503, {"retry-after": "2"}), NOW).retry_after_s == 2
    assert rate_limit_of(client(503, {}), NOW) is None


@pytest.mark.proves("R12")
@pytest.mark.parametrize("client", CLIENTS)
def test_any_other_status_is_none(client):
    assert rate_limit_of(client(404, {"retry-after": "30"}), NOW) is None


def with_fields(**fields):
    error = Exception("Too Many Requests")
    for name, value in fields.items():
        setattr(error, name, value)
    return error


@pytest.mark.proves("R12")
@pytest.mark.parametrize(
    "error",
    [
        with_fields(status=429, headers={"retry-after": "30"}),
        with_fields(status_code=429, headers={"Retry-After": 30}),
        with_fields(statusCode="429", headers={"RETRY-AFTER": "30"}),
        with_fields(status=429, headers=[(b"Retry-After", b"30")]),
        with_fields(response={"status": 429, "headers": {"Retry-After": "29.2"}}),
        with_fields(
            response={
                "Error": {"Code": "ThrottlingException"},
                "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "30"}},
            }
        ),
        with_fields(status=429, headers={"retry-after": "Sun, 15 Nov 2026 12:00:30 GMT"}),
        with_fields(status=429, headers={"retry-after": "1", "retry-after-ms": "29500"}),
    ],
)
def test_a_status_and_headers_are_found_wherever_a_client_puts_them(error):
    assert rate_limit_of(error, NOW) == RateLimit(30, "", "Too Many Requests")


@pytest.mark.proves("R12")
@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        ("0", 0),
        ("-5", 0),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0),
        ("Sun, 15 Nov 2026 13:00:00 +0100", 0),
        ("99999999999", LONGEST_WAIT_S),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Sun, 45 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_what_an_upstream_says_of_the_wait_is_taken_if_it_makes_sense(said, wait_s):
    error = with_fields(status=429, headers={"retry-after": said})

    assert rate_limit_of(error, NOW).retry_after_s == wait_s


@pytest.mark.proves("R12")
def test_a_limit_is_found_below_what_a_tool_raised_for_it():
    limit = with_fields(status=429)
    because_of = RuntimeError("search is down")
    because_of.__cause__ = limit
    while_at = RuntimeError("search is down")
    while_at.__context__ = limit
    group = ExceptionGroup("two of them", [ValueError("x"), limit])

    for error in (because_of, while_at, group):
        assert rate_limit_of(error, NOW) == RateLimit(None, "", "Too Many Requests")


def test_a_cause_that_was_put_aside_is_not_looked_at():
    error = RuntimeError("search is down")
    error.__context__ = with_fields(status=429)
    error.__suppress_context__ = True

    assert rate_limit_of(error, NOW) is None


def test_causes_in_a_circle_come_to_an_end():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first

    assert rate_limit_of(first, NOW) is None


class Touchy(Exception):
    @property
    def response(self):
        raise RuntimeError("no request was made")

    @property
    def status(self):
        return 429


def test_what_raises_when_it_is_looked_at_is_not_there():
    assert rate_limit_of(Touchy("x"), NOW) == RateLimit(None, "", "x")


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.binary(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.dictionaries(
        st.sampled_from(["status", "status_code", "headers", "response", "request", "url"]), VALUES
    )
)
def test_no_exception_is_too_odd_to_be_looked_at(fields):
    rate_limit_of(with_fields(**fields), NOW)
