import pytest

from headgate.gateway.headers import sent
from headgate.testing import Provider
from tests.gateway.conftest import body_of
from tests.gateway.wire import (
    CHUNK_END,
    KEEP,
    Upstream,
    chunked,
    everything,
    exchange,
    head,
    request,
)


def test_a_request_that_carries_no_history_passes_while_it_comes(gateway_to):
    upload = b"x" * 3_000_000
    with Upstream(head(content_length=2) + b"{}") as upstream:
        gateway = gateway_to(upstream.url, most_body_bytes=1_000_000)
        answer = exchange(gateway.url, request(upload, "/v1/files?purpose=a%20b"))

    assert answer.body == b"{}"
    assert upstream.requests[0].first == "POST /v1/files?purpose=a%20b HTTP/1.1"
    assert upstream.requests[0].body == upload


def test_a_body_of_no_stated_length_passes_and_none_is_made(gateway_to):
    pieces = b"".join([*chunked(b"one ", b"two"), CHUNK_END])
    script = [head(content_length=2) + b"{}", KEEP]
    with Upstream(script, script) as upstream:
        gateway = gateway_to(upstream.url)
        exchange(gateway.url, request(pieces, "/v1/files", transfer_encoding="chunked"))
        exchange(gateway.url, request(path="/v1/files", method="GET"))

    sent, asked = upstream.requests
    assert sent.unchunked == b"one two"
    assert "transfer-encoding" not in asked.named


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_every_method_passes(gateway_to, method):
    body = b"" if method == "HEAD" else b"{}"
    with Upstream(head("207 Odd", content_length=2, x_extra="1") + body) as upstream:
        gateway = gateway_to(upstream.url)
        with_length = {} if method in ("GET", "HEAD") else {"content_length": 0}
        asked = request(method=method, path="/v1/models/x", **with_length)
        answer = everything(gateway.url, asked.replace(b"host", b"connection: close\r\nhost"))

    assert upstream.requests[0].first == f"{method} /v1/models/x HTTP/1.1"
    assert answer.startswith(b"HTTP/1.1 207")
    assert answer.endswith(b"\r\n\r\n" + body)
    assert b"x-extra: 1" in answer


def test_headers_arrive_as_they_were_sent_and_none_is_added(gateway_to):
    asked = [
        (b"anthropic-version", b"2023-06-01"),
        (b"anthropic-beta", b"context-management-2025-06-27,x"),
        (b"anthropic-beta", b"y"),
        (b"authorization", b"Bearer sk-ant-oat01-abc"),
        (b"x-stainless-lang", b"python"),
        (b"content-type", b"application/json"),
    ]
    body = body_of(text="short")
    lines_ = b"".join(name + b": " + value + b"\r\n" for name, value in asked)
    raw = b"POST /v1/messages?beta=true HTTP/1.1\r\nhost: localhost\r\ncookie: a=b\r\n" + lines_
    raw += b"content-length: %d\r\n\r\n" % len(body) + body
    with Upstream(head(content_length=2) + b"{}") as upstream:
        gateway = gateway_to(upstream.url)
        exchange(gateway.url, raw)

    [got] = upstream.requests
    host = upstream.url.removeprefix("http://")
    assert got.first == "POST /v1/messages?beta=true HTTP/1.1"
    assert sorted(got.headers) == sorted(
        [
            *((name.decode(), value.decode()) for name, value in sent(asked)),
            ("host", host),
            ("content-length", str(len(body))),
        ]
    )
    assert [v for n, v in got.headers if n == "anthropic-beta"] == [
        "context-management-2025-06-27,x",
        "y",
    ]


def test_passthrough_touches_nothing(gateway_to):
    body = body_of()
    with Provider() as provider:
        gateway = gateway_to(provider.url, passthrough=True)
        exchange(gateway.url, request(body, anthropic_version="2023-06-01"))

    assert provider.requests[0].body == body
    assert gateway.counters.sum("bodies", "passthrough") == 1
