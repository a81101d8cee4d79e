"""What is not let through, answered in the words of each provider, and never left unanswered."""

import json
import socket
from contextlib import suppress

import brotli
import pytest

from headgate.gateway.entry import Entry
from headgate.gateway.refusals import Refusal
from tests.gateway.conftest import body_of
from tests.gateway.wire import (
    Upstream,
    connected,
    everything,
    exchange,
    head,
    read_message,
    request,
)

TOKEN = "t" * 32
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def answered(gateway_to):
    """Asks a gateway whose upstream nobody may reach."""
    gateway = gateway_to(NOWHERE, most_body_bytes=100_000)

    def ask(data):
        answer = exchange(gateway.url, data)
        assert gateway.counters.sum("broken", "unreachable") == 0
        return answer.status, json.loads(answer.body)["error"]["message"], gateway.counters

    return ask


def test_each_provider_refuses_in_its_own_words():
    refusal = Refusal(413, "size", "too much")

    assert json.loads(refusal.body("anthropic")) == {
        "type": "error",
        "error": {"type": "request_too_large", "message": "headgate: too much"},
    }
    assert json.loads(refusal.body("gemini")) == {
        "error": {"code": 413, "message": "headgate: too much", "status": "INVALID_ARGUMENT"}
    }
    for dialect in ("openai-chat", "openai-responses", ""):
        assert json.loads(refusal.body(dialect)) == {
            "error": {
                "message": "headgate: too much",
                "type": "invalid_request_error",
                "param": None,
                "code": "size",
            }
        }


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (request(b"{}", host="evil.example"), 421, "host"),
        (request(b"{}", origin="null"), 403, "origin"),
        (request(b"{}", "/v1/../x"), 400, "path"),
        (request(b"{}", "/nobody/knows", x_api_key=""), 404, "upstream"),
        (request(b"{}", "/v1/messages", content_encoding="rot13"), 400, "encoding"),
        (request(b"{}", "/v1/messages", content_encoding="gzip"), 400, "encoding"),
        (request(b"[" * 90_000), 400, "depth"),
        (request(b'{"a":' * 15_000 + b"1" + b"}" * 15_000), 400, "depth"),
    ],
)
def test_a_request_is_refused_before_anybody_is_asked(answered, data, status, reason):
    if reason == "upstream":
        data = data.replace(b"x-api-key: \r\n", b"")
    got, _, counters = answered(data)

    assert got == status
    assert counters.sum("refused", reason) == 1


def test_a_body_over_the_bound_is_refused_by_what_it_announces(answered):
    status, message, _ = answered(request(b"x", content_length=10**12)[:-1])

    assert (status, message) == (
        413,
        "headgate: the body has more than 0.0953674 MB; see --max-body",
    )


def test_a_body_over_the_bound_is_refused_while_it_comes(gateway_to):
    gateway = gateway_to(NOWHERE, most_body_bytes=100_000)
    with connected(gateway.url) as connection:
        connection.sendall(request(transfer_encoding="chunked"))
        for _ in range(30):
            connection.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        answer = read_message(connection)

    assert answer.status == 413
    assert gateway.counters.sum("refused", "size") == 1


def test_a_client_that_sends_all_before_it_reads_gets_its_refusal(gateway_to):
    gateway = gateway_to(NOWHERE, most_body_bytes=100_000)

    answer = exchange(gateway.url, request(b"x" * 5_000_000))

    assert answer.status == 413


def test_a_bomb_is_refused(answered):
    bomb = brotli.compress(bytes(50_000_000), quality=1)

    status, _, counters = answered(request(bomb, content_encoding="br"))

    assert status == 413
    assert counters.sum("refused", "size") == 1


def test_a_body_without_a_token_is_not_even_read(gateway_to):
    gateway = gateway_to(NOWHERE, entry=Entry(token=TOKEN))
    with connected(gateway.url) as connection:
        connection.sendall(request(b"x", content_length=10_000))
        answer = read_message(connection)
        assert answer.status == 401
        assert answer.named["connection"] == "close"

    asked = request(b"{}", x_headgate_token=TOKEN)
    assert exchange(gateway.url, asked).status == 502


@pytest.mark.parametrize(
    "data",
    [
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n"
        b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n"
        b"content-length: 5\r\n\r\nabcde",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n"
        b"content-length: 4\r\n\r\nabcd",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-a: b\r\n c\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: xchunked\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: +4\r\n\r\nabcd",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nhost : localhost\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nhost: evil\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\nhost: localhost\n\n",
        b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx\x00y: z\r\n\r\n",
        b"\x16\x03\x01\x02\x00 this is TLS",
        b"no http at all\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ],
)
def test_what_can_be_read_in_two_ways_is_read_in_none(gateway_to, data):
    gateway = gateway_to(NOWHERE)

    assert everything(gateway.url, data).startswith(b"HTTP/1.1 400 ")
    assert gateway.counters.sum("requests", "anthropic") == 0


def test_an_endless_head_is_refused(gateway_to):
    gateway = gateway_to(NOWHERE)
    with connected(gateway.url) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ")
        sent = 0
        with suppress(OSError):
            while sent < 100_000_000:
                sent += connection.send(b"x" * 65_536)

    assert sent < 50_000_000
    assert exchange(gateway.url, request(method="GET", path="/")).status == 200


def test_a_head_that_never_ends_is_let_go(gateway_to, monkeypatch):
    monkeypatch.setattr("headgate.gateway.protocol.HEAD_TIMEOUT_S", 0.05)
    gateway = gateway_to(NOWHERE)

    assert everything(gateway.url, b"GET / HTTP/1.1\r\nhost: local") == b""


def test_an_expectation_is_met_and_not_passed_on(gateway_to):
    with Upstream(head(content_length=2) + b"{}") as upstream:
        gateway = gateway_to(upstream.url)
        body = body_of(text="short")
        with connected(gateway.url) as connection:
            asked = request(body, expect="100-continue")
            connection.sendall(asked[: -len(body)])
            assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(body)
            assert read_message(connection).status == 200

    assert "expect" not in upstream.requests[0].named


def test_an_upgrade_is_answered_as_a_plain_request(gateway_to):
    with Upstream(head("426 Upgrade Required", content_length=0)) as upstream:
        gateway = gateway_to(upstream.url)
        asked = request(
            method="GET", path="/v1/responses", connection="Upgrade", upgrade="websocket"
        )
        answer = exchange(gateway.url, asked)

    assert answer.status == 426
    assert "upgrade" not in upstream.requests[0].named


def test_a_half_closed_connection_is_answered(gateway_to):
    gateway = gateway_to(NOWHERE)
    with connected(gateway.url) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""


@pytest.mark.proves("P24")
@pytest.mark.parametrize("cut", [None, 20, -30, -3])
def test_the_body_of_a_request_that_would_rather_speak_http_2_is_not_lost(gateway_to, cut):
    body = b'{"messages":[{"role":"user","content":"hi"}]}'
    wish = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2_settings": "AAMA"}
    data = request(body, **wish)
    with Upstream(head(content_length=0)) as upstream:
        gateway = gateway_to(upstream.url)
        with connected(gateway.url) as connection:
            connection.sendall(data[:cut])
            connection.sendall(data[cut:] if cut is not None else b"")
            first = read_message(connection)
            connection.sendall(request(path="/", method="GET"))
            second = read_message(connection)

    assert (first.status, second.status) == (200, 200)
    assert [asked.body for asked in upstream.requests] == [body]
    assert "http2-settings" not in upstream.requests[0].named
